/** Streams of the older era: what comes on which, and how a client takes one up again (mcp-spec 3.3, 19 to 21). */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BYTES_KEPT, EVENTS_KEPT, Streams } from '../../../src/doors/mcp/streams.ts';
import type { JsonObject } from '../../../src/types.ts';
import {
  type Door,
  type Event,
  eventsOf,
  FORMS,
  isStream,
  legacyClient,
  nextOf,
  openDoor,
  type Opening,
  openServers,
  type Servers,
  textOf,
} from './support.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await openServers({ asker: ['asker'], asks: ['raw', 'asks'], honest: ['honest'] });
});
afterAll(() => servers.close());

const doors: Door[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

async function open(opening: Opening = {}) {
  const door = await openDoor(servers.host);
  doors.push(door);
  return { door, client: await legacyClient(door.url, opening) };
}

type Client = Awaited<ReturnType<typeof legacyClient>>;

const SLOW = { name: 'honest__slow', arguments: { steps: 6, delay: 60 } };
const progressOf = (events: readonly Event[]): unknown[] =>
  events.flatMap(({ data }) =>
    data?.['method'] === 'notifications/progress' ? [(data['params'] as JsonObject)['progress']] : [],
  );

/** Begins a call and breaks its stream after some events. */
async function broken(
  client: Client,
  params: JsonObject,
  { after, meta = {}, id = 'call' }: { after: number; meta?: JsonObject; id?: string },
) {
  const given = new AbortController();
  const response = await client.send('tools/call', params, { id, meta, signal: given.signal });
  const events: Event[] = [];
  for await (const event of eventsOf(response)) {
    events.push(event);
    if (events.length === after) break;
  }
  given.abort();
  return events;
}

async function rest(response: Response): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

describe('The answer to a request', () => {
  it('is plain JSON when nothing comes before it', async () => {
    const { client } = await open();
    const response = await client.send('ping');
    expect(response.headers.get('content-type')).toBe('application/json');
    await response.text();
  });

  it('is a stream when it takes a while, or something comes before it', async () => {
    const { client } = await open();
    for (const [params, meta] of [
      [{ name: 'asker__sleep', arguments: { milliseconds: 200 } }, {}],
      [{ name: 'asker__steps', arguments: { count: 1 } }, { progressToken: 1 }],
    ] as const) {
      const response = await client.send('tools/call', params, { meta });
      expect(isStream(response)).toBe(true);
      await response.text();
    }
  });

  it('2025-11-25 begins with an event to take it up from, and says when', async () => {
    const { client } = await open();
    const [first, ...others] = await rest(
      await client.send('tools/call', SLOW, { meta: { progressToken: 1 } }),
    );
    expect(first).toEqual({
      id: expect.any(String) as string,
      retry: expect.stringMatching(/^\d+$/) as string,
    });
    expect(progressOf(others)).toEqual([1, 2, 3, 4, 5, 6]);
    const ids = [first, ...others].map((event) => event?.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])('%s begins with the first message', async (version) => {
    const { client } = await open({ version });
    const [first] = await rest(await client.send('tools/call', SLOW, { meta: { progressToken: 1 } }));
    expect(first).toMatchObject({ id: expect.any(String) as string, data: {} });
    expect(first).not.toHaveProperty('retry');
  });
});

describe('A stream that breaks', () => {
  it('does not cancel: the call goes on, and the rest of its stream is there', async () => {
    const { client } = await open();
    const before = servers.heard('honest', 'notifications/cancelled').length;
    const seen = await broken(client, SLOW, { after: 3, meta: { progressToken: 1 } });
    expect(progressOf(seen)).toEqual([1, 2]);
    const others = await rest(await client.get({ 'last-event-id': seen.at(-1)?.id as string }));
    expect(progressOf(others)).toEqual([3, 4, 5, 6]);
    expect(others.at(-1)?.data).toMatchObject({
      id: 'call',
      result: { content: [{ text: 'done after 6 steps' }] },
    });
    expect(servers.heard('honest', 'notifications/cancelled')).toHaveLength(before);
  });

  it('is taken up from its beginning, after its end, and more than once', async () => {
    const { client } = await open();
    const [first] = await broken(client, SLOW, { after: 1, meta: { progressToken: 1 } });
    const last = { 'last-event-id': first?.id as string };
    for (let times = 0; times < 3; times += 1) {
      const events = await rest(await client.get(last));
      expect(progressOf(events)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(events.at(-1)?.data).toMatchObject({ id: 'call' });
    }
  });

  it('breaks again while it is taken up, and nothing is lost or comes twice', async () => {
    const { client } = await open();
    const all = await broken(client, SLOW, { after: 2, meta: { progressToken: 1 } });
    for (let isOver = false; !isOver;) {
      const given = new AbortController();
      const response = await client.get({ 'last-event-id': all.at(-1)?.id as string }, given.signal);
      for await (const event of eventsOf(response)) {
        if (event.data === undefined) continue;
        all.push(event);
        isOver = event.data['id'] === 'call';
        break;
      }
      given.abort();
    }
    expect(progressOf(all)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('brings nothing of another stream', async () => {
    const { client } = await open();
    const [one, two] = await Promise.all(
      ['one', 'two'].map((id) => broken(client, SLOW, { after: 2, meta: { progressToken: id }, id })),
    );
    const own = await rest(await client.get({ 'last-event-id': one?.at(-1)?.id as string }));
    for (const { data } of own) {
      if (data === undefined) continue;
      expect(
        data['method'] === undefined ? data['id'] : (data['params'] as JsonObject)['progressToken'],
      ).toBe('one');
    }
    const other = await rest(await client.get({ 'last-event-id': two?.at(-1)?.id as string }));
    expect(other.at(-1)?.data).toMatchObject({ id: 'two' });
  });

  it('is of its own session', async () => {
    const { door, client } = await open();
    const seen = await broken(client, SLOW, { after: 2, meta: { progressToken: 1 } });
    const last = { 'last-event-id': seen.at(-1)?.id as string };
    const other = await legacyClient(door.url);
    const response = await other.get(last);
    expect(response.status).toBe(400);
    await response.text();
    expect((await client.get({ ...last, authorization: 'Bearer eve' })).status).toBe(404);
    await rest(await client.get(last));
  });

  it.each(['', 'x', '1', '1_', '_1', '99_1', '1_-1', '1_1e3', '__proto__', '1_1_1'])(
    'is not known by the event %j',
    async (last) => {
      const { client } = await open();
      const response = await client.get({ 'last-event-id': last });
      // An empty one is none: that is the stream of the session.
      expect(response.status).toBe(last === '' ? 200 : 400);
      await response.body?.cancel();
    },
  );

  it('brings a question that came meanwhile, and the answer to it goes on', async () => {
    const { client } = await open({ capabilities: FORMS });
    const given = new AbortController();
    const params = { name: 'asks__echo', arguments: {} };
    const response = await client.send('tools/call', params, { id: 'call', signal: given.signal });
    const first = await eventsOf(response).next();
    given.abort();
    const events = eventsOf(await client.get({ 'last-event-id': (first.value as Event).id as string }));
    const question = await nextOf(events);
    expect(question).toMatchObject({ method: 'elicitation/create' });
    await client.reply(question['id'], { action: 'decline' });
    expect(await nextOf(events)).toMatchObject({ id: 'call', result: {} });
  });
});

/** What a response would be sent. */
class Written extends EventEmitter {
  writableEnded = false;
  destroyed = false;
  readonly writableLength = 0;
  text = '';
  writeHead(): void {}
  flushHeaders(): void {}
  write(text: string): void {
    this.text += text;
  }
  end(): void {
    this.writableEnded = true;
    this.emit('close');
  }
  get events(): string[] {
    return [...this.text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data as string);
  }
}

const taken = (streams: Streams, last: string): Written | undefined => {
  const written = new Written();
  return streams.resume(last, written as unknown as ServerResponse) ? written : undefined;
};

describe('What is kept of streams', () => {
  const says = fc.record({
    stream: fc.nat(3),
    size: fc.constantFrom(1, 100, BYTES_KEPT / 3, 2 * BYTES_KEPT),
  });

  it('is the last of each, in order, once, and within bounds', () => {
    fc.assert(
      fc.property(fc.array(says, { maxLength: 30 }), fc.boolean(), fc.nat(30), (said, isPrimed, from) => {
        const streams = new Streams();
        const open = Array.from({ length: 4 }, () => streams.open(isPrimed));
        const all: string[][] = open.map(() => []);
        const everything: string[] = [];
        for (const [count, { stream, size }] of said.entries()) {
          const json = `${count}:${'x'.repeat(size)}`;
          open[stream]?.event(json);
          all[stream]?.push(json);
          everything.push(json);
        }
        let bytes = 0;
        for (const [index, stream] of open.entries()) {
          const events = taken(streams, `${stream.id}_${from}`)?.events ?? [];
          const missed = all[index]?.slice(from) ?? [];
          expect(events).toEqual(missed.slice(missed.length - events.length));
          bytes += events.reduce((sum, each) => sum + each.length, 0);
        }
        // The last one is kept however large it is.
        expect(bytes).toBeLessThanOrEqual(Math.max(BYTES_KEPT, everything.at(-1)?.length ?? 0));
      }),
      { numRuns: 40 },
    );
  });

  it('holds the answer when it does not hold everything before it', () => {
    const streams = new Streams();
    const stream = streams.open(true);
    for (let count = 0; count < 2 * EVENTS_KEPT; count += 1) stream.event(String(count));
    stream.end('the answer');
    streams.forget(stream);
    const written = taken(streams, `${stream.id}_0`);
    expect(written?.events).toHaveLength(EVENTS_KEPT);
    expect(written?.events.at(-1)).toBe('the answer');
    expect(written?.writableEnded).toBe(true);
  });

  it('is forgotten once others have filled what is kept, with the stream', () => {
    const streams = new Streams();
    const [ended, open] = [streams.open(true), streams.open(true)];
    ended.event('a');
    ended.end('b');
    streams.forget(ended);
    open.event('of the open one');
    const busy = streams.open(true);
    for (let count = 0; count < EVENTS_KEPT - 2; count += 1) busy.event(String(count));
    // Half of it has gone; of the answer, nothing is missing.
    expect(taken(streams, `${ended.id}_1`)?.events).toEqual(['b']);
    for (let count = 0; count < 2; count += 1) busy.event(String(count));
    expect(taken(streams, `${ended.id}_1`)).toBeUndefined();
    // What is open may still say something.
    expect(taken(streams, `${open.id}_0`)?.writableEnded).toBe(false);
  });

  it('is bounded for all sessions together, the last word of each apart', () => {
    const store = { bytes: 0, most: 1_000 };
    const sessions = Array.from({ length: 20 }, () => new Streams(store));
    const open = sessions.map((streams) => streams.open(true));
    for (let round = 0; round < 5; round += 1)
      for (const stream of open) stream.event(`${round}${'x'.repeat(39)}`);
    expect(store.bytes).toBeLessThanOrEqual(1_000);
    for (const [index, streams] of sessions.entries())
      expect(taken(streams, `${open[index]?.id}_0`)?.events.at(-1)).toMatch(/^4/);
    for (const streams of sessions.slice(1)) streams.close();
    sessions[0]?.tidy();
    expect(store.bytes).toBe(0);
  });

  it('is nothing of a session that has ended', () => {
    const streams = new Streams();
    const stream = streams.open(true);
    stream.event('a');
    streams.close();
    expect(taken(streams, `${stream.id}_0`)).toBeUndefined();
  });
});

describe('The stream of a session', () => {
  it('is one: a second one takes over, and what comes comes once', async () => {
    const { client } = await open();
    const first = eventsOf(await client.get());
    const second = eventsOf(await client.get());
    await expect(nextOf(first)).rejects.toThrow('ended');
    await client.call('asker__others');
    const grown = await client.call('honest__grow');
    expect(textOf(grown)).toContain('added');
    for (let method: unknown = undefined; method !== 'notifications/tools/list_changed';)
      ({ method } = await nextOf(second));
    await client.end();
    await expect(nextOf(second)).rejects.toThrow('ended');
  });

  it('is taken up where it broke', async () => {
    const { client } = await open();
    const given = new AbortController();
    const response = await client.get({}, given.signal);
    const { value } = await eventsOf(response).next();
    given.abort();
    await client.call('honest__grow');
    // The news comes while nobody listens.
    const other = await legacyClient(doors[0]?.url as string);
    const heard = eventsOf(await other.get());
    await client.call('honest__grow');
    await nextOf(heard);
    const events = eventsOf(await client.get({ 'last-event-id': (value as Event).id as string }));
    expect(await nextOf(events)).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  });

  it('hears nothing of what runs', async () => {
    const { client } = await open();
    const own = eventsOf(await client.get());
    await rest(await client.send('tools/call', SLOW, { meta: { progressToken: 1 } }));
    await client.end();
    await expect(nextOf(own)).rejects.toThrow('ended');
  });
});
