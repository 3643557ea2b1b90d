// Streamable HTTP of 2025-11-25: sessions, a stream per request, and streams that can be taken up again.
import { randomUUID } from 'node:crypto';
import { openEvents, readMessage, sendJson } from './http.mjs';
import { createLegacySession } from './legacy.mjs';
import { LEGACY_VERSIONS, failure } from './rpc.mjs';

/** Milliseconds after which a client may take up a stream again. */
const RETRY = 50;
/** Events and ended streams that a session keeps. */
const KEPT = 200;

/** One stream: its events have ids, so that what a client missed can be sent again. */
function createStream(id) {
  const events = [];
  let count = 0;
  let response;
  let isEnded = false;
  const write = ({ index, data }) => response?.write(`id: ${id}_${index}\ndata: ${data}\n\n`);
  return {
    /** Sends on `to` from now on, first what came after the event `last`. */
    attach(to, last = count) {
      response?.end();
      response = to;
      openEvents(to);
      // An event without data comes first, so that there is an id to take up from.
      to.write(`id: ${id}_${last}\nretry: ${RETRY}\ndata: \n\n`);
      for (const event of events) if (event.index > last) write(event);
      if (isEnded) to.end();
      to.on('close', () => {
        if (response === to) response = undefined;
      });
    },
    send(message) {
      count += 1;
      const event = { index: count, data: JSON.stringify(message) };
      events.push(event);
      if (events.length > KEPT) events.shift();
      write(event);
    },
    pause() {
      response?.end();
      response = undefined;
    },
    end() {
      isEnded = true;
      response?.end();
    },
  };
}

function createSession(features) {
  const own = createStream('own');
  const streams = new Map([['own', own]]);
  const byRequest = new Map();
  let next = 1;
  const session = createLegacySession(features, {
    send: (message, about) => (byRequest.get(about) ?? own).send(message),
    settled: (id) => {
      byRequest.get(id)?.end();
      byRequest.delete(id);
    },
    closeStream: (id) => byRequest.get(id)?.pause(),
  });
  return {
    session,
    stream: (id) => streams.get(id),
    open(requestId) {
      const id = String(next++);
      const stream = createStream(id);
      streams.set(id, stream);
      if (streams.size > KEPT) streams.delete([...streams.keys()][1]);
      byRequest.set(requestId, stream);
      return stream;
    },
    close() {
      session.close();
      for (const stream of streams.values()) stream.end();
    },
  };
}

const refuse = (response, status, text) =>
  sendJson(response, status, failure(null, { code: -32000, message: text }));

export function createLegacyHttp(features) {
  const sessions = new Map();

  async function initialize(message, response) {
    const id = randomUUID();
    let answer;
    const handshake = createSession(features);
    // The first answer is plain JSON, with the session's id beside it.
    handshake.open(message.id).send = (sent) => (answer = sent);
    await handshake.session.receive(message);
    sessions.set(id, handshake);
    sendJson(response, 200, answer, { 'mcp-session-id': id });
  }

  function resume(request, response, open) {
    const [id = 'own', last] = request.headers['last-event-id']?.split('_') ?? [];
    const stream = open.stream(id);
    if (stream === undefined) return refuse(response, 400, 'Unknown Last-Event-ID');
    return stream.attach(response, last === undefined ? undefined : Number(last));
  }

  return async (request, response) => {
    const message = request.method === 'POST' ? await readMessage(request) : undefined;
    if (message?.method === 'initialize') return initialize(message, response);
    const id = request.headers['mcp-session-id'];
    if (id === undefined) return refuse(response, 400, 'Mcp-Session-Id is required', message?.id);
    const open = sessions.get(id);
    if (open === undefined) return refuse(response, 404, 'There is no such session', message?.id);
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && !LEGACY_VERSIONS.includes(version)) {
      return refuse(response, 400, `Unsupported MCP-Protocol-Version ${version}`);
    }
    if (request.method === 'GET') return resume(request, response, open);
    if (request.method === 'DELETE') {
      sessions.delete(id);
      open.close();
      return sendJson(response, 204);
    }
    if (message === undefined) return sendJson(response, 405, undefined, { allow: 'GET, POST, DELETE' });
    if (message.method !== undefined && message.id !== undefined) open.open(message.id).attach(response);
    else sendJson(response, 202);
    return open.session.receive(message);
  };
}
