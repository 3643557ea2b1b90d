import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bound, SEAL_HOLDS, type Sealed, sealOf } from '../../../src/doors/mcp/seal.ts';
import { REQUEST_STATE_MAX } from '../../../src/mcp/protocol-limits.ts';
import type { SealKey } from '../../../src/store/gateway.ts';
import type { JsonObject } from '../../../src/types.ts';

const keyOf = (id: string, byte: number): SealKey => ({ id, key: Buffer.alloc(32, byte) });
const params = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
const bounds: fc.Arbitrary<Bound> = fc.record({
  principal: fc.string(),
  label: fc.string(),
  request: fc.record({ method: fc.string(), params }),
});
const sealeds: fc.Arbitrary<Sealed> = fc.oneof(
  fc.record({ kind: fc.constant('park' as const), park: fc.string() }),
  fc.record({
    kind: fc.constant('relay' as const),
    state: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
    digest: fc.string(),
  }),
);

describe('The state that a client carries', () => {
  it('opens to what was closed, with the words that it was closed with', () => {
    const seal = sealOf(() => [keyOf('a', 1)]);
    fc.assert(
      fc.property(sealeds, bounds, (sealed, bound) => {
        // Members in another order are the same words.
        const { request } = bound;
        const turned = Object.fromEntries(Object.entries(request.params).reverse());
        const same = { ...bound, request: { ...request, params: turned } };
        expect(seal.open(seal.close(sealed, bound), same)).toEqual(sealed);
      }),
    );
  });

  it('opens with no other words', () => {
    const seal = sealOf(() => [keyOf('a', 1)]);
    fc.assert(
      fc.property(sealeds, bounds, bounds, (sealed, bound, other) => {
        fc.pre(JSON.stringify(bound) !== JSON.stringify(other));
        const text = seal.close(sealed, bound);
        for (const each of [
          { ...bound, principal: `${bound.principal}x` },
          { ...bound, label: `${bound.label}x` },
          { principal: bound.label, label: bound.principal, request: { ...bound.request, method: 'x' } },
          { ...bound, request: { ...bound.request, params: { ...bound.request.params, more: 1 } } },
        ])
          expect(seal.open(text, each)).toBeUndefined();
      }),
    );
  });

  it('does not open when one character of it is another', () => {
    const seal = sealOf(() => [keyOf('a', 1)]);
    fc.assert(
      fc.property(
        sealeds,
        bounds,
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (sealed, bound, at, other) => {
          const text = seal.close(sealed, bound);
          const place = at % text.length;
          fc.pre(text[place] !== other);
          expect(seal.open(text.slice(0, place) + other + text.slice(place + 1), bound)).toBeUndefined();
        },
      ),
    );
  });

  it('is nothing that anybody makes up', () => {
    const seal = sealOf(() => [keyOf('a', 1)]);
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), bounds, (text, bound) => {
        expect(seal.open(text, bound)).toBeUndefined();
        expect(seal.open(`v1.a.${text}`, bound)).toBeUndefined();
      }),
    );
  });

  it('does not open twice differently, and tells nothing of what is in it', () => {
    const seal = sealOf(() => [keyOf('a', 1)]);
    const bound = { principal: 'ada', label: '', request: { method: 'tools/call', params: {} } };
    const sealed: Sealed = { kind: 'relay', state: 'the state of a server', digest: 'd' };
    const [one, two] = [seal.close(sealed, bound), seal.close(sealed, bound)];
    expect(one).not.toBe(two);
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('state');
  });

  it('ends after a time', () => {
    let now = 1_000;
    const seal = sealOf(
      () => [keyOf('a', 1)],
      () => now,
    );
    const bound = { principal: 'ada', label: '', request: { method: 'tools/call', params: {} } };
    const text = seal.close({ kind: 'park', park: 'p' }, bound);
    now += SEAL_HOLDS;
    expect(seal.open(text, bound)).toEqual({ kind: 'park', park: 'p' });
    now += 1;
    expect(seal.open(text, bound)).toBeUndefined();
  });

  it.each(['\u0001', '\ud83d', '😀', 'ä', '"', 'a'])('holds the longest state of %j', (unit) => {
    const seal = sealOf(() => [keyOf('a', 1)]);
    const bound = { principal: 'ada', label: '', request: { method: 'tools/call', params: {} } };
    const state = unit.repeat(REQUEST_STATE_MAX).slice(0, REQUEST_STATE_MAX);
    expect(seal.open(seal.close({ kind: 'relay', state, digest: '' }, bound), bound)).toEqual({
      kind: 'relay',
      state,
      digest: '',
    });
  });

  it('opens with any of the keys, and is closed with the first', () => {
    let keys = [keyOf('a', 1)];
    const seal = sealOf(() => keys);
    const bound = { principal: 'ada', label: '', request: { method: 'tools/call', params: {} } };
    const old = seal.close({ kind: 'park', park: 'p' }, bound);
    keys = [keyOf('b', 2), keyOf('a', 1)];
    expect(seal.open(old, bound)).toBeDefined();
    const text = seal.close({ kind: 'park', park: 'p' }, bound);
    keys = [keyOf('b', 2)];
    expect(seal.open(old, bound)).toBeUndefined();
    expect(seal.open(text, bound)).toBeDefined();
  });
});
