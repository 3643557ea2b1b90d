// A server with one tool and a client, joined inside this process: an ordinary pair of the official SDK, without Midspan.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

export const inputSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    city: { type: 'string', description: 'City and country' },
    as: { type: 'string', enum: ['text', 'map'] },
  },
  required: ['city'],
};

/** A PNG of one pixel. */
export const map =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function weatherServer() {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  server.registerTool(
    'get_weather',
    { description: 'Current weather in a city', inputSchema: fromJsonSchema(inputSchema) },
    ({ city, as }) => {
      if (city === 'Atlantis') return { content: [{ type: 'text', text: 'No such city' }], isError: true };
      if (as === 'map') return { content: [{ type: 'image', data: map, mimeType: 'image/png' }] };
      return { content: [{ type: 'text', text: `${city}: 21 °C, light rain` }] };
    },
  );
  return server;
}

/** A connected client of the given era, and the methods of everything that goes over its wire, in order. */
export async function weatherClient(era) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const wire = [];
  const send = ours.send.bind(ours);
  ours.send = (message, options) => {
    wire.push(message.method);
    return send(message, options);
  };
  serveStdio(weatherServer, { transport: theirs });
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'smallest', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(ours);
  return { client, wire };
}
