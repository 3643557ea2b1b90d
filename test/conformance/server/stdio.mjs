// Either era over stdio: one message per line; the end of the input is the end of the server.
import { createInterface } from 'node:readline';
import { createLegacySession } from './legacy.mjs';
import { createModern } from './modern.mjs';
import { CODES, RpcError, failure } from './rpc.mjs';

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

function createLegacyStdio(features) {
  const session = createLegacySession(features, { send });
  return (message) => session.receive(message);
}

function createModernStdio(features) {
  const modern = createModern(features);
  const running = new Map();
  return async (message) => {
    if (message.method === 'notifications/cancelled') running.get(message.params.requestId)?.abort();
    if (message.method === undefined || message.id === undefined) return;
    const controller = new AbortController();
    running.set(message.id, controller);
    const answer = await modern.handle(message, { notify: send, signal: controller.signal });
    running.delete(message.id);
    if (answer !== undefined) send(answer);
  };
}

export function serveStdio(era, features) {
  const receive = era === 'legacy' ? createLegacyStdio(features) : createModernStdio(features);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    try {
      void receive(JSON.parse(line));
    } catch {
      send(failure(null, new RpcError(CODES.invalidRequest, 'Not a JSON-RPC message')));
    }
  });
  lines.on('close', () => process.exit(0));
}
