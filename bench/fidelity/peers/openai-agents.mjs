import {
  Agent,
  MCPServerStreamableHttp,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
} from '@openai/agents';
import { createRequire } from 'node:module';
import { packageVersion } from './version.mjs';

setTracingDisabled(true);
// The very client that the library itself uses.
const { default: OpenAI } = await import(
  createRequire(import.meta.resolve('@openai/agents')).resolve('openai')
);

const column = (api, Model) => ({
  peer: 'OpenAI Agents',
  packages: { '@openai/agents': packageVersion('@openai/agents') },
  api,
  async run({ servers, access, model, strict, signal }) {
    const mcpServers = servers.map(({ label, url }) => new MCPServerStreamableHttp({ name: label, url }));
    try {
      for (const server of mcpServers) await server.connect();
      const client = new OpenAI({ apiKey: access.key, baseURL: `${access.origin}/v1`, maxRetries: 0 });
      const agent = new Agent({
        name: 'fidelity',
        model: new Model(client, model),
        mcpServers,
        mcpConfig: {
          // Without it the library refuses two servers with the same tool; it is off unless asked for.
          includeServerInToolNames: servers.length > 1,
          ...(strict ? { convertSchemasToStrict: true } : {}),
        },
      });
      const { finalOutput } = await run(agent, 'Go on.', { maxTurns: 4, signal });
      return { text: String(finalOutput) };
    } finally {
      await Promise.allSettled(mcpServers.map((server) => server.close()));
    }
  },
});

export const columns = [
  column('openai-responses', OpenAIResponsesModel),
  column('openai-chat', OpenAIChatCompletionsModel),
];
