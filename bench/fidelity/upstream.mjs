// One MCP server per path over Streamable HTTP (2025-06-18, stateless, plain JSON): lists what a feature defines, answers
// what it says, and writes down what it was called with. It is the same for every library that is measured.
import { createServer } from 'node:http';

export async function startUpstream() {
  /** @type {{ feature: object, calls: { server: string, name: string, arguments: object }[] }} */
  let current;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const label = (request.url ?? '/').slice(1);
      const message = request.method === 'POST' ? JSON.parse(text) : undefined;
      if (message?.id === undefined) {
        response.writeHead(message === undefined ? 405 : 202).end();
      } else {
        const answer = { jsonrpc: '2.0', id: message.id, ...answerTo(message, label, current) };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    /** Serves one feature from now on; the array grows with each call that arrives. */
    serve(feature) {
      current = { feature, calls: [] };
      const servers = Object.keys(feature.servers).map((label) => ({
        label,
        url: `http://127.0.0.1:${port}/${label}`,
      }));
      return { servers, calls: current.calls };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

function answerTo({ method, params }, label, { feature, calls }) {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'fidelity', version: '1.0.0' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list': {
      const tools = feature.servers[label] ?? [];
      const size = feature.page ?? tools.length;
      const start = Number(params?.cursor ?? 0);
      const more = start + size < tools.length ? { nextCursor: String(start + size) } : {};
      return { result: { tools: tools.slice(start, start + size), ...more } };
    }
    case 'tools/call':
      calls.push({ server: label, name: params.name, arguments: params.arguments ?? {} });
      return feature.failure === undefined ? { result: feature.result } : { error: feature.failure };
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}
