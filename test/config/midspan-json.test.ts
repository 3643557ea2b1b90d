import { chown } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig, MAX_FILE_BYTES, readConfig } from '../../src/config/config.ts';
import { errorOf, folderWith } from './folder.ts';

const base = '/srv/project';
const read = (servers: object, env: Record<string, string> = {}) =>
  readConfig({ mcpServers: servers }, { env, base });

describe('midspan.json', () => {
  it('reads a whole configuration with comments, variables and relative folders', async () => {
    const folder = await folderWith({
      'midspan.json': `{
        // what we use
        "mcpServers": {
          "files": {
            "command": "npx", "args": ["-y", "server-filesystem", "\${ROOT:-.}"],
            "env": { "TOKEN": "\${TOKEN}" }, "cwd": "sub",
            "era": "legacy", "timeouts": { "start": 5000, "call": 60000, "callMax": 600000 },
            "tools": { "allow": ["read_*"], "deny": ["read_secret"], "strict": ["read_f*"], "alias": { "read_file": "read" } },
          },
          "remote": { "type": "streamable-http", "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } },
          "old": { "type": "sse", "url": "http://localhost:8080/sse", "disabled": true },
        },
      }`,
    });
    const config = await loadConfig({ cwd: folder, env: { TOKEN: 't0ken' } });
    expect(config).toEqual({
      path: path.join(folder, 'midspan.json'),
      format: 'midspan',
      trust: { lock: path.join(folder, 'midspan.lock.json'), mode: 'auto', profile: 'standard' },
      policy: { rules: [], labels: [], default: 'reads', protectedPaths: [] },
      redact: [],
      serve: {},
      warnings: [],
      servers: [
        {
          label: 'files',
          transport: {
            type: 'stdio',
            command: 'npx',
            args: ['-y', 'server-filesystem', '.'],
            env: { TOKEN: 't0ken' },
            cwd: path.join(folder, 'sub'),
          },
          era: 'legacy',
          timeouts: { start: 5000, call: 60_000, callMax: 600_000 },
          tools: {
            allow: ['read_*'],
            deny: ['read_secret'],
            strict: ['read_f*'],
            alias: { read_file: 'read' },
          },
        },
        {
          label: 'remote',
          transport: {
            type: 'http',
            url: 'https://example.com/mcp',
            headers: { Authorization: 'Bearer t0ken' },
          },
        },
        {
          label: 'old',
          transport: { type: 'sse', url: 'http://localhost:8080/sse', headers: {} },
          disabled: true,
        },
      ],
    });
  });

  it('starts a server in the folder of the file when it names no folder', async () => {
    const folder = await folderWith({
      'a/midspan.json': '{"mcpServers":{"x":{"command":"y"}}}',
      'a/b/c/empty': '',
    });
    const { servers } = await loadConfig({ cwd: path.join(folder, 'a/b/c'), env: {} });
    expect(servers[0]?.transport).toMatchObject({ cwd: path.join(folder, 'a') });
  });

  it('tells every problem at once, with file, line, column, key and what was probably meant', async () => {
    const folder = await folderWith({
      'midspan.json': [
        '{',
        '  "mcpServers": {',
        '    "one": { "comand": "npx", "args": "-y" },',
        '    "two": { "command": "npx", "url": "https://example.com" },',
        '    "three": { "url": "https://example.com", "type": "streamable-htp", "headers": { "A": "${MISSING}" } },',
        '    "four": { "command": "npx", "era": "modren", "transport": "stdio", "args": [1] },',
        '    "four": { "command": "npx", "timeouts": { "strat": 1, "call": "60" } }',
        '  },',
        '  "servres": {}',
        '}',
      ].join('\n'),
    });
    const file = path.join(folder, 'midspan.json');
    const error = await errorOf(() => loadConfig({ cwd: folder, env: {} }));
    expect(error.code).toBe('config');
    expect(error.message.split('\n')).toEqual([
      'the configuration has 10 problems:',
      `  ${file}:7:5: mcpServers.four: is written twice; first in line 6`,
      `  ${file}:9:3: servres: unknown key; did you mean "mcpServers"?`,
      `  ${file}:3:14: mcpServers.one.comand: unknown key; did you mean "command"?`,
      `  ${file}:3:39: mcpServers.one.args: must be an array of strings, not a string`,
      `  ${file}:3:5: mcpServers.one: has neither a command (a program) nor a url (an HTTP server)`,
      `  ${file}:4:5: mcpServers.two: has both a command and a url; a server is reached by one of them`,
      `  ${file}:5:54: mcpServers.three.type: unknown transport type; known are stdio, http, streamable-http, sse; did you mean "streamable-http"?`,
      `  ${file}:5:90: mcpServers.three.headers.A: the environment variable MISSING is not set; set it, or write \`\${MISSING:-default}\``,
      `  ${file}:7:47: mcpServers.four.timeouts.strat: unknown key; did you mean "start"?`,
      `  ${file}:7:67: mcpServers.four.timeouts.call: must be a number of milliseconds, not a string`,
    ]);
    expect(error.data['problems']).toHaveLength(10);
  });

  it.each([
    ['transport', 'type'],
    ['httpUrl', 'url'],
    ['timeout', 'timeouts'],
    ['enabled', 'disabled'],
    ['ARGS', 'args'],
  ])('knows that %s was meant to be %s', async (written, meant) => {
    const error = await errorOf(() => read({ x: { command: 'y', [written]: 1 } }));
    expect(error.message).toContain(`mcpServers.x.${written}: unknown key; did you mean "${meant}"?`);
  });

  it.each([
    ['stdio', { command: 'x' }, 'stdio'],
    ['http', { url: 'http://h/' }, 'http'],
    ['streamable-http', { url: 'http://h/' }, 'http'],
    ['streamableHttp', { url: 'http://h/' }, 'http'],
    ['streamable_http', { url: 'http://h/' }, 'http'],
    ['sse', { url: 'http://h/' }, 'sse'],
  ])('takes %s as a transport type', (type, entry, wanted) => {
    expect(read({ x: { ...entry, type } }).servers[0]?.transport.type).toBe(wanted);
  });

  it('refuses a type that does not fit, and keys that have no meaning for the transport', async () => {
    const error = await errorOf(() =>
      read({
        a: { type: 'stdio', url: 'http://h/' },
        b: { command: 'x', headers: {} },
        c: { url: 'http://h/', env: {} },
      }),
    );
    expect(error.message).toContain('mcpServers.a.type: is stdio, which needs a command');
    expect(error.message).toContain('mcpServers.b.headers: has no meaning for a server with a command');
    expect(error.message).toContain('mcpServers.c.env: has no meaning for a server with a url');
  });

  it('refuses aliases that are no exposed names or are given twice, also by two servers', async () => {
    const error = await errorOf(() =>
      read({
        a: { command: 'x', tools: { alias: { one: 'same', two: '1st', three: 'a b' } } },
        b: { command: 'x', tools: { alias: { four: 'same' } } },
      }),
    );
    expect(error.data['problems']).toEqual([
      { key: 'mcpServers.a.tools.alias.two', message: expect.stringContaining('must be 1 to 63 letters') },
      { key: 'mcpServers.a.tools.alias.three', message: expect.stringContaining('must be 1 to 63 letters') },
      {
        key: 'mcpServers.b.tools.alias.four',
        message: 'gives an alias that mcpServers.a.tools.alias.one gives too',
      },
    ]);
  });

  it('accepts the known revisions as era and refuses others', async () => {
    expect(read({ x: { command: 'y', era: '2025-06-18' } }).servers[0]?.era).toBe('2025-06-18');
    const error = await errorOf(() => read({ x: { command: 'y', era: '2025-06-19' } }));
    expect(error.message).toContain('did you mean "2025-06-18"?');
  });

  it('reads who shares a connection to a server, and refuses other words', async () => {
    for (const isolation of ['shared', 'principal', 'client'])
      expect(read({ a: { command: 'node', isolation } }).servers[0]).toMatchObject({ isolation });
    const error = await errorOf(() => read({ a: { command: 'node', isolation: 'clients' } }));
    expect(error.message).toContain('mcpServers.a.isolation');
    expect(error.message).toContain('must be one of shared, principal, client; did you mean "client"?');
  });

  it('never repeats a value that may be secret', async () => {
    const secret = 'hunter2hunter2';
    const error = await errorOf(() =>
      read(
        {
          a: { command: 'x', env: { TOKEN: [secret], 'BAD=NAME': secret } },
          b: { url: `https://user:${secret}@example.com/?key=${secret}` },
          c: { url: 'https://example.com', headers: { A: `${secret}\r\nX: y`, 'B C': secret } },
          d: { url: '${SECRET}' },
          e: { command: 'x', era: '${SECRET}', type: '${SECRET}', timeouts: secret },
          f: { command: 'x', tools: { alias: { t: '${SECRET} ' } } },
        },
        { SECRET: secret },
      ),
    );
    expect((error.data['problems'] as unknown[]).length).toBeGreaterThanOrEqual(9);
    expect(error.message + JSON.stringify(error.data)).not.toContain('hunter2');
  });

  it('never repeats the text of a file that is not valid', async () => {
    const folder = await folderWith({
      'midspan.json': '{"mcpServers":{"x":{"command":"y","env":{"TOKEN":"hunter2" "B":1}}}}',
      'codex.toml': '[mcp_servers.x]\ncommand = "y"\nenv = { TOKEN = "hunter2 }\n',
    });
    const json = await errorOf(() => loadConfig({ cwd: folder, env: {} }));
    expect(json.message).toContain('midspan.json:1:60: not valid JSON: comma expected');
    const toml = await errorOf(() => loadConfig({ path: 'codex.toml', cwd: folder, env: {} }));
    expect(toml.message).toMatch(/codex\.toml:3:\d+: not valid TOML: /);
    expect(json.message + toml.message).not.toContain('hunter2');
  });

  it('takes no key as the prototype of anything', async () => {
    const folder = await folderWith({
      'midspan.json':
        '{"mcpServers":{"x":{"command":"y","__proto__":{"disabled":true},"env":{"__proto__":"z"}}}}',
      'other.midspan.json': '{"mcpServers":{"__proto__":{"command":"y"}}}',
      '.mcp.json': '{"mcpServers":{"x":{"command":"y","constructor":{},"env":{"__proto__":"z"}}}}',
    });
    const error = await errorOf(() => loadConfig({ cwd: folder, env: {} }));
    expect(error.message).toContain('mcpServers.x.__proto__: unknown key');
    const label = await errorOf(() => loadConfig({ path: 'other.midspan.json', cwd: folder, env: {} }));
    expect(label.message).toContain('this label cannot be used');
    const { servers } = await loadConfig({ path: '.mcp.json', cwd: folder, env: {} });
    expect(Object.keys((servers[0] as { transport: { env?: object } }).transport.env ?? {})).toEqual([
      '__proto__',
    ]);
    expect(({} as Record<string, unknown>)['disabled']).toBeUndefined();
  });

  it('refuses what is too large, too deep, empty, not UTF-8, not a file or not there', async () => {
    const folder = await folderWith({
      'large.json': ' '.repeat(MAX_FILE_BYTES + 1),
      'deep.json': '['.repeat(1_000_000),
      'empty.json': '',
      'latin.json': new Uint8Array([0x7b, 0x22, 0xe9, 0x22, 0x7d]),
      'array.json': '[]',
      'folder/x': '',
      'bare.json': '{"other": 1}',
    });
    const told: [string, RegExp][] = [
      ['large.json', /is larger than 8388608 bytes/],
      ['deep.json', /nested too deeply/],
      ['empty.json', /the file is empty/],
      ['latin.json', /is not UTF-8 text/],
      ['array.json', /must be an object, not an array/],
      ['folder', /is not a file/],
      ['none.json', /there is no such file/],
      ['bare.json', /there is no `mcpServers` in it/],
    ];
    for (const [file, message] of told) {
      const error = await errorOf(() => loadConfig({ path: file, cwd: folder, env: {} }));
      expect(error.message).toMatch(message);
      expect(error.code).toBe('config');
    }
  });

  it('reads a file with a byte order mark', async () => {
    const folder = await folderWith({ 'midspan.json': '\uFEFF{"mcpServers":{}}' });
    expect((await loadConfig({ cwd: folder, env: {} })).servers).toEqual([]);
  });

  it('prefers midspan.json to .mcp.json, a nearer folder to a farther one, and says when there is none', async () => {
    const file = (label: string) => `{"mcpServers":{"${label}":{"command":"x"}}}`;
    const folder = await folderWith({
      'midspan.json': file('top'),
      '.mcp.json': file('topOther'),
      'near/.mcp.json': file('near'),
      'near/far/x': '',
      'plain/x': '',
    });
    const labels = async (cwd: string) =>
      (await loadConfig({ cwd: path.join(folder, cwd), env: {} })).servers.map(({ label }) => label);
    expect(await labels('.')).toEqual(['top']);
    expect(await labels('near/far')).toEqual(['near']);
    expect(await labels('plain')).toEqual(['top']);
    const error = await errorOf(() => loadConfig({ cwd: '/', env: {} }));
    expect(error.message).toBe(
      'there is no midspan.json or .mcp.json in / or above it. Write one, or name a file by --config',
    );
  });

  it("takes another user's file only when it is named", async () => {
    const folder = await folderWith({ 'midspan.json': '{"mcpServers":{}}', 'sub/x': '' });
    const file = path.join(folder, 'midspan.json');
    // Root can give a file away; anybody else can only seem to be another user.
    if (process.getuid?.() === 0) await chown(file, 4321, 4321);
    else vi.spyOn(process, 'getuid').mockReturnValue(4321);
    onTestFinished(() => void vi.restoreAllMocks());
    const error = await errorOf(() => loadConfig({ cwd: path.join(folder, 'sub'), env: {} }));
    expect(error.message).toContain('was found but belongs to another user');
    expect(error.message).toContain(`--config ${file}`);
    expect((await loadConfig({ path: file, cwd: folder, env: {} })).servers).toEqual([]);
  });

  it('says that an object that a program made is wrong, by key', async () => {
    const error = await errorOf(() =>
      read({ x: { command: 'y', args: [() => 1, new Date()], nope: undefined } }),
    );
    expect(error.message).toContain('mcpServers.x.args[0]: must be a string, not an array');
    expect(error.message).not.toContain('nope');
  });

  it('lets a server that is switched off lack its variables', () => {
    const { servers } = read({
      x: { url: '${NOWHERE}', disabled: true },
      y: { command: '${NOTHING}', disabled: true },
    });
    expect(servers.map(({ label, disabled }) => [label, disabled])).toEqual([
      ['x', true],
      ['y', true],
    ]);
  });
});

