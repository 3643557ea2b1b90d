import { describe, expect, it } from 'vitest';
import { SCHEMA_RULES } from '../../../src/trust/scan/schema.ts';
import { LIMITS, NOTED } from '../../../src/trust/scan/limits.ts';
import type { ItemKind, Json, JsonObject } from '../../../src/types.ts';

/** `rule:tier` and place of everything found in an item. */
function scan(value: JsonObject, kind: ItemKind = 'tool'): string[] {
  const { name } = value;
  const item = { kind, key: typeof name === 'string' ? name : '', value };
  return SCHEMA_RULES.flatMap((rule) =>
    rule.find(item, { label: 'one' }).map(({ tier, pointer }) => `${rule.id} ${tier} ${pointer}`),
  );
}

const tool = (more: JsonObject): JsonObject => ({
  name: 'convert',
  description: 'Converts a value between units.',
  inputSchema: { type: 'object' },
  ...more,
});
const withInputs = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  tool({ inputSchema: { type: 'object', properties, ...more } });
const text = { type: 'string' };

describe('S01: names that ask for the conversation or for what lies on the machine', () => {
  it.each([
    'sidenote',
    'conversationHistory',
    'chat-history',
    'system_prompt',
    'previous_messages',
    'chain_of_thought',
    'llm_model_name',
    'ssh_key',
    'process_env',
  ])('asks about %s', (name) => {
    expect(scan(withInputs({ [name]: text }))).toContain(`S01 soft /inputSchema/properties/${name}`);
  });

  it('withholds what is dressed up as internal', () => {
    expect(scan(withInputs({ _system_prompt_: text }))).toContain(
      'S01 hard /inputSchema/properties/_system_prompt_',
    );
  });

  it('looks into nested objects, arguments of prompts and variables of templates', () => {
    const nested = { options: { type: 'object', properties: { full_context: text } } };
    expect(scan(withInputs(nested))).toContain(
      'S01 soft /inputSchema/properties/options/properties/full_context',
    );
    expect(scan({ name: 'p', arguments: [{ name: 'chat_log' }] }, 'prompt')).toEqual([
      'S01 soft /arguments/0/name',
    ]);
    expect(scan({ name: 't', uriTemplate: 'https://a.example/{id}{?x,chat_history}' }, 'template')).toEqual([
      'S01 hard /uriTemplate',
    ]);
  });

  it.each([
    'context',
    'messages',
    'message',
    'prompt',
    'history',
    'note',
    'session_id',
    'model',
    '__typename',
    'environment',
  ])('leaves %s alone', (name) => {
    expect(scan(withInputs({ [name]: text }))).toEqual([]);
  });

  it('leaves variables that a deployment sets alone, as they are no text', () => {
    expect(scan(withInputs({ env_vars: { type: 'object' } }))).toEqual([]);
  });
});

describe('S02: a required text that nobody accounts for', () => {
  const inputs = (name: string, schema: JsonObject = text): JsonObject =>
    withInputs(
      { value: { type: 'number' }, unit: text, [name]: schema },
      { required: ['value', 'unit', name] },
    );

  it('is told of', () => {
    expect(scan(inputs('feedback'))).toEqual(['S02 soft /inputSchema/properties/feedback']);
  });

  it.each<[string, JsonObject]>([
    ['a name from the description', inputs('converting')],
    ['an identifier', inputs('user_id')],
    ['a choice', inputs('mode', { type: 'string', enum: ['a', 'b'] })],
    [
      'one whose own words are in the description',
      inputs('x', { type: 'string', description: 'The value again' }),
    ],
  ])('is not %s', (_, value) => {
    expect(scan(value)).toEqual([]);
  });
});

