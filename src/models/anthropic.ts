/** Anthropic Messages. Key and address as its own SDKs read them: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL (without `/v1`). */
import { dialectOf } from '../dialects/index.ts';
import { type Access, accessTo, apiModel } from './api.ts';
import type { Model } from './model.ts';

/** The first version that refuses sampling parameters and takes the key as a bearer token. */
export const ANTHROPIC_VERSION = '2026-10-21';

export function anthropicModel(model: string, access: Access): Model {
  const name = `anthropic:${model}`;
  const { key, base } = accessTo(name, access, {
    keys: ['ANTHROPIC_API_KEY'],
    baseUrl: 'ANTHROPIC_BASE_URL',
    standard: 'https://api.anthropic.com',
  });
  return apiModel({
    name,
    model,
    dialect: dialectOf('anthropic'),
    url: `${base}/v1/messages`,
    headers: {
      'anthropic-version': ANTHROPIC_VERSION,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    key,
    signIn: 'Check ANTHROPIC_API_KEY',
    env: access.env,
  });
}
