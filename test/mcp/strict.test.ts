/** Text that `JSON.parse` takes and other readers take otherwise. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listAmbiguities, openingAmbiguities } from '../../src/mcp/ambiguity.ts';
import { PROMPTS, TOOLS } from '../../src/mcp/lists.ts';
import { faultsIn } from '../../src/mcp/strict.ts';

const anything = (): undefined => undefined;
const problems = (text: string): string[] => faultsIn(text, anything).map(({ problem }) => problem);

describe('a text has a fault', () => {
  test.each([
    ['{"a":1,"a":1}', 'the member "a" twice in one object'],
    ['{"a":1,"\\u0061":2}', 'the member "a" twice in one object'],
    ['[[{"x":[{"b":{},"c":1,"b":{}}]}]]', 'the member "b" twice in one object'],
    ['{"":1,"":2}', 'the member "" twice in one object'],
    ['{"__proto__":{}}', 'a member "__proto__"'],
    ['{"\\u005f_proto__":{}}', 'a member "__proto__"'],
    ['["\\ud800"]', 'a lone surrogate'],
    ['["\\udc00\\ud800"]', 'a lone surrogate'],
    ['{"\\uD83D":1}', 'a lone surrogate'],
    ['[9007199254740992]', 'the number "9007199254740992", which not every reader can hold'],
    ['[-9007199254740993]', 'the number "-9007199254740993", which not every reader can hold'],
    ['{"maximum":1e400}', 'the number "1e400", which not every reader can hold'],
    ['[1e-400]', 'the number "1e-400", which not every reader can hold'],
  ])('in %s', (text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });

  test.each([
    ['{"a":{"a":1},"b":[{"a":1},{"a":1}]}'],
    ['{"A":1,"a":2,"constructor":3,"toString":4,"prototype":5}'],
    ['["\\ud83d\\ude00","\\\\ud800","\\"a\\":1","{\\"a\\":1,\\"a\\":1}"]'],
    [' [ 9007199254740991 , -9007199254740991 , 1.0 , 1e0 , -0 , 0e9 , 1.7976931348623157e308 , 5e-324 ] '],
    ['\t{\n"a" :\r\n true , "b":false,"c":null}\n'],
    ['"text"'],
    ['{}'],
    ['[]'],
  ])('and not in %s', (text) => {
    expect(problems(text)).toEqual([]);
  });
});

test('no text of ours has a fault', () => {
  const value = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 }).filter((each) => {
    const text = JSON.stringify(each);
    return text.isWellFormed() && !text.includes('__proto__') && !/\\ud[89a-f]/i.test(text);
  });
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, '\t'), (each, space) => {
      const text = JSON.stringify(each, undefined, space);
      expect(faultsIn(text, anything).filter(({ problem }) => !problem.startsWith('the number'))).toEqual([]);
    }),
  );
});

test('a name that was doubled anywhere is found, and where', () => {
  const value = fc.dictionary(fc.stringMatching(/^[a-z"\\é]{1,6}$/), fc.jsonValue({ maxDepth: 3 }), {
    minKeys: 1,
  });
  fc.assert(
    fc.property(value, fc.nat(), (each, which) => {
      const names = Object.keys(each);
      const name = names[which % names.length]!;
      const text = `{"result":{"tools":[0,${JSON.stringify(each).slice(0, -1)},${JSON.stringify(name)}:0}]}}`;
      expect(faultsIn(text, anything)).toContainEqual({
        path: ['result', 'tools', 1],
        problem: expect.stringMatching(/^the member .* twice in one object$/s),
      });
    }),
  );
});

test('more faults than anybody reads are one', () => {
  expect(problems(`[${'{"a":1,"a":2},'.repeat(999)}0]`)).toHaveLength(999);
  expect(faultsIn(`[${'{"a":1,"a":2},'.repeat(50_000)}0]`, anything)).toEqual([
    { path: [], problem: '1000 faults or more' },
  ]);
});

test('an object of the protocol has a bounded number of members', () => {
  const members = Array.from({ length: 1001 }, (_, index) => `"m${index}":0`).join();
  expect(listAmbiguities(TOOLS, `{"result":{"tools":[{${members}},{"_meta":{${members}}}]}}`)).toEqual({
    parts: new Map([[0, 'an object of the protocol with more than 1000 members']]),
  });
});

const list = (tools: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools}]${more}}}`;
const GOOD = '{"name":"good","inputSchema":{}}';

describe('a list loses', () => {
  test.each([
    ['a doubled name', '{"name":"a","name":"b","inputSchema":{}}'],
    [
      'a doubled name deep in a schema',
      '{"name":"a","inputSchema":{"properties":{"x":{"type":"string","type":"null"}}}}',
    ],
    ['a look-alike by case', '{"name":"a","Description":"b","inputSchema":{}}'],
    ['a look-alike by case folding', '{"name":"a","de\u017fcription":"b","inputSchema":{}}'],
    ['a look-alike by width', '{"\uff4eame":"a","name":"b","inputSchema":{}}'],
    ['a look-alike of a hint', '{"name":"a","inputSchema":{},"annotations":{"readonlyhint":true}}'],
    ['a lone surrogate', '{"name":"a","inputSchema":{},"title":"\\ud800"}'],
    ['__proto__', '{"name":"a","inputSchema":{"properties":{"__proto__":{}}}}'],
    ['a number too large', '{"name":"a","inputSchema":{"maximum":18446744073709551615}}'],
  ])('the one item with %s', (_what, item) => {
    const { whole, parts } = listAmbiguities(TOOLS, list(`${GOOD},${item},${GOOD}`));
    expect(whole).toBeUndefined();
    expect([...parts.keys()]).toEqual([1]);
  });

  test.each([
    ['two lists', list(GOOD, ',"tools":[]')],
    ['a look-alike of the list', list(GOOD, ',"Tools":[]')],
    ['a look-alike of the cursor', list(GOOD, ',"nextcursor":"x"')],
    ['two cursors', list(GOOD, ',"nextCursor":"x","nextCursor":"y"')],
    ['two results', `{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"result":{"tools":[${GOOD}]}}`],
    [
      'a look-alike of the result',
      `{"jsonrpc":"2.0","id":1,"Result":{"tools":[]},"result":{"tools":[${GOOD}]}}`,
    ],
    [
      'a look-alike of a method',
      `{"jsonrpc":"2.0","id":1,"Method":"x","param\u017f":{},"result":{"tools":[]}}`,
    ],
    ['two ids', `{"jsonrpc":"2.0","id":7,"id":1,"result":{"tools":[${GOOD}]}}`],
    ['__proto__', list(GOOD, ',"__proto__":{"tools":[]}')],
    ['a lone surrogate elsewhere', list(GOOD, ',"_meta":{"x":"\\udfff"}')],
    ['a fault in a batch', `[${list('{"name":"a","name":"b","inputSchema":{}}')}]`],
    ['a look-alike in a batch', `[${list(GOOD, ',"TOOLS":[]')}]`],
  ])('everything to %s', (_what, text) => {
    expect(listAmbiguities(TOOLS, text).whole).toBeTypeOf('string');
  });

  test('nothing to names of others: unknown members, arguments and properties in any case', () => {
    const item =
      '{"name":"a","vendor/Name":1,"ID":2,"inputSchema":{"properties":{"Name":{},"name":{},"NAME":{}}},"_meta":{"Title":"x","title":"y"}}';
    expect(listAmbiguities(TOOLS, list(item))).toEqual({ parts: new Map() });
    expect(
      listAmbiguities(PROMPTS, '{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"p"}]}}').parts.size,
    ).toBe(0);
  });
});

test('an opening loses the parts that it can do without, or is refused', () => {
  const opening = (members: string): string =>
    `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},${members}}}`;
  const parts = (members: string): string[] => {
    const { whole, parts: found } = openingAmbiguities(opening(members));
    return whole === undefined ? [...found.keys()] : ['whole'];
  };
  expect(parts('"serverInfo":{"name":"s"},"instructions":"i"')).toEqual([]);
  expect(parts('"serverInfo":{"name":"s","Name":"t"},"instructions":"\\ud800"')).toEqual([
    'serverInfo',
    'instructions',
  ]);
  expect(parts('"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","name":"t"}}')).toEqual(['_meta']);
  expect(parts('"instructions":"i","instructions":"j"')).toEqual(['whole']);
  expect(parts('"Instructions":"i"')).toEqual(['whole']);
  expect(parts('"capabilities":{"tools":{}}')).toEqual(['whole']);
});
