/** What each revision is shown of what another one says: nothing is renamed, only what it does not know goes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListKind, Self } from '../../../src/mcp/serving.ts';
import { servingFor } from '../../../src/mcp/serving.ts';
import { versionsOf } from '../../../src/mcp/versions.ts';
import type { Json, JsonObject } from '../../../src/types.ts';

const LEGACY = versionsOf('legacy');
const OLDEST_FIRST = [...LEGACY].reverse();
const MODERN = versionsOf('modern')[0] as string;
const self: Self = { serverInfo: { name: 'midspan' }, capabilities: {} };
const META = 'io.modelcontextprotocol';

const kinds = fc.constantFrom<ListKind>('tools', 'prompts', 'resources', 'resourceTemplates');
const versions = fc.constantFrom(...LEGACY);
const json = fc.jsonValue() as fc.Arbitrary<Json>;
const MEMBERS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
  'execution',
  '_meta',
  'uri',
  'acme',
  'size',
];
const schemas = fc.constantFrom<Json>({ type: 'object' }, { type: 'string' }, {}, true);
const definitions = fc
  .record({
    known: fc.dictionary(fc.constantFrom(...MEMBERS), json),
    outputSchema: fc.option(schemas, { nil: undefined }),
  })
  .map(({ known, outputSchema }): JsonObject => ({
    ...known,
    ...(outputSchema !== undefined && { outputSchema }),
  }));

/** When a member of a definition came. */
const SINCE: Readonly<Record<string, string>> = {
  title: '2025-06-18',
  outputSchema: '2025-06-18',
  _meta: '2025-06-18',
  annotations: '2025-03-26',
  icons: '2025-11-25',
  execution: '2025-11-25',
};

const itemOf = (version: string, kind: ListKind, definition: JsonObject): JsonObject =>
  servingFor(version).items(kind, [definition])[0] as JsonObject;

describe('Definitions', () => {
  it('keep each member as it is, or lack it; none comes', () => {
    fc.assert(
      fc.property(versions, kinds, definitions, (version, kind, definition) => {
        for (const [name, value] of Object.entries(itemOf(version, kind, definition)))
          expect(value).toBe(definition[name]);
      }),
    );
  });

  it('lack only what a revision does not know', () => {
    fc.assert(
      fc.property(versions, kinds, definitions, (version, kind, definition) => {
        const item = itemOf(version, kind, definition);
        for (const name of Object.keys(definition)) {
          if (name in item) continue;
          const isOdd =
            name === 'outputSchema' && (definition[name] as JsonObject | null)?.['type'] !== 'object';
          expect(isOdd || version < (SINCE[name] ?? '')).toBe(true);
        }
      }),
    );
  });

  it('lack nothing in a newer revision that an older one has, and everything that it does not know', () => {
    fc.assert(
      fc.property(kinds, definitions, (kind, definition) => {
        const shown = OLDEST_FIRST.map((version) => Object.keys(itemOf(version, kind, definition)));
        for (const [index, names] of shown.entries()) {
          expect(shown[index + 1] ?? names).toEqual(expect.arrayContaining(names));
          if (kind !== 'tools') continue;
          for (const name of names) expect((OLDEST_FIRST[index] as string) >= (SINCE[name] ?? '')).toBe(true);
        }
      }),
    );
  });

  it('are whole for the newer era, apart from how tools were called as tasks', () => {
    fc.assert(
      fc.property(kinds, definitions, (kind, definition) => {
        const { execution, ...rest } = definition;
        expect(itemOf(MODERN, kind, definition)).toEqual(
          kind === 'tools' || execution === undefined ? rest : definition,
        );
      }),
    );
  });
});

