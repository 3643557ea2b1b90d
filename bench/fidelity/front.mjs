// Stands before an emulator, records the requests as they came, and takes out what the real API lets pass though the
// emulator, made to keep our own requests clean, does not.
import { createServer } from 'node:http';

const TOLERATED = {
  // Its SDK's types allow null for both members, and its MCP helper sends it.
  anthropic: (tool) => ({ ...tool, input_schema: withoutNulls(withoutDialect(tool.input_schema)) }),
  'openai-responses': (tool) => ({ ...tool, parameters: withoutDialect(tool.parameters) }),
  'openai-chat': (tool) => ({
    ...tool,
    function: { ...tool.function, parameters: withoutDialect(tool.function?.parameters) },
  }),
  // The names of types are read in lower case too: the API's own examples write them so.
  gemini: (tool) => ({
    ...tool,
    functionDeclarations: tool.functionDeclarations?.map((one) =>
      one.parameters === undefined ? one : { ...one, parameters: withUpperTypes(one.parameters) },
    ),
  }),
  'gemini-interactions': (tool) => tool,
};

export async function startFront(emulator, api) {
  const requests = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const record = { body, status: 0, refusal: '' };
      requests.push(record);
      const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
      const answer = await fetch(emulator.url + request.url, {
        method: 'POST',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: JSON.stringify(
          Array.isArray(body.tools) ? { ...body, tools: body.tools.map(TOLERATED[api]) } : body,
        ),
      });
      const text = await answer.text();
      record.status = answer.status;
      if (answer.status >= 400) record.refusal = String(JSON.parse(text).error?.message ?? text);
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(text);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

function withoutDialect(schema) {
  if (schema === undefined || schema === null) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

function withoutNulls(schema) {
  return Object.fromEntries(Object.entries(schema ?? {}).filter(([, value]) => value !== null));
}

function withUpperTypes(node) {
  if (Array.isArray(node)) return node.map(withUpperTypes);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toUpperCase() : withUpperTypes(value),
    ]),
  );
}