describe('S04 and S11: size', () => {
  const nested = (levels: number): JsonObject => {
    let value: JsonObject = { type: 'string' };
    for (let level = 0; level < levels; level++) value = { not: value };
    return value;
  };
  const doubling = (levels: number): JsonObject => {
    const $defs: JsonObject = { [`d${levels}`]: text };
    for (let level = 0; level < levels; level++) {
      const ref = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { type: 'object', properties: { a: ref, b: ref } };
    }
    return tool({ inputSchema: { $defs, $ref: '#/$defs/d0' } });
  };

  it('the limits are those of the specification', () => {
    expect(LIMITS).toEqual({
      definition: 262_144,
      description: 65_536,
      instructions: 16_384,
      depth: 64,
      nodes: 20_000,
      expansion: 10_000,
    });
    expect(NOTED).toEqual({ definition: 16_384, description: 8_192, instructions: 4_096, tokens: 65_536 });
  });

  it('withholds what is nested too deeply, and not what is just below', () => {
    expect(scan(tool({ inputSchema: nested(61) }))).toEqual([]);
    expect(scan(tool({ inputSchema: nested(62) }))).toEqual(['S04 hard ']);
    expect(scan(tool({ inputSchema: nested(50_000) }))).toContain('S04 hard ');
  });

  it('withholds too many values and too many characters', () => {
    const list = (length: number): JsonObject =>
      withInputs({ a: { enum: Array.from({ length }, (_, at) => at) } });
    expect(scan(list(LIMITS.nodes))).toContain('S04 hard ');
    expect(scan(list(LIMITS.nodes - 20)).filter((hit) => hit.includes('hard'))).toEqual([]);
    expect(scan(tool({ description: 'x'.repeat(LIMITS.description + 1) }))).toContain(
      'S04 hard /description',
    );
    expect(scan(tool({ description: 'x'.repeat(LIMITS.description) })).join()).not.toContain('hard');
  });

  it('withholds references that multiply, and a schema that is only itself', () => {
    expect(scan(doubling(9))).toEqual([]);
    expect(scan(doubling(20))).toEqual(['S04 hard /inputSchema']);
    const self = tool({
      inputSchema: { $defs: { n: { anyOf: [text, { $ref: '#/$defs/n' }] } }, $ref: '#/$defs/n' },
    });
    expect(scan(self).join()).toContain('S04 hard');
  });

  it('lets a tree refer to itself', () => {
    const node = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
    };
    expect(
      scan(tool({ inputSchema: { $defs: { node }, properties: { root: { $ref: '#/$defs/node' } } } })),
    ).toEqual([]);
  });

  it('ends for a chain of references as long as a definition can be', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 6_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]),
    );
    expect(
      scan(tool({ inputSchema: { $defs, properties: { a: { $ref: '#/$defs/d0' } } } })).join(),
    ).toContain('S04 hard');
  });

  it('notes long texts', () => {
    expect(scan(tool({ description: 'x'.repeat(NOTED.description + 1) }))).toEqual(['S11 note /description']);
    expect(scan({ instructions: 'x'.repeat(NOTED.instructions + 1) }, 'instructions')).toEqual(['S11 note ']);
    expect(scan({ instructions: 'x'.repeat(LIMITS.instructions + 1) }, 'instructions')).toContain(
      'S04 hard ',
    );
  });
});

describe('S05: references that lead out', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    'other.json#/a',
    '//host/schema',
  ])('withholds %s', ($ref) => {
    expect(scan(withInputs({ a: { $ref } }))).toEqual(['S05 hard /inputSchema/properties/a/$ref']);
  });

  it('takes identifiers, local references, values and names for what they are', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://a.example/schema',
      $defs: { inner: { $id: 'https://a.example/inner', type: 'string' } },
      properties: {
        a: { $ref: 'https://a.example/inner' },
        b: { $ref: '#/$defs/inner' },
        c: { default: { $ref: 'https://elsewhere.example/x' } },
        $ref: text,
      },
    };
    expect(scan(tool({ inputSchema: schema }))).toEqual([]);
  });
});

