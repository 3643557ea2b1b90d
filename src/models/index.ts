/** Models by the names that users give them. */
import type { DialectId } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';
import { anthropicModel } from './anthropic.ts';
import type { Access } from './api.ts';
import { geminiModel } from './gemini.ts';
import type { Model } from './model.ts';
import { openaiChatModel } from './openai-chat.ts';
import { openaiResponsesModel } from './openai-responses.ts';
import { scriptModel } from './script.ts';

export type { Model, ModelRequest } from './model.ts';

export interface OpenModelOptions extends Partial<Access> {
  /** For `script:` models only: the dialect that they exercise, instead of the file's own. */
  dialect?: DialectId;
}

/** The forms of a model's name, for help and errors. */
export const MODEL_FORMS: readonly { form: string; what: string }[] = [
  { form: 'anthropic:<model>', what: 'Anthropic Messages (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL)' },
  { form: 'openai:<model>', what: 'OpenAI Responses (OPENAI_API_KEY, OPENAI_BASE_URL)' },
  {
    form: 'openai-chat:<model>',
    what: 'Chat Completions of OpenAI or any compatible server (OPENAI_API_KEY, OPENAI_BASE_URL)',
  },
  { form: 'gemini:<model>', what: 'Gemini generateContent (GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL)' },
  { form: 'script:<file>', what: 'a scripted model, for tests and demonstrations' },
];

/**
 * Opens a model by its name. Nothing is sent before the first turn.
 * @param options.env where keys and base URLs are looked up; default the process's own environment.
 * @throws MidspanError `usage` for an unknown form or a missing key, `config` for a script that cannot be read.
 */
export function openModel(name: string, options: OpenModelOptions = {}): Model {
  const [, prefix, rest] = /^([a-z-]+):(.+)$/s.exec(name) ?? [];
  const { env = process.env, baseUrl, dialect } = options;
  const access: Access = { env, ...(baseUrl !== undefined && { baseUrl }) };
  switch (prefix) {
    case 'anthropic':
      return anthropicModel(rest as string, access);
    case 'openai':
      return openaiResponsesModel(rest as string, access);
    case 'openai-chat':
      return openaiChatModel(rest as string, access);
    case 'gemini':
      return geminiModel(rest as string, access);
    case 'script':
      return scriptModel(rest as string, dialect);
    default:
      throw new MidspanError({
        code: 'usage',
        what: `${JSON.stringify(name)} does not name a model`,
        next: `Use one of ${MODEL_FORMS.map(({ form }) => form).join(', ')}`,
      });
  }
}
