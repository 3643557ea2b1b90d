/** Gemini Interactions. Key and address as for generateContent: GEMINI_API_KEY or GOOGLE_API_KEY, GOOGLE_GEMINI_BASE_URL. */
import { dialectOf } from '../dialects/index.ts';
import { type Access, accessTo, apiModel } from './api.ts';
import type { Model } from './model.ts';

export function geminiInteractionsModel(model: string, access: Access): Model {
  const name = `gemini-interactions:${model}`;
  const { key, base } = accessTo(name, access, {
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'GOOGLE_GEMINI_BASE_URL',
    standard: 'https://generativelanguage.googleapis.com',
  });
  return apiModel({
    name,
    model,
    dialect: dialectOf('gemini-interactions'),
    url: `${base}/v1beta/interactions`,
    headers: key === undefined ? {} : { 'x-goog-api-key': key },
    key,
    signIn: 'Check GEMINI_API_KEY',
    env: access.env,
  });
}
