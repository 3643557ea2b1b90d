/** One conversation that goes from provider to provider: each gets all that was said, and no other's reasoning. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../src/dialects/index.ts';
import { type Model, openModel } from '../../src/models/index.ts';
import { run } from '../../src/run/run.ts';
import { type Api, apis } from '../emulators/apis.ts';
import { startGemini } from '../emulators/gemini.ts';
import { startChat } from '../emulators/openai-chat.ts';
import type { Emulator, EmulatorScript } from '../emulators/server.ts';
import { call, collect, done, fakeHost, ofType } from './support.ts';

const emulators: Emulator[] = [];
afterEach(async () => {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
});

async function start(begin: (script: EmulatorScript) => Promise<Emulator>, script: EmulatorScript) {
  const emulator = await begin(script);
  emulators.push(emulator);
  return emulator;
}

const host = fakeHost({ a__x: () => done('fine') });

/** Puts a question to a model behind what was said so far; the transcript goes through JSON, as a stored one does. */
async function ask(model: Model, messages: readonly Message[], content: string) {
  const before = JSON.parse(JSON.stringify(messages)) as Message[];
  const { events, result } = await collect(
    run(host, { model, messages: [...before, { role: 'user', content }] }),
  );
  expect([model.name, result.reason, result.detail]).toEqual([model.name, 'complete', undefined]);
  return { messages: result.messages, warnings: ofType(events, 'warning').map(({ message }) => message) };
}

const thought = (name: string): string => `I think in the way of ${name.replaceAll('-', ' ')}`;
const twoTurns = (name: string, round: number) => [
  { reasoning: `${thought(name)}.`, text: `One by ${name}.`, calls: [call('a__x', `${name}_${round}`)] },
  { text: `Round ${round} by ${name}.` },
];

describe('one conversation on all providers in turn', () => {
  it('keeps what was said, and gives each only its own reasoning', async () => {
    const order = [
      'anthropic',
      'openai',
      'openai-chat',
      'gemini',
      'gemini-interactions',
      'anthropic',
    ] as const;
    const running = new Map<string, Emulator>();
    let messages: readonly Message[] = [];
    for (const [round, name] of order.entries()) {
      const api = apis.find((each) => each.name === name) as Api;
      const emulator =
        running.get(name) ??
        (await start(
          (script) => api.start(script),
          [...twoTurns(name, 0), ...twoTurns(name, order.length - 1)],
        ));
      running.set(name, emulator);
      const asked = emulator.requests.length;
      const answer = await ask(api.model(emulator), messages, `Question ${round}?`);
      messages = answer.messages;
      const [first, second] = emulator.requests.slice(asked).map(({ body }) => JSON.stringify(body));
      expect(second).toMatch(new RegExp(SECRETS[name]));
      for (const earlier of order.slice(0, round)) {
        expect(first).toContain(`One by ${earlier}.`);
        if (earlier === name) continue;
        expect(first).not.toContain(thought(earlier));
        expect(first).not.toMatch(new RegExp(SECRETS[earlier]));
        expect(answer.warnings.join('\n')).toMatch(
          /reasoning and provider items of .* turns are not sent to/,
        );
      }
      expect(first?.match(/fine/g)?.length ?? 0).toBe(round);
    }
    const back = running.get('anthropic')?.requests.at(-1);
    expect(JSON.stringify(back?.body)).toContain(thought('anthropic'));
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(order.length);
  });

  it('does not take what one server of an API thought to another server of that API', async () => {
    const open = ({ url, key }: Emulator): Model =>
      openModel('openai-chat:some-model', { env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` } });
    const thinking = await start(startChat, twoTurns('chat', 0));
    const plain = await start(startChat, [{ text: 'Yes.' }]);
    const first = await ask(open(thinking), [], 'One?');
    expect(JSON.stringify(thinking.requests[1]?.body)).toContain(thought('chat'));
    const second = await ask(open(plain), first.messages, 'Two?');
    expect(JSON.stringify(plain.requests[0]?.body)).not.toContain(thought('chat'));
    expect(second.warnings).toEqual([
      `reasoning and provider items of ${thinking.url} turns are not sent to ${plain.url}`,
    ]);
  });

  it('goes on in the middle of a turn with a newer Gemini, which wants signatures that the older one did not give', async () => {
    const [turn] = twoTurns('gemini', 0);
    const emulator = await start(startGemini, [turn ?? {}, { text: 'Yes.' }]);
    const open = (model: string): Model =>
      openModel(`gemini:${model}`, { env: { GEMINI_API_KEY: emulator.key }, baseUrl: emulator.url });
    const messages: Message[] = [{ role: 'user', content: 'One?' }];
    const older = await run(host, { model: open('gemini-2.5-flash'), messages, limits: { turns: 1 } }).result;
    expect(older.reason).toBe('max-turns');
    expect(JSON.stringify(older.messages)).not.toContain('Signature');
    const newer = await run(host, { model: open('gemini-3.8-flash'), messages: older.messages }).result;
    expect([newer.reason, newer.text]).toEqual(['complete', 'Yes.']);
  });
});

/** What each provider's own items hold beside the words, as its emulator makes them. */
const SECRETS: Record<Api['name'], string> = {
  anthropic: '"thinking"',
  openai: 'encrypted_content":"',
  'openai-chat': 'reasoning_content',
  gemini: 'signature_\\d+_a__x',
  'gemini-interactions': 'interactions_signature',
};
