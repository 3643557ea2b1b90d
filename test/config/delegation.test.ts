import { describe, expect, it } from 'vitest';
import { loadConfig, readConfig } from '../../src/config/config.ts';
import { folderWith } from './folder.ts';

const read = (server: object) => readConfig({ mcpServers: { far: server } }, { env: {}, base: '/work' });
const url = 'https://mcp.example.com/mcp';

describe('via and approval', () => {
  it('are read for a server with a url', () => {
    expect(read({ url, via: 'provider', approval: 'never' }).servers).toMatchObject([
      { label: 'far', via: 'provider', approval: 'never' },
    ]);
    expect(read({ url, via: 'provider' }).servers[0]).not.toHaveProperty('approval');
    expect(read({ url, type: 'sse', via: 'provider' }).servers).toHaveLength(1);
    expect(read({ command: 'x', via: 'host' }).servers).toHaveLength(1);
  });

  it.each<[string, object, RegExp]>([
    [
      'a program',
      { command: 'x', via: 'provider' },
      /mcpServers\.far\.via: is provider, which needs a url.*cannot start a program/,
    ],
    [
      'another word',
      { url, via: 'Provider' },
      /mcpServers\.far\.via: must be one of host, provider; did you mean "provider"\?/,
    ],
    ['another type', { url, via: true }, /must be a string, not a boolean/],
    [
      'approval alone',
      { url, approval: 'always' },
      /mcpServers\.far\.approval: has a meaning only beside `"via": "provider"`/,
    ],
    ['another approval', { url, via: 'provider', approval: 'sometimes' }, /must be one of always, never/],
  ])('are refused with the reason: %s', (_, server, message) => {
    expect(() => read(server)).toThrow(message);
  });

  it("are not taken from other programs' files, and that is said", async () => {
    const folder = await folderWith({
      '.mcp.json': JSON.stringify({ mcpServers: { far: { url, via: 'provider', approval: 'never' } } }),
    });
    const { servers, warnings } = await loadConfig({ cwd: folder, env: {} });
    expect(servers[0]).not.toHaveProperty('via');
    expect(warnings.join('\n')).toMatch(/far\.via: ignored: only midspan\.json has this key/);
  });
});