describe('S06: regular expressions', () => {
  const pattern = (source: string): JsonObject => withInputs({ code: { type: 'string', pattern: source } });

  it('withholds what takes exponential time elsewhere, and tells of what cannot be read in linear time', () => {
    expect(scan(pattern('^(a+)+$'))).toEqual(['S06 hard /inputSchema/properties/code/pattern']);
    expect(scan(pattern('^(?=(a+)+$)a'))).toEqual(['S06 hard /inputSchema/properties/code/pattern']);
    expect(scan(pattern('^(?:(a|b)\\1)+$'))).toEqual(['S06 soft /inputSchema/properties/code/pattern']);
    expect(scan(pattern('^(?!x)([a-z][a-z-]*\\.)+$'))).toEqual([
      'S06 note /inputSchema/properties/code/pattern',
    ]);
    expect(scan(tool({ inputSchema: { patternProperties: { '^(a|a)*$': text } } }))).toEqual([
      'S06 hard /inputSchema/patternProperties/^(a|a)*$',
    ]);
  });

  it.each([
    '^[^,]+(,[^,]+)*$',
    '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '(unclosed',
  ])('leaves %s alone', (source) => {
    expect(scan(pattern(source))).toEqual([]);
  });
});

describe('S07: values that do something', () => {
  it.each<[string, Json]>([
    ['default', '$(curl https://a.example/x)'],
    ['const', 'x; rm -rf /'],
    ['default', 'http://169.254.169.254/latest'],
    ['default', '../../etc/passwd'],
    ['const', 'javascript:alert(1)'],
  ])('tells of %s %s', (keyword, value) => {
    expect(scan(withInputs({ a: { [keyword]: value } }))).toEqual([
      `S07 soft /inputSchema/properties/a/${keyword}`,
    ]);
  });

  it('names the one of several', () => {
    expect(scan(withInputs({ a: { enum: ['ls', 'ls | sh'] } }))).toEqual([
      'S07 soft /inputSchema/properties/a/enum/1',
    ]);
  });

  it.each([
    'a & b',
    '$5 (net)',
    '`code`',
    './file',
    '../file',
    'https://a.example/x?a=b&c=d',
    'GET | POST',
    'fish & chips',
  ])('leaves %s alone', (value) => {
    expect(scan(withInputs({ a: { default: value, examples: [value] } }))).toEqual([]);
  });
});

describe('S08: names of the language', () => {
  it('withholds __proto__ and tells of constructor', () => {
    expect(scan(withInputs(JSON.parse('{"__proto__":{"type":"string"}}') as JsonObject))).toEqual([
      'S08 hard /inputSchema/properties/__proto__',
    ]);
    expect(scan(withInputs({ constructor: text }))).toEqual(['S08 soft /inputSchema/properties/constructor']);
    expect(scan(withInputs({ proto: text, prototype_id: text }))).toEqual([]);
  });
});

describe('S09: icons and addresses', () => {
  const icon = (src: string): string[] => scan(tool({ icons: [{ src }] }));

  it.each([
    'javascript:alert(1)',
    'file:///a.png',
    'https://169.254.169.254/a.png',
    'https://[::ffff:10.0.0.1]/a.png',
    'https://2130706433/a.png',
    'https://user@a.example/a.png',
    'data:text/html,<b>',
    'data:image/svg+xml,<svg onload=alert(1)>',
    `data:image/svg+xml;base64,${Buffer.from('<svg><script>x</script></svg>').toString('base64')}`,
  ])('withholds %s', (src) => {
    expect(icon(src)).toEqual(['S09 hard /icons/0/src']);
  });

  it('tells of plain http and of SVG, and leaves pictures alone', () => {
    expect(icon('http://a.example/a.png')).toEqual(['S09 soft /icons/0/src']);
    expect(icon('data:image/svg+xml,<svg></svg>')).toEqual(['S09 soft /icons/0/src']);
    expect(icon('https://a.example/a.png')).toEqual([]);
    expect(icon('data:image/png;base64,AAAA')).toEqual([]);
    expect(scan({ name: 's', websiteUrl: 'https://a.example' }, 'server')).toEqual([]);
    expect(scan({ name: 's', websiteUrl: 'javascript:x' }, 'server')).toEqual(['S09 hard /websiteUrl']);
  });
});

describe('S10: arguments as headers', () => {
  it('withholds wrong marks and secrets, with the facts of the protocol', () => {
    const mark = (name: string, header: Json, type = 'string'): string[] =>
      scan(withInputs({ [name]: { type, 'x-mcp-header': header } })).filter((hit) => hit.startsWith('S10'));
    expect(mark('region', 'Auth\r\nX-Evil: 1')).toEqual([
      'S10 hard /inputSchema/properties/region/x-mcp-header',
    ]);
    expect(mark('region', 'Region', 'object')).toEqual([
      'S10 hard /inputSchema/properties/region/x-mcp-header',
    ]);
    expect(mark('password', 'Region')).toEqual(['S10 hard /inputSchema/properties/password/x-mcp-header']);
    expect(mark('region', 'Region')).toEqual([]);
  });
});

describe('S12: hints against names', () => {
  const hinted = (name: string, description: string, annotations: JsonObject): string[] =>
    scan({ name, description, annotations, inputSchema: { type: 'object' } });

  it('withholds a deletion that is said to read only', () => {
    expect(hinted('delete_workspace', 'Deletes the workspace.', { readOnlyHint: true })).toEqual([
      'S12 hard /annotations/readOnlyHint',
    ]);
  });

  it('asks about lesser contradictions', () => {
    expect(hinted('create_report', 'Makes one.', { readOnlyHint: true })).toEqual([
      'S12 soft /annotations/readOnlyHint',
    ]);
    expect(hinted('purge_cache', 'Empties it.', { destructiveHint: false })).toEqual([
      'S12 soft /annotations/destructiveHint',
    ]);
  });

  it('does not take a noun for the verb, nor an absent hint for a false one', () => {
    expect(hinted('list_deleted_items', 'Lists what was deleted.', { readOnlyHint: true })).toEqual([]);
    expect(hinted('getWorkspaceUpdates', 'Lists updates.', { readOnlyHint: true })).toEqual([]);
    expect(hinted('delete_item', 'Deletes it.', {})).toEqual([]);
  });
});

describe('S13 and S14: secrets and echoes', () => {
  it.each(['password', 'newPassword', 'otp', 'seed_phrase', 'cvv', 'ssn', 'privateKey', 'api_key'])(
    'asks about %s',
    (name) => {
      expect(scan(withInputs({ [name]: text })).join()).toContain('S13 soft');
    },
  );

  it.each(['password_policy', 'otp_enabled', 'pin', 'token_count', 'key', 'card', 'passport', 'max_tokens'])(
    'leaves %s alone',
    (name) => {
      expect(scan(withInputs({ [name]: text }))).toEqual([]);
    },
  );

  it('leaves a switch alone', () => {
    expect(scan(withInputs({ password: { type: 'boolean' } }))).toEqual([]);
  });

  it('asks why a result must repeat the conversation', () => {
    const output = { type: 'object', properties: { system_prompt: text } };
    expect(scan(tool({ outputSchema: output }))).toEqual(['S14 soft /outputSchema/properties/system_prompt']);
    expect(scan(tool({ outputSchema: { type: 'object', properties: { messages: text } } }))).toEqual([]);
  });
});

describe('every rule', () => {
  it('explains itself and has a name of its own', () => {
    expect(new Set(SCHEMA_RULES.map(({ id }) => id)).size).toBe(SCHEMA_RULES.length);
    for (const { title, why, example, advice } of SCHEMA_RULES)
      for (const words of [title, why, example, advice]) expect(words.length).toBeGreaterThan(5);
  });

  it('finds nothing in a definition without members', () => {
    for (const kind of ['tool', 'prompt', 'resource', 'template', 'instructions', 'server'] as const)
      expect(scan({}, kind)).toEqual([]);
  });
});
