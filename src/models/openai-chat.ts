/**
 * OpenAI Chat Completions and whatever is compatible with it: Ollama, vLLM, LM Studio, llama.cpp and many services.
 * Key and address as OpenAI's SDKs read them: OPENAI_API_KEY, OPENAI_BASE_URL (with `/v1`).
 */
import { dialectOf } from '../dialects/index.ts';
import { type Access, accessTo, apiModel } from './api.ts';
import type { Model } from './model.ts';

export function openaiChatModel(model: string, access: Access): Model {
  const name = `openai-chat:${model}`;
  const { key, base } = accessTo(name, access, {
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    standard: 'https://api.openai.com/v1',
  });
  return apiModel({
    name,
    model,
    dialect: dialectOf('openai-chat'),
    url: `${base}/chat/completions`,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    key,
    signIn: 'Check OPENAI_API_KEY',
    env: access.env,
  });
}