describe('variables', () => {
  const argument = (text: string, env: Record<string, string> = {}) =>
    read({ x: { command: 'y', args: [text] } }, env).servers.map(
      ({ transport }) => 'args' in transport && transport.args[0],
    )[0];

  it.each([
    ['${A}', 'a'],
    ['-${A}-${B}-', '-a--'],
    ['${B:-other}', 'other'],
    ['${NONE:-}', ''],
    ['${NONE:-${A}}', 'a'],
    ['${NONE:-${OTHER:-x}y}', 'xy'],
    ['${env:A}', 'a'],
    ['$A $ {A} $$', '$A $ {A} $$'],
    ['$${A}', '${A}'],
  ])('reads %s as %j', (text, wanted) => {
    expect(argument(text, { A: 'a', B: '' })).toBe(wanted);
  });

  it.each([
    ['${NONE}', 'the environment variable NONE is not set'],
    ['${A', 'has no closing brace'],
    ['${command:x}', '`${command:x}` is not a variable that can be resolved here'],
    ['${input:x}', 'only a VS Code file has inputs'],
    ['${}', 'is not a variable'],
    ['${toString}', 'the environment variable toString is not set'],
  ])('refuses %s', async (text, message) => {
    const error = await errorOf(() => argument(text));
    expect(error.message).toContain(message);
  });

  it('expands nothing that came out of a variable', () => {
    expect(argument('${A}', { A: '${B}', B: 'no' })).toBe('${B}');
  });

  it('leaves text without a dollar sign as it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => !/[$\0]/.test(text)),
        (text) => {
          expect(argument(text)).toBe(text);
        },
      ),
    );
  });

  it('never fails in any way but by an error of configuration', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (json) => {
        try {
          readConfig({ mcpServers: { x: JSON.parse(json) as unknown } }, { env: {}, base });
        } catch (error) {
          expect(error).toMatchObject({ name: 'MidspanError', code: 'config' });
        }
      }),
    );
  });
});