const blocks = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string() }),
  fc.record({ type: fc.constant('image'), data: fc.base64String(), mimeType: fc.constant('image/png') }),
  fc.record({ type: fc.constant('audio'), data: fc.base64String(), mimeType: fc.constant('audio/wav') }),
  fc.record(
    { type: fc.constant('resource_link'), uri: fc.webUrl(), name: fc.string(), description: fc.string() },
    { requiredKeys: ['type', 'uri', 'name'] },
  ),
  fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.webUrl(), text: fc.string() }) }),
) as fc.Arbitrary<JsonObject>;
const results = fc.record(
  {
    content: fc.array(blocks),
    structuredContent: json,
    isError: fc.boolean(),
    _meta: fc.constant({ acme: 1 }),
    acme: json,
  },
  { requiredKeys: ['content'] },
) as fc.Arbitrary<JsonObject>;

const KNOWN: Readonly<Record<string, string>> = { audio: '2025-03-26', resource_link: '2025-06-18' };

const called = (version: string, result: JsonObject): JsonObject =>
  servingFor(version).result('tools/call', { kind: 'complete', result }, self);

describe('Results of tools', () => {
  it('keep what a revision knows as it is, in its place; what it does not know becomes text', () => {
    fc.assert(
      fc.property(versions, results, (version, result) => {
        const written = called(version, result);
        const before = result['content'] as JsonObject[];
        const after = written['content'] as JsonObject[];
        for (const [index, block] of before.entries()) {
          const isKnown = version >= (KNOWN[block['type'] as string] ?? '');
          if (isKnown) expect(after[index]).toBe(block);
          else expect(after[index]).toMatchObject({ type: 'text', text: expect.any(String) as string });
        }
        for (const name of ['isError', '_meta', 'acme']) expect(written[name]).toBe(result[name]);
      }),
    );
  });

  it('say what is structured, as it is or as text', () => {
    fc.assert(
      fc.property(versions, results, (version, result) => {
        const { structuredContent } = result;
        fc.pre(structuredContent !== undefined);
        const written = called(version, result);
        const isObject =
          typeof structuredContent === 'object' &&
          structuredContent !== null &&
          !Array.isArray(structuredContent);
        if (version >= '2025-06-18' && isObject) expect(written['structuredContent']).toBe(structuredContent);
        else {
          expect(written).not.toHaveProperty('structuredContent');
          const texts = (written['content'] as JsonObject[]).filter(({ type }) => type === 'text');
          expect(texts.length).toBeGreaterThan(0);
          const own = (result['content'] as JsonObject[]).some(({ type }) => type === 'text');
          const isTold = texts.some(({ text }) => text === JSON.stringify(structuredContent));
          const isReplaced = (result['content'] as JsonObject[]).some(
            ({ type }) => version < (KNOWN[type as string] ?? ''),
          );
          expect(own || isTold || isReplaced).toBe(true);
        }
      }),
    );
  });

  it('are the same object when there is nothing to change', () => {
    const result = { content: [{ type: 'text', text: 'a' }], structuredContent: { a: 1 }, isError: false };
    expect(called('2025-11-25', result)).toBe(result);
  });

  it('are `complete` for the newer era, whatever the server wrote there', () => {
    fc.assert(
      fc.property(
        results,
        fc.dictionary(fc.constantFrom('resultType', 'ttlMs', 'taskId'), json),
        (result, more) => {
          const written = called(MODERN, {
            ...result,
            ...more,
            _meta: { [`${META}/serverInfo`]: 'theirs', a: 1 },
          });
          expect(written['resultType']).toBe('complete');
          expect(written['_meta']).toEqual({ a: 1, [`${META}/serverInfo`]: self.serverInfo });
          expect(written['content']).toBe(result['content']);
        },
      ),
    );
  });
});

describe('Results that may be kept', () => {
  it.each([
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'server/discover',
  ])('%s says how long and for whom, in the newer era alone', (method) => {
    const written = servingFor(MODERN).result(method, { kind: 'complete', result: {} }, self);
    expect(written).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    for (const version of LEGACY)
      expect(servingFor(version).result(method, { kind: 'complete', result: {}, ttlMs: 7 }, self)).toEqual(
        {},
      );
  });
});

