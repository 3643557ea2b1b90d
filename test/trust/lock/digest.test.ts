import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/canonical.ts';
import { itemDigest } from '../../../src/trust/lock/index.ts';
import { facetsOf } from '../../../src/trust/lock/facets.ts';
import type { Json, JsonObject } from '../../../src/types.ts';
import { anyTool, leavesOf, reordered, withLeaf } from './definitions.ts';

describe('canonical JSON', () => {
  it('writes the examples of RFC 8785', () => {
    const numbers = [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001];
    expect(
      canonicalJson({ numbers, string: '\u20ac$\u000f\nA\'B"\\\\"/', literals: [null, true, false] }),
    ).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const sorted = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect(Object.values(JSON.parse(canonicalJson(sorted)) as object)).toHaveLength(7);
    expect(canonicalJson(sorted)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    );
  });

  it('writes the numbers of its appendix B', () => {
    const bits = (hex: string): number =>
      new DataView(Uint8Array.from(Buffer.from(hex, 'hex')).buffer).getFloat64(0);
    const expected: [string, string][] = [
      ['0000000000000000', '0'],
      ['8000000000000000', '0'],
      ['0000000000000001', '5e-324'],
      ['7fefffffffffffff', '1.7976931348623157e+308'],
      ['4340000000000000', '9007199254740992'],
      ['4430000000000000', '295147905179352830000'],
      ['44b52d02c7e14af5', '9.999999999999997e+22'],
      ['44b52d02c7e14af6', '1e+23'],
      ['444b1ae4d6e2ef4e', '999999999999999700000'],
      ['444b1ae4d6e2ef50', '1e+21'],
      ['3eb0c6f7a0b5ed8d', '0.000001'],
      ['41b3de4355555553', '333333333.3333332'],
      ['becbf647612f3696', '-0.0000033333333333333333'],
    ];
    for (const [hex, text] of expected) expect(canonicalJson(bits(hex))).toBe(text);
    for (const hex of ['7fffffffffffffff', '7ff0000000000000'])
      expect(() => canonicalJson(bits(hex))).toThrow();
    expect(() => canonicalJson('\ud800')).toThrow();
  });
});

describe('a digest', () => {
  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(anyTool, (tool) => {
        expect(itemDigest('tool', reordered(tool))).toBe(itemDigest('tool', tool));
        expect(facetsOf('tool', reordered(tool))).toEqual(facetsOf('tool', tool));
      }),
      { numRuns: 60 },
    );
  });

  it('changes with every leaf, and so does at least one facet', () => {
    fc.assert(
      fc.property(anyTool, (tool) => {
        const before = facetsOf('tool', tool);
        for (const path of leavesOf(tool)) {
          const changed = withLeaf(tool, path);
          expect(itemDigest('tool', changed)).not.toBe(itemDigest('tool', tool));
          if (path.length === 1 && path[0] === 'name') continue; // another name is another item
          const after = facetsOf('tool', changed);
          expect(
            Object.keys(before).filter((facet) => before[facet] !== after[facet]),
            path.join('/'),
          ).not.toEqual([]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('tells kinds, absence, null and the empty text apart', () => {
    const item = { name: 'a' };
    const variants: JsonObject[] = [item, { ...item, title: null }, { ...item, title: '' }];
    const digests = variants.flatMap((each) => [itemDigest('tool', each), itemDigest('prompt', each)]);
    expect(new Set(digests).size).toBe(6);
    expect(digests[0]).toMatch(/^sha256-[A-Za-z0-9+/]{43}=$/);
  });

  it('of a resource leaves out its size and when it was changed', () => {
    const resource = { uri: 'file:///a', name: 'a', annotations: { priority: 1 } };
    const later: { [member: string]: Json } = {
      ...resource,
      size: 7,
      annotations: { priority: 1, lastModified: '2026-01-01' },
    };
    expect(itemDigest('resource', later)).toBe(itemDigest('resource', resource));
    expect(itemDigest('resource', { ...later, name: 'b' })).not.toBe(itemDigest('resource', resource));
  });
});

describe('canonical JSON of members that objects put in an order of their own', () => {
  it('is sorted by their letters all the same', () => {
    expect(canonicalJson({ 10: 1, 9: 2, a: { 2: 0, 10: 0, '': 1 } })).toBe(
      '{"10":1,"9":2,"a":{"":1,"10":0,"2":0}}',
    );
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1},"toJSON":2}') as JsonObject)).toBe(
      '{"__proto__":{"x":1},"b":1,"toJSON":2}',
    );
    expect(canonicalJson({ text: '\\ud800 is how half a character is written' })).toBe(
      String.raw`{"text":"\\ud800 is how half a character is written"}`,
    );
  });

  it('is what any value was, read again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
