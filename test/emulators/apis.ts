/** The model APIs side by side, for tests that hold for all of them: each emulator, and the model that speaks to it. */
import { type Model, openModel } from '../../src/models/index.ts';
import { startAnthropic } from './anthropic.ts';
import { startGemini } from './gemini.ts';
import { startInteractions } from './gemini-interactions.ts';
import { startChat } from './openai-chat.ts';
import { startResponses } from './openai-responses.ts';
import type { Emulator, EmulatorScript } from './server.ts';

export interface Api {
  name: 'anthropic' | 'openai' | 'openai-chat' | 'gemini' | 'gemini-interactions';
  start(script: EmulatorScript): Promise<Emulator>;
  model(emulator: { url: string; key: string }): Model;
  /** The API's word for an answer that was cut at its output limit. */
  cut: string;
  /** Events before the first text of an answer that has nothing before it. */
  opening: number;
  /** Events after which an answer of short reasoning, 44 characters of text and a call is in the middle of each. */
  middle: { reasoning: number; text: number; call: number };
}

export const apis: Api[] = [
  {
    name: 'anthropic',
    start: startAnthropic,
    model: ({ url, key }) =>
      openModel('anthropic:claude-opus-5-5', { env: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url } }),
    cut: 'max_tokens',
    opening: 3,
    middle: { reasoning: 5, text: 10, call: 17 },
  },
  {
    name: 'openai',
    start: startResponses,
    model: ({ url, key }) =>
      openModel('openai:gpt-6-astra', { env: { OPENAI_API_KEY: key }, baseUrl: `${url}/v1/` }),
    cut: 'max_output_tokens',
    opening: 4,
    middle: { reasoning: 5, text: 13, call: 22 },
  },
  {
    name: 'openai-chat',
    start: startChat,
    model: ({ url, key }) =>
      openModel('openai-chat:some-model', { env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` } }),
    cut: 'length',
    opening: 1,
    middle: { reasoning: 2, text: 5, call: 12 },
  },
  {
    name: 'gemini',
    start: startGemini,
    model: ({ url, key }) =>
      openModel('gemini:gemini-3.8-flash', { env: { GEMINI_API_KEY: key }, baseUrl: url }),
    cut: 'MAX_TOKENS',
    opening: 0,
    middle: { reasoning: 1, text: 4, call: 7 },
  },
  {
    name: 'gemini-interactions',
    start: startInteractions,
    model: ({ url, key }) =>
      openModel('gemini-interactions:gemini-3.8-flash', { env: { GEMINI_API_KEY: key }, baseUrl: url }),
    cut: 'incomplete',
    opening: 2,
    middle: { reasoning: 3, text: 8, call: 12 },
  },
];
