/** `GET /models` of an OpenAI-compatible server: the names of its models, read strictly. */
import { MidspanError } from '../errors.ts';
import type { Json } from '../types.ts';
import { type Access, accessTo } from './api.ts';
import { requestObject } from './http.ts';

/** More than any server has loaded, and what services list at most. */
const MOST_MODELS = 10_000;
const LONGEST_NAME = 256;
/** Models whose names say that they hold no conversation. */
const OTHER_WORK = /embed|rerank|whisper|\btts\b|moderation|(?:^|[/-])bge-|dall-e|stable-diffusion/i;

/**
 * The models that can hold a conversation, in the server's order.
 * @param subject what the list is wanted for, for errors.
 * @param options.attempts requests at most, as in send.ts.
 * @throws MidspanError as a model's turn does; `model` when the answer is no list of models.
 */
export async function listModels(
  subject: string,
  access: Access,
  { signal, attempts }: { signal: AbortSignal; attempts?: number },
): Promise<string[]> {
  const { key, base } = accessTo(subject, access, {
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    standard: 'https://api.openai.com/v1',
  });
  const { data } = await requestObject({
    model: subject,
    url: `${base}/models`,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    signal,
    env: access.env,
    ...(attempts !== undefined && { attempts }),
    key,
    signIn: 'Check OPENAI_API_KEY',
  });
  const names = namesIn(data);
  if (names !== undefined) return names.filter((name) => !OTHER_WORK.test(name));
  throw new MidspanError({
    code: 'model',
    label: subject,
    what: `${base}/models did not answer with a list of models`,
    next: 'Check the base URL, or name the model',
  });
}

/** All or nothing: whatever listens on a port may answer with something else. */
function namesIn(data: Json | undefined): string[] | undefined {
  if (!Array.isArray(data) || data.length > MOST_MODELS) return undefined;
  const names = data.map((entry) =>
    typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry.id : undefined,
  );
  return names.every(isName) ? names : undefined;
}

function isName(name: Json | undefined): name is string {
  // oxlint-disable-next-line no-control-regex
  return typeof name === 'string' && name.length <= LONGEST_NAME && /^[^\s\u0000-\u001f\u007f]+$/.test(name);
}
