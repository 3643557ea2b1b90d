/** The four cells: clients of either era before servers of either era, over either transport, each primitive in each. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Served, serve } from '../../src/doors/index.ts';
import { type Host, openHost } from '../../src/index.ts';

const SERVER = fileURLToPath(new URL('../conformance/server/main.mjs', import.meta.url));
const MIDSPAN = fileURLToPath(new URL('../../bin/midspan.js', import.meta.url));
const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];
const LABELS = ERAS.flatMap((era) => (['stdio', 'http'] as const).map((transport) => `${era}-${transport}`));

let host: Host;
let served: Served;
let folder: string;
const children: ChildProcess[] = [];
const clients: Client[] = [];

async function httpServer(era: string): Promise<string> {
  const child = spawn(process.execPath, [SERVER, '--era', era, '--transport', 'http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return String(chunk).split('\n')[0] ?? '';
}

beforeAll(async () => {
  const mcpServers: Record<string, object> = {};
  for (const label of LABELS) {
    const [era = '', transport] = label.split('-');
    mcpServers[label] =
      transport === 'http'
        ? { url: await httpServer(era) }
        : { command: process.execPath, args: [SERVER, '--era', era, '--transport', 'stdio'] };
  }
  folder = mkdtempSync(join(tmpdir(), 'midspan-cells-'));
  const config = { policy: 'allow', trust: { mode: 'off' }, mcpServers };
  writeFileSync(join(folder, 'midspan.json'), JSON.stringify(config));
  host = await openHost(config, { env: { ...process.env }, lists: 'all', readResult: false, store: false });
  served = await serve(host, { port: 0, auth: 'none' });
});

afterAll(async () => {
  await served.close();
  await host.close();
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

interface Connecting {
  era: Era;
  label?: string;
  over?: 'http' | 'stdio';
  capabilities?: Record<string, object>;
}

/** What a client has heard, beside what it was answered. */
interface Heard {
  asked: { method: string; params: Record<string, unknown> }[];
  logged: unknown[];
  changed: string[];
  updated: string[];
}

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

