import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Lock,
  lockText,
  parseLock,
  pinServer,
  readLock,
  writeLock,
} from '../../../src/trust/lock/index.ts';
import type { JsonObject, ServerSpec } from '../../../src/types.ts';
import { anyTool } from './definitions.ts';

const spec: ServerSpec = {
  label: 'a',
  transport: { type: 'stdio', command: 'node', args: ['server.mjs'], env: { KEY: 'value' } },
};
const lockOf = (tools: JsonObject[], instructions?: string): Lock => ({
  lockfileVersion: 1,
  pin: 'midspan-pin/1',
  ruleset: 'scan/1',
  servers: {
    a: pinServer(
      spec,
      '/project',
      {
        serverInfo: { name: 'a' },
        tools,
        prompts: [{ name: 'p' }],
        ...(instructions !== undefined && { instructions }),
      },
      { at: '2026-12-01', how: 'review' },
    ),
  },
});
const tool = { name: 'find', description: 'Finds\u200B things – \u{1F600}', inputSchema: { type: 'object' } };

describe('a lock file', () => {
  it('is read as it was written, whatever stands in it', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyTool, { selector: ({ name }) => name, maxLength: 3 }),
        fc.string({ unit: 'grapheme' }),
        (tools, instructions) => {
          const lock = lockOf(tools, instructions.toWellFormed());
          expect(parseLock(lockText(lock))).toEqual(lock);
          expect(lockText(parseLock(lockText(lock)))).toBe(lockText(lock));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('shows every character in ASCII, members in order, one end of line', () => {
    const text = lockText(lockOf([tool]));
    expect(text).toMatch(/^[\x20-\x7e\n]+$/);
    expect(text).toContain('Finds\\u200B things \\u2013 \\uD83D\\uDE00');
    expect(text.endsWith('}\n')).toBe(true);
    const keys = [...text.matchAll(/^ {4}"(\w+)":/gm)].map((match) => match[1]);
    expect(keys).toEqual(['a']);
  });

  it('holds names of variables and no values', () => {
    expect(lockText(lockOf([tool]))).toContain('"KEY"');
    expect(lockText(lockOf([tool]))).not.toContain('value');
  });

  it('is written whole or not at all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'midspan-lock-'));
    const file = join(folder, 'midspan.lock.json');
    expect(await readLock(file)).toBeUndefined();
    await writeLock(file, lockOf([tool]));
    expect(await readLock(file)).toEqual(lockOf([tool]));
    expect(readdirSync(folder)).toEqual(['midspan.lock.json']);
    await expect(writeLock(join(folder, 'none', 'x.json'), lockOf([]))).rejects.toMatchObject({
      code: 'config',
    });
  });

  it('is left alone when another lock stands there than the new one was made from', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'midspan-lock-')), 'midspan.lock.json');
    const [first, second] = [lockOf([tool]), lockOf([])];
    await writeLock(file, first, null);
    await expect(writeLock(file, second, null)).rejects.toMatchObject({ code: 'config' });
    await expect(writeLock(file, second, second)).rejects.toMatchObject({ code: 'config' });
    expect(await readLock(file)).toEqual(first);
    await writeLock(file, second, first);
    expect(await readLock(file)).toEqual(second);
  });

  const text = lockText(lockOf([tool]));
  const broken: [string, string, RegExp][] = [
    ['is no JSON', '{', /is not JSON/],
    ['says a member twice', text.replace('"ruleset"', '"pin": "midspan-pin/1", "ruleset"'), /pin/],
    [
      'says a member twice deep inside',
      text.replace('"name": "find"', '"name": "x", "name": "find"'),
      /name/,
    ],
    ['has another version', text.replace('"lockfileVersion": 1', '"lockfileVersion": 2'), /version 1/],
    [
      'has members that nobody knows',
      text.replace('"ruleset"', '"extends": "https://x.example", "ruleset"'),
      /extends|version 1/,
    ],
    ['had a text edited by hand', text.replace('Finds', 'Deletes'), /a: .*tools\.find was edited/],
    ['had a digest edited by hand', text.replace(/sha256-.{5}/, 'sha256-AAAAA'), /was edited/],
    ['had the command edited by hand', text.replace('server.mjs', 'other.mjs'), /identity was edited/],
    [
      'names a tool otherwise than its definition',
      text.replace('"find": {', '"look": {'),
      /tools\.look was edited/,
    ],
    ['is nested without end', `${'['.repeat(5000)}${']'.repeat(5000)}`, /nested/],
    ['holds half a character', text.replace('\\uD83D', ''), /./],
  ];
  it.each(broken)('that %s is refused', (_name, content, message) => {
    expect(content).not.toBe(text);
    let thrown: unknown;
    try {
      parseLock(content, 'midspan.lock.json');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'config', message: expect.stringMatching(message) });
    expect((thrown as Error).message).toContain('midspan.lock.json');
  });

  it('may hold thousands of items', () => {
    const tools = Array.from({ length: 3_000 }, (_, index) => ({ ...tool, name: `find_${index}` }));
    expect(Object.keys(parseLock(lockText(lockOf(tools))).servers['a']?.tools ?? {})).toHaveLength(3_000);
  });

  it('of bytes that are no UTF-8 is refused', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'midspan-lock-')), 'midspan.lock.json');
    writeFileSync(file, Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]));
    await expect(readLock(file)).rejects.toThrow(/UTF-8/);
    expect(readFileSync(file)).toHaveLength(10);
  });
});
