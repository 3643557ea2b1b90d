import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { InputRequest } from '../../src/mcp/input.ts';
import { http, open, stdio } from './support.ts';

const SERVER = fileURLToPath(new URL('../conformance/server/main.mjs', import.meta.url));
const TAP = fileURLToPath(new URL('./tap.mjs', import.meta.url));
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function overHttp(era: string): Promise<string> {
  const child = spawn(process.execPath, [SERVER, '--era', era, '--transport', 'http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => child.kill());
  const [line] = await new Promise<string[]>((resolve) =>
    child.stdout.once('data', (chunk) => resolve(String(chunk).split('\n'))),
  );
  return String(line).trim();
}

async function opened(era: string, transport: string) {
  return transport === 'http'
    ? open(http('jobs', await overHttp(era)))
    : open(stdio('jobs', [SERVER, '--era', era, '--transport', 'stdio']));
}

function tapped(era: string) {
  const folder = mkdtempSync(join(tmpdir(), 'midspan-tap-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'messages');
  const { server } = open(
    stdio('jobs', [TAP, file, process.execPath, SERVER, '--era', era, '--transport', 'stdio']),
  );
  return { server, said: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') };
}

describe.each(['legacy', 'modern'])('A %s server that makes tasks', (era) => {
  test.each(['stdio', 'http'])('is called over %s as any other by who takes none', async (transport) => {
    const { server } = await opened(era, transport);
    await server.listTools();
    const failed = await server.callTool('failing_job', {});
    expect(failed.isError).toBe(true);
    expect(failed.content).toEqual([{ type: 'text', text: 'This job always fails.' }]);

    const asked: InputRequest[] = [];
    const greeted = await server.callTool(
      'test_tool_with_task',
      {},
      {
        async onInput(request) {
          asked.push(request);
          return { action: 'accept', content: { name: 'Ada' } };
        },
      },
    );
    expect(greeted.content).toEqual([{ type: 'text', text: 'Hello, Ada, from a task.' }]);
    expect(greeted._meta ?? {}).not.toHaveProperty('io.modelcontextprotocol/related-task');
    expect(asked).toHaveLength(1);
  });

  test('is told that nobody waits any more', async () => {
    const { server, said } = tapped(era);
    await server.listTools();
    const controller = new AbortController();
    const call = server.relay(
      'tools/call',
      era === 'modern'
        ? { name: 'test_tool_with_task', arguments: {} }
        : { name: 'confirm_delete', arguments: { filename: 'a.txt' } },
      {
        asTask: true,
        signal: controller.signal,
        // The modern server asks before there is a task, and is answered; its task is quick, so that it may end first.
        async onInput() {
          if (era === 'modern') return { action: 'accept', content: { name: 'Ada' } };
          controller.abort();
          return new Promise(() => undefined);
        },
        onProgress: () => undefined,
      },
    );
    if (era === 'modern') await expect(call).resolves.toBeDefined();
    else {
      await expect(call).rejects.toMatchObject({ code: 'cancelled' });
      await vi.waitFor(() => expect(said()).toContain('"method":"tasks/cancel"'), 60_000);
    }
  });
});

test.each(['legacy', 'modern'])(
  'A refusal of a %s server goes through where its task is not to be waited for',
  async (era) => {
    const { server } = await opened(era, 'stdio');
    await server.listTools();
    const call = server.relay(
      'tools/call',
      { name: 'failing_job', arguments: {} },
      { capabilities: {}, drivesTasks: false },
    );
    await expect(call).rejects.toMatchObject({
      code: 'rpc',
      data: { code: -32021, data: { requiredCapabilities: TASKS } },
    });
  },
);

test.each([true, false])('A tool that may be a task is one (%s) where that is asked for', async (asTask) => {
  const { server, said } = tapped('legacy');
  await server.listTools();
  const call = () =>
    server.relay('tools/call', { name: 'slow_compute', arguments: { seconds: 0.1 } }, { asTask });
  expect(await call()).toMatchObject({ result: { content: [{ text: 'Computed nothing in 0.1 s.' }] } });
  expect(said().includes('"method":"tasks/result"')).toBe(asTask);
});

test('A task goes to whoever takes it, and answers for it', async () => {
  const { server } = await opened('modern', 'http');
  const capabilities = { ...TASKS, elicitation: {} };
  const made = await server.relay(
    'tools/call',
    { name: 'confirm_delete', arguments: { filename: 'a.txt' } },
    { capabilities, rounds: true },
  );
  if (made.kind !== 'task') throw new Error(`a ${made.kind} came`);
  const { taskId } = made.task;
  const ask = async (method: string, more = {}) => {
    const relayed = await server.relay(method, { taskId, ...more }, { capabilities });
    return (relayed as { result: Record<string, unknown> }).result;
  };
  await vi.waitFor(async () => {
    expect(await ask('tasks/get')).toMatchObject({
      taskId,
      status: 'input_required',
      ttlMs: 600_000,
      inputRequests: { confirmation: { method: 'elicitation/create' } },
    });
  }, 60_000);
  await ask('tasks/update', {
    inputResponses: { confirmation: { action: 'accept', content: { confirm: true } } },
  });
  await vi.waitFor(async () => {
    expect(await ask('tasks/get')).toMatchObject({
      status: 'completed',
      result: { content: [{ type: 'text', text: 'Deleted a.txt.' }] },
    });
  }, 60_000);
});
