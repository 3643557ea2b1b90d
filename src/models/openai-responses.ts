/** OpenAI Responses. Key and address as its own SDKs read them: OPENAI_API_KEY, OPENAI_BASE_URL (with `/v1`). */
import { dialectOf } from '../dialects/index.ts';
import { type Access, accessTo, apiModel } from './api.ts';
import type { Model } from './model.ts';

export function openaiResponsesModel(model: string, access: Access): Model {
  const name = `openai:${model}`;
  const { key, base } = accessTo(name, access, {
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    standard: 'https://api.openai.com/v1',
  });
  return apiModel({
    name,
    model,
    dialect: dialectOf('openai-responses'),
    url: `${base}/responses`,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    key,
    signIn: 'Check OPENAI_API_KEY',
    env: access.env,
  });
}
