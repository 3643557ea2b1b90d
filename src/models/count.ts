/** Tokens of a request as the provider itself counts them, for the APIs that have an endpoint for it. */
import type { DialectId } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';
import type { Json, JsonObject } from '../types.ts';
import { ANTHROPIC_VERSION } from './anthropic.ts';
import { type Access, accessTo } from './api.ts';
import { requestObject } from './http.ts';

/** A model by its name, for what can be said of its tokens without opening it. */
export interface CountedModel {
  /** The model's name at its API. */
  model: string;
  dialect: DialectId;
  /** Undefined where nothing can count; then `reason` says why. */
  counter?: TokenCounter;
  reason?: string;
}

/**
 * Input tokens of the shortest conversation with these entries of a request's `tools`.
 * @throws MidspanError as a model's turn does: `model`, `unreachable`, `cancelled`.
 */
export type TokenCounter = (tools: readonly JsonObject[], signal: AbortSignal) => Promise<number>;

interface CountingApi {
  dialect: DialectId;
  names: { keys: readonly string[]; baseUrl: string; standard: string };
  path(model: string): string;
  headers(key: string): Record<string, string>;
  body(model: string, tools: readonly JsonObject[]): JsonObject;
  /** The member of the answer that holds the count. */
  member: string;
}

const withTools = (tools: readonly JsonObject[]): JsonObject =>
  tools.length === 0 ? {} : { tools: [...tools] };

const apis: Readonly<Record<string, CountingApi>> = {
  anthropic: {
    dialect: 'anthropic',
    names: {
      keys: ['ANTHROPIC_API_KEY'],
      baseUrl: 'ANTHROPIC_BASE_URL',
      standard: 'https://api.anthropic.com',
    },
    path: () => '/v1/messages/count_tokens',
    headers: (key) => ({ 'anthropic-version': ANTHROPIC_VERSION, authorization: `Bearer ${key}` }),
    body: (model, tools) => ({ model, messages: [{ role: 'user', content: '.' }], ...withTools(tools) }),
    member: 'input_tokens',
  },
  openai: {
    dialect: 'openai-responses',
    names: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL', standard: 'https://api.openai.com/v1' },
    path: () => '/responses/input_tokens',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    body: (model, tools) => ({ model, input: '.', ...withTools(tools) }),
    member: 'input_tokens',
  },
  gemini: {
    dialect: 'gemini',
    names: {
      keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      baseUrl: 'GOOGLE_GEMINI_BASE_URL',
      standard: 'https://generativelanguage.googleapis.com',
    },
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:countTokens`,
    headers: (key) => ({ 'x-goog-api-key': key }),
    // Only a whole request counts its tools.
    body: (model, tools) => ({
      generateContentRequest: {
        model: `models/${model}`,
        contents: [{ role: 'user', parts: [{ text: '.' }] }],
        ...withTools(tools),
      },
    }),
    member: 'totalTokens',
  },
};

const withoutCounting: Readonly<Record<string, { dialect: DialectId; reason: string }>> = {
  'openai-chat': { dialect: 'openai-chat', reason: 'Chat Completions has no endpoint that counts' },
  'gemini-interactions': {
    dialect: 'gemini-interactions',
    reason: 'the Interactions API has no endpoint that counts',
  },
};

/**
 * @param name as in `openModel`.
 * @throws MidspanError `usage` for a name of no API.
 */
export function countedModel(name: string, access: Access): CountedModel {
  const [, prefix = '', model = ''] = /^([a-z-]+):(.+)$/s.exec(name) ?? [];
  const uncounted = Object.hasOwn(withoutCounting, prefix) ? withoutCounting[prefix] : undefined;
  if (uncounted !== undefined) return { model, ...uncounted };
  const api = Object.hasOwn(apis, prefix) ? apis[prefix] : undefined;
  if (api === undefined) {
    throw new MidspanError({
      code: 'usage',
      what: `${JSON.stringify(name)} names no model of an API`,
      next: `Use one of ${[...Object.keys(apis), ...Object.keys(withoutCounting)].map((known) => `${known}:<model>`).join(', ')}`,
    });
  }
  const { dialect, names } = api;
  if (names.keys.every((key) => (access.env[key]?.trim() ?? '') === '')) {
    return { model, dialect, reason: `${names.keys[0]} is not set` };
  }
  const { key = '', base } = accessTo(name, access, names);
  return {
    model,
    dialect,
    async counter(tools, signal) {
      const answer = await requestObject({
        model: name,
        url: base + api.path(model),
        headers: { accept: 'application/json', ...api.headers(key) },
        body: api.body(model, tools),
        signal,
        env: access.env,
        key,
        signIn: `Check ${names.keys[0]}`,
      });
      return counted(answer[api.member], name);
    },
  };
}

function counted(value: Json | undefined, label: string): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new MidspanError({ code: 'model', label, what: 'the counting endpoint did not answer with a count' });
}
