import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { type Ask, type Host, openHost, type OpenOptions } from '../../src/index.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/servers/${name}.mjs`, import.meta.url));
const says = (script: object): object => ({
  command: process.execPath,
  args: [fixture('says'), JSON.stringify(script)],
});
const raw = (behavior: string): object => ({ command: process.execPath, args: [fixture('raw'), behavior] });

const open: Host[] = [];
async function host(mcpServers: Record<string, object>, options: OpenOptions = {}): Promise<Host> {
  const opened = await openHost({ policy: 'allow', mcpServers }, { env: { ...process.env }, ...options });
  open.push(opened);
  return opened;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

test('a listener that throws harms neither the host nor the other listeners', async () => {
  const rejections: unknown[] = [];
  const hear = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', hear);
  const opened = await host(
    { good: raw('legacy'), bad: raw('list is no list') },
    {
      onEvent: () => {
        throw new Error('a bug of the listener');
      },
    },
  );
  const heard: string[] = [];
  opened.on(({ type }) => heard.push(type));
  expect(opened.servers().map(({ state }) => state)).toEqual(['ready', 'ready']);
  await opened.close();
  process.off('unhandledRejection', hear);
  expect(heard).toContain('server');
  expect(rejections).toEqual([]);
});

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'vscode://x', 'http://', 'no address'])(
  'an address that may not be opened (%s) is put to nobody',
  async (url) => {
    const asked: Ask[] = [];
    const params = { mode: 'url', message: 'Sign in', url, elicitationId: 'e' };
    const opened = await host(
      { s: raw('asks') },
      {
        asks: {
          async ask(ask) {
            asked.push(ask);
            return { action: 'accept' };
          },
        },
      },
    );
    const outcome = await opened.call({ label: 's', tool: 'echo', arguments: { params } });
    expect(outcome.result.content[0]!['text']).toBe('{"action":"decline"}');
    expect(asked).toEqual([]);
  },
);

test('servers that hang, die, flood or talk nonsense delay and break no other', async () => {
  const opened = await host(
    {
      hangs: raw('never answers'),
      dies: raw('dies at import'),
      nonsense: raw('unknown version'),
      quits: says({ 'notifications/initialized': [{ exit: 1 }] }),
      deep: says({
        'tools/list': [
          {
            repeat: [
              ['{"a":', 100_000],
              ['1', 1],
              ['}', 100_000],
            ],
          },
        ],
      }),
      floods: says({
        'tools/list': [{ times: 20_000, frame: { method: 'notifications/tools/list_changed' } }],
      }),
      endless: raw('endless pages'),
      good: raw('legacy'),
    },
    { startWithin: 4000 },
  );
  const outcome = await opened.call({ label: 'good', tool: 'echo', arguments: { a: 1 } });
  expect(outcome).toMatchObject({ status: 'done', result: { content: [{ text: '{"a":1}' }] } });
  const status = (label: string) => opened.servers().find((each) => each.label === label)!;
  expect(status('good')).toMatchObject({ state: 'ready', tools: 2 });
  expect(status('hangs')).toMatchObject({ state: 'starting' });
  for (const label of ['dies', 'nonsense']) {
    const { message } = await vi.waitUntil(() => status(label).error, { timeout: 120_000, interval: 10 });
    expect(message).toMatch(`${label}: `);
  }
  const hanging = opened.call({ label: 'floods', tool: 'echo', arguments: {} });
  await opened.close();
  expect((await hanging).result.isError).toBe(true);
});
