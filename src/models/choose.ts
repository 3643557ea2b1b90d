/** Which model to take when nobody names one: what the environment says, else what runs on this machine. */
import { MidspanError } from '../errors.ts';
import type { Access } from './api.ts';
import { findLocalServers, LOCAL_SERVERS, type LocalServer } from './local.ts';
import type { Model } from './model.ts';
import { listModels } from './model-list.ts';
import { openModel } from './open.ts';

/**
 * The models that are taken when there is only a key: of each provider the one for everyday work with tools, as of this
 * release.
 */
export const DEFAULT_MODELS = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6-astra',
  gemini: 'gemini-3.8-flash',
} as const;

/** The variables that decide, in the order in which they are looked at. */
export const MODEL_VARIABLES: readonly string[] = [
  'MIDSPAN_MODEL',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'OPENAI_BASE_URL',
];

export interface ChosenModel {
  model: Model;
  /** Why this one, in words: `ANTHROPIC_API_KEY is set`. */
  why: string;
}

export interface ChooseModelOptions extends Partial<Access> {
  signal?: AbortSignal;
  /**
   * Where local servers are looked for. Default: MIDSPAN_LOCAL_PORTS (port numbers with commas; empty: nowhere), else
   * the usual ports of Ollama, LM Studio, vLLM and llama.cpp. `within`: milliseconds for all of them together.
   */
  local?: { servers?: readonly LocalServer[]; within?: number };
}

/**
 * The first of: MIDSPAN_MODEL; ANTHROPIC_API_KEY; OPENAI_API_KEY (with OPENAI_BASE_URL: the server there);
 * GEMINI_API_KEY; the Chat Completions server at `baseUrl` or OPENAI_BASE_URL, with OPENAI_MODEL or the first model that
 * it lists; a local server. Nothing leaves this machine but the question for that list.
 * @returns undefined when nothing is configured and no local server answers.
 * @throws MidspanError `usage` for settings that make no sense, `unreachable` or `model` when the server at the base URL
 * does not list its models, `cancelled`.
 */
export async function chooseModel(options: ChooseModelOptions = {}): Promise<ChosenModel | undefined> {
  const { env = process.env, baseUrl, signal = new AbortController().signal } = options;
  const access: Access = { env, ...(baseUrl !== undefined && { baseUrl }) };
  const value = (name: string): string | undefined => env[name]?.trim() || undefined;
  const named = (name: string, why: string): ChosenModel => ({ model: openModel(name, access), why });

  const wanted = value('MIDSPAN_MODEL');
  if (wanted !== undefined) return named(wanted, 'MIDSPAN_MODEL is set');
  if (baseUrl !== undefined) return served(access, 'the base URL', signal);
  if (value('ANTHROPIC_API_KEY') !== undefined)
    return named(`anthropic:${DEFAULT_MODELS.anthropic}`, 'ANTHROPIC_API_KEY is set');
  const elsewhere = value('OPENAI_BASE_URL') !== undefined;
  if (value('OPENAI_API_KEY') !== undefined && !elsewhere)
    return named(`openai:${value('OPENAI_MODEL') ?? DEFAULT_MODELS.openai}`, 'OPENAI_API_KEY is set');
  // A key beside an address is the key of that address.
  if (value('OPENAI_API_KEY') !== undefined) return served(access, 'OPENAI_BASE_URL', signal);
  if (value('GEMINI_API_KEY') !== undefined)
    return named(`gemini:${DEFAULT_MODELS.gemini}`, 'GEMINI_API_KEY is set');
  if (elsewhere) return served(access, 'OPENAI_BASE_URL', signal);
  return onThisMachine(options.local ?? {}, access, signal);
}

/** A model of the Chat Completions server at a base URL. */
async function served(access: Access, source: string, signal: AbortSignal): Promise<ChosenModel> {
  const model = access.env['OPENAI_MODEL']?.trim();
  if (model !== undefined && model !== '')
    return { model: openModel(`openai-chat:${model}`, access), why: `${source} and OPENAI_MODEL are set` };
  const [first] = await listModels(source, access, { signal });
  if (first === undefined) {
    throw new MidspanError({
      code: 'model',
      label: source,
      what: 'the server there lists no model that holds a conversation',
      next: 'Load one, or name it in OPENAI_MODEL',
    });
  }
  return {
    model: openModel(`openai-chat:${first}`, access),
    why: `${source} is set, and this is the first model there`,
  };
}

async function onThisMachine(
  { servers, within }: NonNullable<ChooseModelOptions['local']>,
  { env }: Access,
  signal: AbortSignal,
): Promise<ChosenModel | undefined> {
  const found = await findLocalServers(servers ?? localServers(env['MIDSPAN_LOCAL_PORTS']), {
    signal,
    ...(within !== undefined && { within }),
  });
  const [first, ...others] = found;
  if (first === undefined) return undefined;
  const also = others.map(({ name, port }) => `${name} on port ${port}`).join(', ');
  return {
    model: openModel(`openai-chat:${first.models[0]}`, { env, baseUrl: first.baseUrl }),
    why: `${first.name} answers on port ${first.port}${also === '' ? '' : `; not taken: ${also}`}`,
  };
}

function localServers(ports: string | undefined): readonly LocalServer[] {
  if (ports === undefined) return LOCAL_SERVERS;
  const words = ports
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return words.map((word) => {
    const port = Number(word);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new MidspanError({
        code: 'usage',
        what: `MIDSPAN_LOCAL_PORTS has ${JSON.stringify(word)}, which is no port`,
        next: 'Give port numbers with commas between them, or nothing to look nowhere',
      });
    }
    return LOCAL_SERVERS.find((known) => known.port === port) ?? { name: 'a local server', port };
  });
}
