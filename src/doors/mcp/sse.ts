/**
 * HTTP+SSE of 2024-11-05, for clients that know nothing newer: one stream for everything that a client hears, and an address
 * that it posts its messages to. Served only where it is asked for.
 */
import { randomUUID } from 'node:crypto';
import { JsonLimitError, parseJson } from '../../mcp/json.ts';
import { isObject, PARSE_ERROR, readMessage } from '../../mcp/message.ts';
import { refuse } from '../http/answers.ts';
import type { Owner } from '../../servers/server.ts';
import type { Carrier } from '../http/door.ts';
import { Reply } from './reply.ts';
import { LegacySession } from './sessions.ts';

/** Streams of one principal at a time. */
export const STREAMS_MAX = 256;

export interface SseDoor {
  /** `/sse` and `/sse/<label>`: a client opens its stream. */
  readonly stream: Carrier;
  /** `/messages` and `/messages/<label>`: it posts a message. */
  readonly messages: Carrier;
  close(): void;
}

/** @param onGone hears of each client that has left. */
export function sseDoor(onGone?: (owner: Owner) => void): SseDoor {
  const sessions = new Map<string, { session: LegacySession; reply: Reply }>();
  return {
    stream({ endpoint, principal, request, response }) {
      if (request.method !== 'GET')
        return refuse(response, 405, 'Only GET is answered here', { allow: 'GET' });
      const own = [...sessions.values()].filter(({ session }) => session.principal.id === principal.id);
      if (own.length >= STREAMS_MAX)
        return refuse(response, 429, `The limit is ${STREAMS_MAX} streams at a time`);
      const id = randomUUID();
      const reply = new Reply(response);
      const tell = (json: string): void => reply.event(json);
      const outlet = { send: tell, answer: tell, drop: () => undefined };
      const session = new LegacySession({ id, endpoint, principal, outlet });
      sessions.set(id, { session, reply });
      response.once('close', () => {
        sessions.delete(id);
        session.close();
        onGone?.({ principal: principal.id, client: id });
      });
      const path = endpoint.label === undefined ? '' : `/${encodeURIComponent(endpoint.label)}`;
      reply.field(`event: endpoint\ndata: /messages${path}?sessionId=${id}`);
    },
    async messages({ endpoint, principal, request, response, body }) {
      if (request.method !== 'POST')
        return refuse(response, 405, 'Only POST is answered here', { allow: 'POST' });
      if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
        return refuse(response, 415, 'The body must be application/json');
      const id = new URL(request.url ?? '/', 'http://gateway').searchParams.get('sessionId') ?? '';
      const { session } = sessions.get(id) ?? {};
      if (session?.principal.id !== principal.id || session.endpoint.label !== endpoint.label)
        return refuse(response, 404, 'There is no such session (any more): GET /sse opens another');
      let message;
      try {
        message = parseJson(body.toString('utf8'));
      } catch (error) {
        const problem = error instanceof JsonLimitError ? error.message : 'The body is not JSON';
        return refuse(response, 400, problem, {}, PARSE_ERROR);
      }
      if (!isObject(message)) return refuse(response, 400, 'The body is not a JSON-RPC message');
      response.writeHead(202, { 'content-length': 0 }).end();
      return session.receive(readMessage(message));
    },
    close() {
      for (const { session, reply } of sessions.values()) {
        session.close();
        reply.close();
      }
    },
  };
}
