import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { honestOverHttp } from '../delegation/support.ts';
import { startAnthropic } from './anthropic.ts';
import { startResponses } from './openai-responses.ts';
import type { Emulator, EmulatorScript } from './server.ts';

const running: Emulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()));
});

async function post(
  emulator: Emulator,
  path: string,
  body: JsonObject,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: JsonObject; text: string }> {
  const response = await fetch(emulator.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${emulator.key}`, ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as JsonObject, text };
}

describe('the connector of the emulated Responses API', () => {
  const mcp = { type: 'mcp', server_label: 'far', server_url: 'http://127.0.0.1:9/mcp' };
  async function ask(
    tools: JsonObject[],
    input: JsonObject[] = [],
    script: EmulatorScript = [{ text: 'ok' }],
  ) {
    const emulator = await startResponses(script);
    running.push(emulator);
    const user = { role: 'user', content: 'Go.' };
    return post(emulator, '/v1/responses', { model: 'gpt-6-astra', input: [user, ...input], tools });
  }

  it.each<[string, JsonObject[], string]>([
    ['no label', [{ type: 'mcp', server_url: 'http://127.0.0.1:9/mcp' }], 'server_label'],
    ['a label twice', [mcp, mcp], "Duplicate MCP server_label 'far'"],
    ['no address', [{ type: 'mcp', server_label: 'far' }], "One of 'server_url'"],
    ['an unknown member', [{ ...mcp, approval: 'never' }], 'Unknown parameter'],
    ['an unknown approval', [{ ...mcp, require_approval: 'sometimes' }], "Invalid value: 'sometimes'"],
    ['tools that are no names', [{ ...mcp, allowed_tools: [1] }], 'allowed_tools'],
    [
      'two authorizations',
      [{ ...mcp, authorization: 'a', headers: { Authorization: 'Bearer b' } }],
      'Cannot specify both',
    ],
  ])('refuses %s', async (_, tools, message) => {
    const { status, text } = await ask(tools);
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  it('fails with 424 for a server that cannot be listed', async () => {
    const { status, text } = await ask([mcp]);
    expect(status).toBe(424);
    expect(text).toContain("Error retrieving tool list from MCP server: 'far'");
  });

  it('lists and calls a real server, and shows no credentials again', async () => {
    const url = await honestOverHttp();
    const script = [{ mcp: [{ server: 'far', tool: 'echo', arguments: { text: 'hi' } }], text: 'ok' }];
    const tool = {
      ...mcp,
      server_url: url,
      authorization: 'token-1',
      require_approval: 'never',
      allowed_tools: ['echo'],
    };
    const { status, body, text } = await ask([tool], [], script);
    expect(status).toBe(200);
    expect(body['output']).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'far', tools: [{ name: 'echo' }] },
      { type: 'mcp_call', name: 'echo', arguments: '{"text":"hi"}', output: 'hi', error: null },
      { type: 'message' },
    ]);
    expect(text).not.toContain('token-1');
  });

  it('refuses approvals that nobody asked for, and requests that nobody answered', async () => {
    const response = { type: 'mcp_approval_response', approval_request_id: 'mcpr_9', approve: true };
    expect((await ask([], [response])).text).toContain('No approval request found');
    const url = await honestOverHttp();
    const emulator = await startResponses([{ mcp: [{ server: 'far', tool: 'echo' }] }]);
    running.push(emulator);
    const user = { role: 'user', content: 'Go.' };
    const tools = [{ ...mcp, server_url: url }];
    const first = await post(emulator, '/v1/responses', { model: 'gpt-6-astra', input: [user], tools });
    const output = first.body['output'] as JsonObject[];
    expect(output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_approval_request']);
    const open = await post(emulator, '/v1/responses', {
      model: 'gpt-6-astra',
      input: [user, ...output, user],
      tools,
    });
    expect(open.text).toContain('No approval response found');
  });
});

describe('the connector of the emulated Messages API', () => {
  const server = { type: 'url', url: 'http://127.0.0.1:9/mcp', name: 'far' };
  const toolset = { type: 'mcp_toolset', mcp_server_name: 'far' };
  const beta = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'mcp-client-2026-09-15' };
  async function ask(
    more: JsonObject,
    headers: Record<string, string> = beta,
    script: EmulatorScript = [{ text: 'ok' }],
  ) {
    const emulator = await startAnthropic(script);
    running.push(emulator);
    const messages = [{ role: 'user', content: 'Go.' }];
    return post(
      emulator,
      '/v1/messages',
      { model: 'claude-opus-5-5', max_tokens: 100, messages, ...more },
      headers,
    );
  }

  it.each<[string, JsonObject, string]>([
    ['a server without a toolset', { mcp_servers: [server] }, 'exactly one mcp_toolset, found 0'],
    [
      'two toolsets for a server',
      { mcp_servers: [server], tools: [toolset, toolset] },
      'exactly one mcp_toolset, found 2',
    ],
    ['a toolset without a server', { mcp_servers: [], tools: [toolset] }, "unknown MCP server 'far'"],
    [
      'two servers of one name',
      { mcp_servers: [server, server], tools: [toolset] },
      'Server names must be unique',
    ],
    [
      'plain http',
      { mcp_servers: [{ ...server, url: 'http://example.com' }], tools: [toolset] },
      'must start with https://',
    ],
    [
      'headers',
      { mcp_servers: [{ ...server, headers: {} }], tools: [toolset] },
      'Extra inputs are not permitted',
    ],
    [
      'an unknown setting',
      { mcp_servers: [server], tools: [{ ...toolset, default_config: { strict: true } }] },
      'Extra inputs',
    ],
  ])('refuses %s', async (_, more, message) => {
    const { status, text } = await ask(more);
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  it('does not know the members without the header of the beta', async () => {
    const { text } = await ask(
      { mcp_servers: [server], tools: [toolset] },
      { 'anthropic-version': '2026-10-21' },
    );
    expect(text).toContain('mcp_servers: Extra inputs are not permitted');
  });

  it('lists and calls a real server, and refuses one that it cannot reach', async () => {
    const url = await honestOverHttp();
    const script = [{ mcp: [{ server: 'far', tool: 'echo', arguments: { text: 'hi' } }], text: 'ok' }];
    const { body } = await ask({ mcp_servers: [{ ...server, url }], tools: [toolset] }, beta, script);
    expect(body['content']).toMatchObject([
      { type: 'mcp_tool_listing', mcp_server_name: 'far' },
      { type: 'mcp_tool_use', name: 'echo', server_name: 'far', input: { text: 'hi' } },
      { type: 'mcp_tool_result', is_error: false, content: [{ type: 'text', text: 'hi' }] },
      { type: 'text', text: 'ok' },
    ]);
    const { status, text } = await ask({ mcp_servers: [server], tools: [toolset] });
    expect([status, text.includes("communicating with MCP server 'far'")]).toEqual([400, true]);
  });
});
