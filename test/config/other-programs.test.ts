import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { errorOf, folderWith } from './folder.ts';

describe("other programs' files", () => {
  it('reads a plain .mcp.json and warns of keys that it does not know', async () => {
    const folder = await folderWith({
      '.mcp.json': JSON.stringify({
        mcpServers: {
          api: {
            type: 'http',
            url: 'https://example.com/mcp',
            headers: { 'X-Key': '${KEY:-none}' },
            oauth: {},
            timeout: 5,
          },
          local: {
            type: 'stdio',
            command: 'node',
            args: ['server.js'],
            era: 'modern',
            comand: 'x',
            env: { PORT: 8080 },
          },
        },
      }),
    });
    const config = await loadConfig({ cwd: folder, env: {} });
    expect(config.format).toBe('mcp.json');
    expect(config.servers.map(({ transport }) => transport)).toEqual([
      { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Key': 'none' } },
      { type: 'stdio', command: 'node', args: ['server.js'], env: { PORT: '8080' }, cwd: folder },
    ]);
    expect(config.warnings.map((warning) => warning.replace(/^.*\d: /, ''))).toEqual([
      'mcpServers.api.oauth: ignored: unknown key',
      'mcpServers.api.timeout: ignored: unknown key',
      'mcpServers.local.era: ignored: only midspan.json has this key',
      'mcpServers.local.comand: ignored: unknown key; did you mean "command"?',
    ]);
    expect(config.warnings[0]).toContain(`${path.join(folder, '.mcp.json')}:1:`);
  });

  it('reads a Claude Desktop file beside the settings of that program', async () => {
    const folder = await folderWith({
      'claude_desktop_config.json': JSON.stringify({
        globalShortcut: 'Ctrl+Space',
        preferences: { a: 1 },
        mcpServers: { memory: { command: 'npx', args: ['-y', 'server-memory'] } },
      }),
    });
    const config = await loadConfig({ path: 'claude_desktop_config.json', cwd: folder, env: {} });
    expect(config).toMatchObject({ format: 'claude-desktop', warnings: [], servers: [{ label: 'memory' }] });
  });

  it('reads a Cursor file with its forms of variables, from the folder of the project', async () => {
    const folder = await folderWith({
      '.cursor/mcp.json': JSON.stringify({
        mcpServers: {
          a: {
            command: 'node',
            args: ['${workspaceFolder}/a.js', '${userHome}${/}b', '${workspaceFolderBasename}'],
            env: { KEY: '${env:KEY}' },
            envFile: '${workspaceFolder}/.env',
          },
        },
      }),
    });
    const config = await loadConfig({
      path: '.cursor/mcp.json',
      cwd: folder,
      env: { KEY: 'k', HOME: '/home/me' },
    });
    expect(config.format).toBe('cursor');
    expect(config.servers[0]?.transport).toEqual({
      type: 'stdio',
      command: 'node',
      args: [`${folder}/a.js`, `/home/me${path.sep}b`, path.basename(folder)],
      env: { KEY: 'k' },
      cwd: folder,
    });
    expect(config.warnings).toHaveLength(1);
    expect(config.warnings[0]).toContain('mcpServers.a.envFile: ignored');
  });

  it('reads a VS Code file and takes its inputs from the environment', async () => {
    const text = `{
      "inputs": [{ "type": "promptString", "id": "api-key", "password": true }],
      "servers": {
        "api": { "type": "http", "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${input:api-key}" } },
      }
    }`;
    const folder = await folderWith({
      '.vscode/mcp.json': text,
      'mcp.json': text.replace('${input:api-key}', '${input:api-kee}'),
    });
    const config = await loadConfig({
      path: '.vscode/mcp.json',
      cwd: folder,
      env: { MIDSPAN_INPUT_API_KEY: 'secret' },
    });
    expect(config.format).toBe('vscode');
    expect(config.servers[0]?.transport).toMatchObject({ headers: { Authorization: 'Bearer secret' } });
    const missing = await errorOf(() => loadConfig({ path: '.vscode/mcp.json', cwd: folder, env: {} }));
    expect(missing.message).toContain(
      'mcp.json:4:98: servers.api.headers.Authorization: the input "api-key" is read from the environment variable MIDSPAN_INPUT_API_KEY, which is not set',
    );
    const unknown = await errorOf(() => loadConfig({ path: 'mcp.json', cwd: folder, env: {} }));
    expect(unknown.message).toContain('there is no input "api-kee" in `inputs`');
  });

  it('reads a Codex file', async () => {
    const folder = await folderWith({
      'config.toml': `
model = "some-model"

[mcp_servers.local]
command = "npx"
args = ["-y", "server"]
env_vars = ["PASSED", { name = "TABLE" }, "ABSENT"]
startup_timeout_sec = 20.5
tool_timeout_sec = 60
enabled_tools = ["read_*"]
disabled_tools = ["write"]
required = true

[mcp_servers.local.env]
OWN = "x"

[mcp_servers."my remote"]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Tenant" = "TENANT" }
enabled = false
`,
    });
    const env = { PASSED: 'p', TABLE: 't', TOKEN: 'secret', TENANT: 'acme' };
    const config = await loadConfig({ path: 'config.toml', cwd: folder, env });
    expect(config).toEqual({
      path: path.join(folder, 'config.toml'),
      format: 'codex',
      trust: { lock: path.join(folder, 'midspan.lock.json'), mode: 'auto', profile: 'standard' },
      policy: { rules: [], labels: [], default: 'reads', protectedPaths: [] },
      redact: [],
      serve: {},
      servers: [
        {
          label: 'local',
          transport: {
            type: 'stdio',
            command: 'npx',
            args: ['-y', 'server'],
            env: { PASSED: 'p', TABLE: 't', OWN: 'x' },
            cwd: folder,
          },
          timeouts: { start: 20_500, call: 60_000 },
          tools: { allow: ['read_\\*'], deny: ['write'] },
        },
        {
          label: 'my remote',
          transport: {
            type: 'http',
            url: 'https://example.com/mcp',
            headers: { Authorization: 'Bearer secret', 'X-Region': 'eu', 'X-Tenant': 'acme' },
          },
          disabled: true,
        },
      ],
      warnings: [
        `${path.join(folder, 'config.toml')}:12:1: mcp_servers.local.required: ignored: unknown key`,
      ],
    });
  });

  it('names the line in a Codex file', async () => {
    const folder = await folderWith({
      'config.toml':
        '# x\n[mcp_servers.a]\nurl = "https://example.com"\n  bearer_token_env_var = "NONE"\n[mcp_servers.b]\ncommand = 1\n',
    });
    const error = await errorOf(() => loadConfig({ path: 'config.toml', cwd: folder, env: {} }));
    expect(error.message).toContain(
      'config.toml:4:3: mcp_servers.a.bearer_token_env_var: the environment variable NONE is not set',
    );
    expect(error.message).toContain('config.toml:6:1: mcp_servers.b.command: must be a string, not a number');
  });
});
