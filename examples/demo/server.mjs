// A small MCP server of the modern revision (2026-07-28), for the tour. It speaks over stdio.
import { fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const object = (properties, required = Object.keys(properties)) =>
  fromJsonSchema({ type: 'object', properties, required, additionalProperties: false });

function demo() {
  const server = new McpServer(
    { name: 'midspan-demo', version: '1.0.0', title: 'Demo' },
    { instructions: 'Counts words, counts down, and greets whoever says their name.' },
  );

  server.registerTool(
    'count_words',
    {
      title: 'Count words',
      description: 'Counts the words and lines of a text.',
      inputSchema: object({ text: { type: 'string', description: 'The text to count in' } }),
      outputSchema: object({ words: { type: 'integer' }, lines: { type: 'integer' } }),
      annotations: { readOnlyHint: true },
    },
    async ({ text }) => {
      const counts = {
        words: text.split(/\s+/).filter(Boolean).length,
        lines: text.split('\n').filter(Boolean).length,
      };
      return { content: [{ type: 'text', text: JSON.stringify(counts) }], structuredContent: counts };
    },
  );

  server.registerTool(
    'countdown',
    {
      description: 'Counts down from a number, reporting progress at each step.',
      inputSchema: object({ from: { type: 'integer', minimum: 1, maximum: 10 } }),
      annotations: { readOnlyHint: true },
    },
    async ({ from }, ctx) => {
      const { progressToken } = ctx.mcpReq._meta ?? {};
      for (let left = from; left > 0; left -= 1) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress: from - left + 1, total: from, message: `${left}` };
          await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return { content: [{ type: 'text', text: `Counted down from ${from}.` }] };
    },
  );

  server.registerTool(
    'greet',
    { description: 'Asks the person for their name and greets them.', inputSchema: object({}) },
    async (_args, ctx) => {
      const answer = ctx.mcpReq.inputResponses?.who;
      if (answer === undefined) {
        return inputRequired({
          inputRequests: {
            who: inputRequired.elicit({
              message: 'What is your name?',
              requestedSchema: {
                type: 'object',
                properties: { name: { type: 'string' } },
                required: ['name'],
              },
            }),
          },
        });
      }
      const name = answer.action === 'accept' ? answer.content.name : 'stranger';
      return { content: [{ type: 'text', text: `Hello, ${name}!` }] };
    },
  );

  return server;
}

serveStdio(demo);
