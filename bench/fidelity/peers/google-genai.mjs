import { GoogleGenAI, mcpToTool } from '@google/genai';
import { sdkVersion, withClients } from './clients.mjs';
import { packageVersion } from './version.mjs';

export const columns = [
  {
    peer: 'Google Gen AI SDK',
    packages: { '@google/genai': packageVersion('@google/genai'), '@modelcontextprotocol/sdk': sdkVersion },
    api: 'gemini',
    run: ({ servers, access, model, signal }) =>
      withClients(servers, async (clients) => {
        const ai = new GoogleGenAI({ apiKey: access.key, httpOptions: { baseUrl: access.origin } });
        const { text } = await ai.models.generateContent({
          model,
          contents: 'Go on.',
          config: {
            tools: [mcpToTool(...clients)],
            automaticFunctionCalling: { maximumRemoteCalls: 4 },
            abortSignal: signal,
          },
        });
        return { text: text ?? '' };
      }),
  },
];
