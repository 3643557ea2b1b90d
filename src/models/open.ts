/** Opens models by the names that users give them. */
import type { DialectId } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';
import { anthropicModel } from './anthropic.ts';
import type { Access } from './api.ts';
import { MODEL_FORMS } from './forms.ts';
import { geminiInteractionsModel } from './gemini-interactions.ts';
import { geminiModel } from './gemini.ts';
import type { Model } from './model.ts';
import { openaiChatModel } from './openai-chat.ts';
import { openaiResponsesModel } from './openai-responses.ts';
import { scriptModel } from './script.ts';

export interface OpenModelOptions extends Partial<Access> {
  /** For `script:` models only: the dialect that they exercise, instead of the file's own. */
  dialect?: DialectId;
}

const apis: Readonly<Record<string, (model: string, access: Access) => Model>> = {
  anthropic: anthropicModel,
  openai: openaiResponsesModel,
  'openai-chat': openaiChatModel,
  gemini: geminiModel,
  'gemini-interactions': geminiInteractionsModel,
};

/**
 * Opens a model by its name. Nothing is sent before the first turn.
 * @param options.env where keys, base URLs and proxies are looked up; default the process's own environment.
 * @throws MidspanError `usage` for an unknown form or a missing key, `config` for a script that cannot be read.
 */
export function openModel(name: string, options: OpenModelOptions = {}): Model {
  const [, prefix = '', rest = ''] = /^([a-z-]+):(.+)$/s.exec(name) ?? [];
  const { env = process.env, baseUrl, dialect } = options;
  if (prefix === 'script') return scriptModel(rest, dialect);
  const open = Object.hasOwn(apis, prefix) ? apis[prefix] : undefined;
  if (open !== undefined) return open(rest, { env, ...(baseUrl !== undefined && { baseUrl }) });
  throw new MidspanError({
    code: 'usage',
    what: `${JSON.stringify(name)} does not name a model`,
    next: `Use one of ${MODEL_FORMS.map(({ form }) => form).join(', ')}`,
  });
}
