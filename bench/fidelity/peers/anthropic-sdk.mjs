import Anthropic from '@anthropic-ai/sdk';
import { mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp';
import { listTools, sdkVersion, withClients } from './clients.mjs';
import { packageVersion } from './version.mjs';

export const columns = [
  {
    peer: 'Anthropic SDK',
    packages: {
      '@anthropic-ai/sdk': packageVersion('@anthropic-ai/sdk'),
      '@modelcontextprotocol/sdk': sdkVersion,
    },
    api: 'anthropic',
    run: ({ servers, access, model, strict, signal }) =>
      withClients(servers, async (clients) => {
        const tools = [];
        for (const client of clients)
          tools.push(...mcpTools(await listTools(client), client, strict ? { strict } : {}));
        const anthropic = new Anthropic({
          authToken: access.key,
          apiKey: null,
          baseURL: access.origin,
          maxRetries: 0,
        });
        const message = await anthropic.beta.messages.toolRunner(
          {
            model,
            max_tokens: 1024,
            messages: [{ role: 'user', content: 'Go on.' }],
            tools,
            max_iterations: 4,
            thread: false,
          },
          { signal },
        );
        return { text: message.content.map((block) => block.text ?? '').join('') };
      }),
  },
];
