import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, readConfig } from '../../src/config/config.ts';
import type { Config } from '../../src/config/config.ts';
import { errorOf, folderWith } from './folder.ts';

const read = (more: object, env: Record<string, string> = { HOME: '/home/ann' }): Config =>
  readConfig({ mcpServers: {}, ...more }, { env, base: '/srv/project' });

describe('`policy` of the configuration', () => {
  it('reads a whole policy', () => {
    const policy = {
      rules: [
        { tools: ['mail/*'], labels: ['sends'], action: 'deny', reason: 'we do not send mail' },
        {
          tools: ['files/write_file'],
          arguments: { properties: { path: { pattern: '^notes/' } }, required: ['path'] },
          action: 'allow',
          tainted: 'allow',
        },
        { action: 'ask' },
      ],
      labels: { 'files/*': ['private', 'reads', 'private'], '*/delete_*': ['destroys'] },
      default: 'deny',
      protectedPaths: ['~/payroll', '${HOME}/keys'],
    };
    expect(read({ policy }).policy).toEqual({
      rules: policy.rules,
      labels: [
        { tools: 'files/*', labels: ['reads', 'private'] },
        { tools: '*/delete_*', labels: ['destroys'] },
      ],
      default: 'deny',
      protectedPaths: ['~/payroll', '/home/ann/keys'],
    });
  });

  it.each(['allow', 'ask', 'deny', 'reads'] as const)('takes the word %s as the default', (word) => {
    expect(read({ policy: word }).policy).toEqual({
      rules: [],
      labels: [],
      default: word,
      protectedPaths: [],
    });
  });

  it('tells everything that is wrong, by key, and what was probably meant', async () => {
    const error = await errorOf(() =>
      read({
        policy: {
          rule: [],
          default: 'read',
          protectedPaths: '~/x',
          labels: { 'a/*': ['send'], '': ['reads'], 'b/*': 'reads' },
          rules: [
            { tool: ['x'], action: 'allow' },
            { tools: [], action: 'allow' },
            { tools: ['x'] },
            { tools: [''], action: 'alow' },
            { action: 'ask', tainted: 'allow' },
            { action: 'allow', tainted: 'yes' },
            { action: 'deny', arguments: { $ref: 'https://example.com/x.json' } },
            'allow',
          ],
        },
      }),
    );
    expect(error.code).toBe('config');
    expect(error.message.split('\n').slice(1)).toEqual([
      '  policy.rule: unknown key; did you mean "rules"?',
      '  policy.default: must be one of reads, allow, ask, deny; did you mean "reads"?',
      '  policy.protectedPaths: must be an array of strings, not a string',
      '  policy.labels["a/*"][0]: must be one of reads, untrusted, private, sends, destroys; did you mean "sends"?',
      '  policy.labels[""]: must not be an empty pattern',
      '  policy.labels["b/*"]: must be an array of reads, untrusted, private, sends, destroys',
      '  policy.rules[0].tool: unknown key; did you mean "tools"?',
      '  policy.rules[1].tools: names no tool; leave it out to mean every tool',
      '  policy.rules[2]: has no `action`; it is one of allow, ask, deny',
      '  policy.rules[3].tools: must not hold an empty pattern',
      '  policy.rules[3].action: must be one of allow, ask, deny; did you mean "allow"?',
      '  policy.rules[4].tainted: has a meaning only beside `"action": "allow"`',
      '  policy.rules[5].tainted: must be one of allow',
      expect.stringContaining('  policy.rules[6].arguments: is a schema that cannot be checked: '),
      '  policy.rules[7]: must be an object, not a string',
    ]);
  });

  it.each(['all', 1, [], null])('refuses %j as a policy', async (policy) => {
    expect((await errorOf(() => read({ policy }))).message).toContain('policy: must be');
  });

  it('keeps a member named __proto__ of a schema a member', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"const":1}}}') as object;
    const [rule] = read({ policy: { rules: [{ action: 'deny', arguments: schema }] } }).policy.rules;
    expect(Object.keys(rule?.arguments?.['properties'] as object)).toEqual(['__proto__']);
  });
});

describe('labels that rules cannot tell apart', () => {
  it('are warned of', () => {
    const server = { command: 'x' };
    const read = (...labels: string[]): string[] =>
      readConfig(
        { mcpServers: Object.fromEntries(labels.map((label) => [label, server])) },
        { env: {}, base: '/srv' },
      ).warnings;
    expect(read('mail', 'mailbox', 'a/b')).toEqual([]);
    expect(read('mail', 'mail/old')).toEqual([
      'mcpServers["mail/old"]: rules of a policy cannot tell its tools from tools of "mail"; rename one',
    ]);
  });
});

describe('`trust` of the configuration', () => {
  it('keeps the lock beside the file, also for files in a folder of a program', async () => {
    const file = '{"mcpServers":{}}';
    const folder = await folderWith({
      'midspan.json': file,
      '.vscode/mcp.json': '{"servers":{}}',
    });
    const own = await loadConfig({ cwd: folder, env: {} });
    expect(own.trust).toEqual({
      lock: path.join(folder, 'midspan.lock.json'),
      mode: 'auto',
      profile: 'standard',
    });
    const other = await loadConfig({ path: '.vscode/mcp.json', cwd: folder, env: {} });
    expect(other.trust.lock).toBe(path.join(folder, '.vscode', 'midspan.lock.json'));
  });

  it('has no lock for a configuration without a file, unless it names one', () => {
    expect(read({}).trust).toEqual({ lock: undefined, mode: 'auto', profile: 'standard' });
    expect(read({ trust: { lock: 'x/lock.json' } }).trust.lock).toBe(
      path.resolve('/srv/project/x/lock.json'),
    );
    expect(read({ trust: { lock: '~/lock.json' } }).trust.lock).toBe(path.resolve('/home/ann/lock.json'));
  });

  it('reads mode and profile, and refuses what is neither', async () => {
    expect(read({ trust: { mode: 'required', profile: 'frozen' } }).trust).toMatchObject({
      mode: 'required',
      profile: 'frozen',
    });
    const error = await errorOf(() =>
      read({ trust: { mode: 'on', profile: 'strickt', lok: 'x', lock: '' } }),
    );
    expect(error.message.split('\n').slice(1)).toEqual([
      '  trust.mode: must be one of auto, required, off; did you mean "off"?',
      '  trust.profile: must be one of standard, strict, frozen; did you mean "strict"?',
      '  trust.lok: unknown key; did you mean "lock"?',
      '  trust.lock: must not be empty',
    ]);
  });

  it('suggests its keys at the top', async () => {
    const error = await errorOf(() => read({ polisy: {}, truts: {} }));
    expect(error.message).toContain('polisy: unknown key; did you mean "policy"?');
    expect(error.message).toContain('truts: unknown key; did you mean "trust"?');
  });
});

describe("other programs' files", () => {
  it('get the defaults, and a warning that their keys of these names do nothing', async () => {
    const folder = await folderWith({
      '.mcp.json': '{"mcpServers":{},"policy":"allow","trust":{"mode":"off"}}',
    });
    const config = await loadConfig({ cwd: folder, env: {} });
    expect(config.policy.default).toBe('reads');
    expect(config.trust.mode).toBe('auto');
    expect(config.warnings).toEqual([
      expect.stringContaining('policy: ignored: only midspan.json has this key'),
      expect.stringContaining('trust: ignored: only midspan.json has this key'),
    ]);
  });
});