async function connect({ era, label, over = 'http', capabilities = EVERYTHING }: Connecting) {
  const heard: Heard = { asked: [], logged: [], changed: [], updated: [] };
  const client = new Client(
    { name: 'cells', version: '1' },
    {
      capabilities,
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      listChanged: Object.fromEntries(
        ['tools', 'prompts', 'resources'].map((list) => [
          list,
          { autoRefresh: false, debounceMs: 0, onChanged: () => void heard.changed.push(list) },
        ]),
      ),
    },
  );
  clients.push(client);
  const ask = (method: string, params: unknown): void =>
    void heard.asked.push({ method, params: params as Record<string, unknown> });
  if (capabilities['elicitation'] !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      ask('elicitation/create', params);
      if (params.mode === 'url') return { action: 'accept' };
      const content = Object.fromEntries(
        Object.keys(params.requestedSchema.properties).map((name) => [name, `my ${name}`]),
      );
      return { action: 'accept', content };
    });
  if (capabilities['sampling'] !== undefined)
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      ask('sampling/createMessage', params);
      return { role: 'assistant', model: 'none', content: { type: 'text', text: 'Paris.' } };
    });
  if (capabilities['roots'] !== undefined)
    client.setRequestHandler('roots/list', () => {
      ask('roots/list', {});
      return { roots: [{ uri: 'file:///mine', name: 'mine' }] };
    });
  client.setNotificationHandler('notifications/message', ({ params }) => void heard.logged.push(params.data));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.updated.push(params.uri),
  );
  const path = label === undefined ? '' : `/${label}`;
  await client.connect(
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${served.url}${path}`))
      : new StdioClientTransport({
          command: process.execPath,
          args: [
            MIDSPAN,
            'serve',
            '--stdio',
            '--config',
            join(folder, 'midspan.json'),
            ...(label === undefined ? [] : ['--server', label]),
          ],
          stderr: 'ignore',
        }),
  );
  return { client, heard };
}

const textOf = (result: { content?: unknown }): string =>
  (result.content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');

const CELLS = ERAS.flatMap((era) => LABELS.map((label) => ({ era, label })));

describe.each(CELLS)('A $era client before $label', ({ era, label }) => {
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { client, heard } = await connect({ era, label });
    return { text: textOf(await client.callTool({ name, arguments: args })), heard, client };
  };

  it('lists and calls tools', async () => {
    const { client } = await connect({ era, label });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('test_simple_text');
    const result = await client.callTool({ name: 'test_multiple_content_types' });
    expect((result.content as { type: string }[]).map(({ type }) => type)).toEqual([
      'text',
      'image',
      'resource',
    ]);
    expect(await client.callTool({ name: 'test_structured_content' })).toMatchObject({
      structuredContent: { answer: 42 },
    });
    expect(await client.callTool({ name: 'test_error_handling' })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
  });

  it('lists and reads resources, templates and what is not there', async () => {
    const { client } = await connect({ era, label });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['test://template/{id}/data']);
    const read = await client.readResource({ uri: 'test://template/7/data' });
    expect(JSON.stringify(read.contents)).toContain('Data for ID: 7');
    await expect(client.readResource({ uri: 'test://gone' })).rejects.toMatchObject({
      // The SDK knows both codes by one error.
      message: expect.stringContaining('not found') as string,
    });
  });

  it('lists, gets and completes prompts', async () => {
    const { client } = await connect({ era, label });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('test_prompt_with_arguments');
    const got = await client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'a', arg2: 'b' },
    });
    expect(JSON.stringify(got.messages)).toContain("arg1='a', arg2='b'");
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'par' },
    });
    expect(completion.values).toEqual(['paris', 'park', 'party']);
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
  });

  it('hears of progress', async () => {
    const { client } = await connect({ era, label });
    const steps: number[] = [];
    const result = await client.callTool(
      { name: 'test_tool_with_progress' },
      { onprogress: ({ progress }) => void steps.push(progress) },
    );
    expect(textOf(result)).toBe('Done, with progress.');
    expect(steps).toEqual([0, 50, 100]);
  });

  it('cancels', async () => {
    const { client } = await connect({ era, label });
    const given = new AbortController();
    const steps: number[] = [];
    const called = client.callTool(
      { name: 'test_tool_with_progress' },
      {
        signal: given.signal,
        onprogress: ({ progress }) => {
          steps.push(progress);
          given.abort();
        },
      },
    );
    await expect(called).rejects.toThrow();
    expect(steps).toEqual([0]);
    expect(textOf(await client.callTool({ name: 'test_simple_text' }))).toContain('simple text');
  });

  it('hears what is logged', async () => {
    const { client, heard } = await connect({ era, label });
    if (era === 'legacy') await client.setLoggingLevel('info');
    const meta = era === 'modern' ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {};
    await client.callTool({ name: 'test_tool_with_logging', ...meta });
    await vi.waitFor(() =>
      expect(heard.logged).toEqual([
        'Tool execution started',
        'Tool processing data',
        'Tool execution completed',
      ]),
    );
  });

  it.each(['tools', 'prompts', 'resources'])('hears that the list of %s has changed', async (list) => {
    const { client, heard } = await connect({ era, label });
    const trigger = `test_trigger_${list.slice(0, -1)}_change`;
    await client.callTool({ name: trigger });
    await vi.waitFor(() => expect(heard.changed).toContain(list), { timeout: 5_000 });
    await client.callTool({ name: trigger });
    await vi.waitFor(() => expect(heard.changed.length).toBeGreaterThan(1), { timeout: 5_000 });
  });

  it('follows a resource', async () => {
    const uri = 'test://watched-resource';
    const { client, heard } = await connect({ era, label });
    if (era === 'legacy') await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    await vi.waitFor(
      async () => {
        await client.callTool({ name: 'test_trigger_resource_update', arguments: { uri } });
        expect(heard.updated).toContain(uri);
      },
      { timeout: 5_000, interval: 200 },
    );
    expect(new Set(heard.updated)).toEqual(new Set([uri]));
  });

  it('answers a form', async () => {
    const { text, heard } = await call('test_elicitation', { message: 'Who are you?' });
    expect(text).toContain('"username":"my username"');
    expect(heard.asked).toMatchObject([{ params: { message: 'Who are you?' } }]);
  });

  it('opens an address', async () => {
    const { text, heard } = await call('test_elicitation_url');
    expect(text).toBe('URL elicitation completed: action=accept');
    expect(heard.asked).toMatchObject([{ params: { mode: 'url', url: 'https://example.com/sign-in' } }]);
  });

  it('lends its model', async () => {
    const { text, heard } = await call('test_sampling', { prompt: 'The capital of France?' });
    expect(text).toBe('LLM response: Paris.');
    expect(heard.asked).toHaveLength(1);
  });

  it('shows its roots', async () => {
    const { text } = await call('test_input_required_result_list_roots');
    expect(text).toBe('Roots: file:///mine');
  });

  it('answers twice, and many things at once', async () => {
    const twice = await call('test_input_required_result_multi_round');
    expect(twice.text).toBe('my name likes my color.');
    const many = await call('test_input_required_result_multiple_inputs');
    expect(many.text).toBe('Paris. my name, with 1 roots.');
    expect(many.heard.asked).toHaveLength(3);
  });

  it('is asked for nothing that it cannot do', async () => {
    const { client, heard } = await connect({ era, label, capabilities: { roots: {} } });
    const outcome = await client
      .callTool({ name: 'test_missing_capability' })
      .then(textOf, (error: Error) => error.message);
    expect(outcome).not.toContain('LLM response: Paris');
    expect(heard.asked).toEqual([]);
  });
});

describe.each(ERAS)('A %s client of all servers', (era) => {
  it('reaches each of them by names and URIs that lead back', async () => {
    const { client } = await connect({ era });
    const { tools } = await client.listTools();
    for (const label of LABELS) {
      expect(tools.map(({ name }) => name)).toContain(`${label}__test_simple_text`);
      const asked = await client.callTool({
        name: `${label}__test_elicitation`,
        arguments: { message: 'Who?' },
      });
      expect(textOf(asked)).toContain('my username');
      const uri = `midspan://${label}/test://static-text`;
      expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
      const got = await client.getPrompt({ name: `${label}__test_simple_prompt` });
      expect(got.messages).toHaveLength(1);
    }
  });

  it.each(LABELS)('over a pipe reaches %s', async (label) => {
    const { client, heard } = await connect({ era, label, over: 'stdio' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('test_simple_text');
    const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } });
    expect(textOf(asked)).toContain('my username');
    expect(heard.asked).toMatchObject([{ params: { message: 'Who?' } }]);
    const read = await client.readResource({ uri: 'test://static-text' });
    expect(read.contents).toHaveLength(1);
  });
});
