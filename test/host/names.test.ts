import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignNames, digestName, isExposedName, type Nameable } from '../../src/host/names.ts';

const none: ReadonlySet<string> = new Set();
const assign = (pairs: readonly (readonly [string, string])[]): string[] =>
  assignNames(
    pairs.map(([label, tool]) => ({ label, tool })),
    none,
    none,
  );

describe('an exposed name', () => {
  it('is label__tool where that is unmistakable', () => {
    expect(
      assign([
        ['files', 'read_file'],
        ['my-server', 'getUser'],
        ['a', 'b__c'],
        ['_x', '-y'],
      ]),
    ).toEqual(['files__read_file', 'my-server__getUser', 'a__b__c', '_x__-y']);
  });

  it('is valid for every provider and different for different tools, whatever servers call themselves', () => {
    const word = fc.oneof(
      fc.string({ maxLength: 90 }),
      fc.string({ unit: fc.constantFrom('a', '_', '-', '.', 'é', '1'), maxLength: 70 }),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(word, word), { selector: (pair) => JSON.stringify(pair), maxLength: 40 }),
        (pairs) => {
          const names = assign(pairs);
          expect(names.every(isExposedName)).toBe(true);
          expect(new Set(names).size).toBe(pairs.length);
        },
      ),
    );
  });

  it('depends on its label and tool alone: the other servers and their order change nothing', () => {
    const word = fc.string({ maxLength: 80 });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(word, word), {
          selector: (pair) => JSON.stringify(pair),
          minLength: 1,
          maxLength: 20,
        }),
        fc.nat(),
        (pairs, pick) => {
          const whole = assign(pairs);
          const at = pick % pairs.length;
          expect(assign([pairs[at] ?? ['', '']])).toEqual([whole[at]]);
          expect(assign([...pairs].reverse()).reverse()).toEqual(whole);
        },
      ),
    );
  });
});

describe('R5: names that collide, are too long, illegal, cut, and must survive restarts', () => {
  const long = 'x'.repeat(60);
  const pairs: (readonly [string, string])[] = [
    ['a', 'search'],
    ['b', 'search'],
    ['x_y', 'z'],
    ['x', 'y_z'],
    ['x__y', 'z'],
    ['x', 'y__z'],
    [`io.github.acme/${'long-name-'.repeat(4)}`, `${long}001`],
    [`io.github.acme/${'long-name-'.repeat(4)}`, `${long}002`],
    ['a', 'get:docs'],
    ['a', 'get.docs'],
    ['a', 'get docs'],
    ['a', 'géant'],
    ['a', ''],
    ['9lives', 'nap'],
    ['a', 'looks_deadbeef'],
  ];

  it('gives each its own valid name, the same after 20 shuffles', () => {
    const names = new Map(pairs.map((pair, index) => [pair, assign(pairs)[index]]));
    expect(new Set(names.values()).size).toBe(pairs.length);
    for (let round = 0; round < 20; round += 1) {
      const shuffled = [...pairs].sort((a, b) =>
        digestName(a[0], `${a[1]}${round}`).slice(-8) < digestName(b[0], `${b[1]}${round}`).slice(-8)
          ? -1
          : 1,
      );
      assign(shuffled).forEach((name, index) => expect(name).toBe(names.get(shuffled[index] ?? ['', ''])));
    }
  });

  it('lengthens digests that agree in their first digits, and still fits', () => {
    // Two tools of one 54-character stem whose short digests are equal, found by search.
    const seen = new Map<string, string>();
    let clash: [string, string] | undefined;
    for (let n = 0; clash === undefined && n < 1_000_000; n += 1) {
      const tool = `${long}${n}`;
      const name = digestName('a', tool);
      const other = seen.get(name);
      if (other !== undefined) clash = [other, tool];
      seen.set(name, tool);
    }
    const names = assign([
      ['a', clash?.[0] ?? ''],
      ['a', clash?.[1] ?? ''],
    ]);
    expect(clash).toBeDefined();
    expect(new Set(names).size).toBe(2);
    expect(names.every(isExposedName)).toBe(true);
  });
});

describe('native functions and aliases', () => {
  const tools: Nameable[] = [
    { label: 'a', tool: 'x', alias: 'find' },
    { label: 'b', tool: 'y' },
    { label: 'c', tool: 'z', alias: 'b__y' },
  ];

  it('win a name from a tool whose usual name it is', () => {
    const names = assignNames(tools, new Set(), new Set(['find', 'b__y']));
    expect(names).toEqual(['find', digestName('b', 'y'), 'b__y']);
  });

  it('keep others renamed while the aliased server is down', () => {
    expect(assignNames([{ label: 'b', tool: 'y' }], new Set(), new Set(['find', 'b__y']))).toEqual([
      digestName('b', 'y'),
    ]);
  });

  it('natives win over aliases', () => {
    expect(assignNames(tools, new Set(['find']), new Set(['find', 'b__y']))[0]).toBe('a__x');
  });
});
