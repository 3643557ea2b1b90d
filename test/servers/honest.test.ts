import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, http, open, stdio, until } from './support.ts';
import type { ChildProcess } from 'node:child_process';
import type { InputRequest } from '../../src/mcp/input.ts';
import type { Progress, ServerSpec } from '../../src/types.ts';

let url = '';
let child: ChildProcess | undefined;

beforeAll(async () => {
  child = spawn(process.execPath, [fixture('honest'), '--http'], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout! })) {
    url = (JSON.parse(line) as { url: string }).url;
    break;
  }
});
afterAll(() => child?.stdin?.end());

const WAYS: [string, () => ServerSpec, string][] = [
  ['modern over stdio', () => stdio('honest', [fixture('honest')]), '2026-07-28'],
  ['modern over HTTP', () => http('honest', url), '2026-07-28'],
  ['legacy over stdio', () => stdio('honest', [fixture('honest')], { era: 'legacy' }), '2025-11-25'],
];

describe.each(WAYS)('an honest server, %s,', (_way, spec, protocolVersion) => {
  test('is reached and does what its tools say', async () => {
    const { server, warnings } = open(spec());
    await server.ready();
    expect(server.info).toMatchObject({
      protocolVersion,
      serverInfo: { name: 'honest', version: '1.0.0' },
      instructions: 'Use echo to hear yourself.',
    });
    const tools = await server.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(['echo', 'slow', 'ask', 'region']));
    expect(await server.callTool('echo', { text: 'héllo' })).toEqual({
      content: [{ type: 'text', text: 'héllo' }],
    });
    expect(await server.callTool('fail', {})).toMatchObject({ isError: true });
    expect((await server.callTool('image', {})).content[1]).toMatchObject({
      type: 'image',
      mimeType: 'image/png',
    });
    expect(await server.callTool('structured', { city: 'Ulm' })).toMatchObject({
      structuredContent: { city: 'Ulm', celsius: 21.5 },
    });
    expect(await server.callTool('region', { region: 'München' })).toMatchObject({
      content: [{ text: 'in München' }],
    });
    expect(warnings()).toEqual([]);
  });

  test('reports progress, and stops when the call is cancelled', async () => {
    const { server } = open(spec());
    const progress: Progress[] = [];
    const result = await server.callTool(
      'slow',
      { steps: 3, delay: 5 },
      { onProgress: (seen) => progress.push(seen) },
    );
    expect(result.content).toEqual([{ type: 'text', text: 'done after 3 steps' }]);
    expect(progress).toEqual(
      [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })),
    );
    const cancel = new AbortController();
    const call = server.callTool(
      'slow',
      { steps: 1000, delay: 10 },
      { signal: cancel.signal, onProgress: () => cancel.abort() },
    );
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(await server.callTool('echo', { text: 'still here' })).toMatchObject({
      content: [{ text: 'still here' }],
    });
  });

  test('asks, and gets its answer', async () => {
    const { server } = open(spec());
    const asked: InputRequest[] = [];
    const result = await server.callTool(
      'ask',
      {},
      {
        onInput: async (request) => {
          asked.push(request);
          return { action: 'accept', content: { color: 'teal' } };
        },
      },
    );
    expect(result.content).toEqual([{ type: 'text', text: 'the color is teal' }]);
    expect(asked).toMatchObject([{ method: 'elicitation/create', params: { message: 'Which color?' } }]);
  });

  test('is declined, with a note, when nobody is there to answer', async () => {
    const { server } = open(spec());
    const notes: string[] = [];
    const result = await server.callTool('ask', {}, { onNote: (note) => notes.push(note) });
    expect(result.content).toEqual([{ type: 'text', text: 'no color: decline' }]);
    expect(notes).toEqual([
      'honest asked for input (elicitation/create), and nobody was there to answer; it was declined',
    ]);
  });

  test('tells when its tools change', async () => {
    const { server, events } = open(spec());
    const before = await server.listTools();
    // The change stream is opened in the background; a change before that is one of the gap.
    await server.callTool('grow', {});
    await until(() => events.some((event) => event.type === 'tools-changed'), 'a change');
    expect((await server.listTools()).length).toBeGreaterThan(before.length);
  });
});
