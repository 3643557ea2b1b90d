import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { packageVersion } from './version.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;

const providers = {
  anthropic: {
    name: '@ai-sdk/anthropic',
    model: ({ origin, key }, model) => createAnthropic({ authToken: key, baseURL: `${origin}/v1` })(model),
  },
  'openai-responses': {
    name: '@ai-sdk/openai',
    model: ({ origin, key }, model) =>
      createOpenAI({ apiKey: key, baseURL: `${origin}/v1` }).responses(model),
  },
  'openai-chat': {
    name: '@ai-sdk/openai',
    model: ({ origin, key }, model) => createOpenAI({ apiKey: key, baseURL: `${origin}/v1` }).chat(model),
  },
  gemini: {
    name: '@ai-sdk/google',
    model: ({ origin, key }, model) =>
      createGoogleGenerativeAI({ apiKey: key, baseURL: `${origin}/v1beta` })(model),
  },
  'gemini-interactions': {
    name: '@ai-sdk/google',
    model: ({ origin, key }, model) =>
      createGoogleGenerativeAI({ apiKey: key, baseURL: `${origin}/v1beta` }).interactions(model),
  },
};

const column = ([api, provider]) => ({
  peer: 'AI SDK',
  packages: {
    ai: packageVersion('ai'),
    '@ai-sdk/mcp': packageVersion('@ai-sdk/mcp'),
    [provider.name]: packageVersion(provider.name),
  },
  api,
  async run({ servers, access, model, strict, signal }) {
    const clients = [];
    try {
      // The documented way to use several servers: spread their tools into one object.
      const tools = {};
      for (const { url } of servers) {
        const client = await createMCPClient({ transport: { type: 'http', url } });
        clients.push(client);
        Object.assign(tools, await client.tools());
      }
      if (strict) for (const tool of Object.values(tools)) tool.strict = true;
      const { text } = await generateText({
        model: provider.model(access, model),
        tools,
        prompt: 'Go on.',
        stopWhen: stepCountIs(4),
        maxRetries: 0,
        abortSignal: signal,
      });
      return { text };
    } finally {
      await Promise.allSettled(clients.map((client) => client.close()));
    }
  },
});

export const columns = Object.entries(providers).map(column);