describe('Prompts', () => {
  it('have their blocks in the words of their revision', () => {
    fc.assert(
      fc.property(versions, fc.array(blocks), (version, contents) => {
        const messages = contents.map((content) => ({ role: 'user', content }));
        const written = servingFor(version).result(
          'prompts/get',
          { kind: 'complete', result: { messages } },
          self,
        );
        for (const [index, message] of (written['messages'] as JsonObject[]).entries()) {
          const { type } = contents[index] as { type: string };
          if (version >= (KNOWN[type] ?? '')) expect(message).toBe(messages[index]);
          else expect(message).toMatchObject({ role: 'user', content: { type: 'text' } });
        }
      }),
    );
  });
});

describe('Questions', () => {
  const schema = {
    type: 'object',
    properties: {
      answer: {
        type: 'string',
        title: 'May it?',
        oneOf: [{ const: 'y', title: 'Yes' }, { const: 'n' }],
      },
      name: { type: 'string' },
      odd: { oneOf: [{ type: 'string' }] },
    },
    required: ['answer'],
  };
  const form = {
    method: 'elicitation/create',
    params: { mode: 'form', message: 'm', requestedSchema: schema },
  };

  it('of the newest are as they are', () => {
    expect(servingFor('2025-11-25').question(form)).toEqual(form);
    expect(servingFor(MODERN).question(form)).toEqual(form);
  });

  it('with titled choices are written as the older ones have them', () => {
    expect(servingFor('2025-06-18').question(form)).toEqual({
      method: 'elicitation/create',
      params: {
        message: 'm',
        requestedSchema: {
          ...schema,
          properties: {
            ...schema.properties,
            answer: { type: 'string', title: 'May it?', enum: ['y', 'n'], enumNames: ['Yes', 'n'] },
          },
        },
      },
    });
  });

  it('about addresses have an id in the older era, and none in the newer', () => {
    const url = {
      method: 'elicitation/create',
      params: { mode: 'url', url: 'https://a.example', message: 'm' },
    };
    expect(servingFor('2025-11-25').question(url).params).toMatchObject({
      elicitationId: expect.stringMatching(/./) as string,
    });
    const named = { ...url, params: { ...url.params, elicitationId: 'e' } };
    expect(servingFor('2025-11-25').question(named).params).toMatchObject({ elicitationId: 'e' });
    expect(servingFor(MODERN).question(named)).toEqual(url);
  });
});

describe('Errors', () => {
  const codes = fc.oneof(fc.integer({ min: -32_700, max: -32_000 }), fc.integer());

  it('of the newer era have none of the codes of others', () => {
    fc.assert(
      fc.property(codes, fc.string(), (code, message) => {
        const written = servingFor(MODERN).error({ code, message });
        expect(written.message).toBe(message);
        expect(written.code).not.toBe(-32_002);
        if (written.code <= -32_020 && written.code >= -32_099)
          expect([-32_020, -32_021, -32_022]).toContain(written.code);
        if (code > -32_000 || code < -32_700) expect(written.code).toBe(code);
      }),
    );
  });

  it('of the older one neither', () => {
    fc.assert(
      fc.property(versions, codes, fc.string(), (version, code, message) => {
        const written = servingFor(version).error({ code, message, data: { a: 1 } });
        expect(written).toMatchObject({ message, data: { a: 1 } });
        expect([-32_020, -32_021, -32_022]).not.toContain(written.code);
        if (version < '2025-11-25') expect(written.code).not.toBe(-32_042);
      }),
    );
  });

  it('about resources that are not there have the code of their era', () => {
    const error = { code: -32_602, message: 'Resource not found', data: { uri: 'a:b' } };
    expect(servingFor(MODERN).error(error)).toEqual(error);
    for (const version of LEGACY)
      expect(servingFor(version).error(error)).toEqual({ ...error, code: -32_002 });
  });

  it('have statuses in the newer era', () => {
    const status = (code: number): number => servingFor(MODERN).status({ code, message: '' });
    expect([-32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_021, -32_022, -1].map(status)).toEqual([
      400, 400, 404, 200, 200, 400, 400, 400, 200,
    ]);
  });
});
