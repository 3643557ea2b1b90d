/** The library's front door. */
import { join } from 'node:path';
import picomatch from 'picomatch';
import { type Config, loadConfig as load, readConfig as read } from './config/config.ts';
import type { DialectId, Message } from './dialects/dialect.ts';
import { MidspanError } from './errors.ts';
import { type Cost, costOf } from './host/cost.ts';
import { type CoreHost, type HostOptions, openCore } from './host/host.ts';
import { READ_RESULT } from './host/kept.ts';
import { newSession, type Session } from './host/session.ts';
import { countedModel } from './models/count.ts';
import { type Model, MODEL_FORMS, openModel, type OpenModelOptions } from './models/index.ts';
import type { Run } from './run/events.ts';
import type { RunHost, RunOptions } from './run/options.ts';
import { keptOptions, optionsOf } from './run/recorded.ts';
import { run } from './run/run.ts';
import { type Choices, newRunId, openJournal, recordedRun, recordRun, takeOver } from './journal/journal.ts';
import { openSecrets, secretsPath } from './store/secrets.ts';
import { openStore, type Store } from './store/store.ts';
import { usageFile } from './store/usage.ts';
import { verdictFile } from './store/verdicts.ts';

export interface OpenOptions extends HostOptions {
  /** Where variables of the configuration and keys of models are looked up. Default: the process's environment. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where a configuration file is looked for, upwards. Default: the process's working directory. */
  cwd?: string;
  /**
   * Where calls, asks and decisions are recorded and a person's words are kept. Default: `.midspan/` beside the
   * configuration's file, opened at the first use. false: nothing is recorded. A store that is given stays open.
   */
  store?: Store | false;
}

export interface HostRunOptions
  extends Omit<RunOptions, 'model' | 'messages' | 'journal' | 'resumption'>, Omit<OpenModelOptions, 'env'> {
  /** `anthropic:<model>`, `openai:<model>`, `script:<file>`, …, or a model that was opened before. */
  model: string | Model;
  /** A question, or the conversation so far. */
  messages: string | readonly Message[];
}

/** What is not given here is as the run was started with. */
export interface ResumeOptions extends Choices, Partial<Omit<HostRunOptions, 'messages'>> {}

export interface Host extends CoreHost {
  /**
   * Lets a model work with the tools until it stops calling. Iterate for the events as they happen; `.result` holds the
   * transcript.
   * @throws MidspanError `usage` or `config` for a model that cannot be opened and for options that make no sense.
   */
  run(options: HostRunOptions): Run;
  /**
   * Goes on with a recorded run that was interrupted, aborted, failed or ran out of time: calls that have ended are not
   * run again, and for each whose outcome is unknown a choice is needed.
   * @param id of the run, or a beginning of it that no other run has.
   * @throws MidspanError `usage` when it cannot go on; `unapproved`, with the calls in `data`, when a choice is missing.
   */
  resume(id: string, options?: ResumeOptions): Run;
  /**
   * What the tools cost in every request. With a model whose key is there its provider counts; otherwise it is an
   * estimate, and says so.
   * @throws MidspanError `usage` for a name of no model, `cancelled`.
   */
  cost(options?: CostOptions): Promise<Cost>;
}

export interface CostOptions {
  /** `anthropic:<model>`, `openai:<model>`, `openai-chat:<model>` or `gemini:<model>`. */
  model?: string;
  /** Whose definitions are estimated when no model is named. Default `anthropic`. */
  dialect?: DialectId;
  /** Instead of the API's own address, or the one in the environment. */
  baseUrl?: string;
  signal?: AbortSignal;
}

/**
 * Opens the configured servers and returns when each has listed its tools or failed, or after `startWithin`; late ones
 * join. A server that fails is a state of `host.servers()`, not an error.
 * @param source a file of any known format, an object in the form of `midspan.json`, a Config, or nothing: then
 * `midspan.json` or `.mcp.json` is looked for from `cwd` upwards.
 * @throws MidspanError `config` naming every problem with file, line and key; `usage` for bad native functions.
 */
export async function openHost(source?: string | Config | object, options: OpenOptions = {}): Promise<Host> {
  const { env = process.env, cwd = process.cwd() } = options;
  const config = await configOf(source, env, cwd);
  const store = options.store ?? storeOf(config);
  const stored = { ...filesOf(config), ...(store !== false && recordIn(store, config, options)), ...options };
  const core = await openCore(config, stored);
  if (store !== false && options.store === undefined) core.onClosed(() => store.close());
  return Object.assign(core, {
    async cost({ model, dialect = 'anthropic', baseUrl, signal }: CostOptions = {}): Promise<Cost> {
      const named =
        model === undefined ? undefined : countedModel(model, { env, ...(baseUrl && { baseUrl }) });
      const subject = {
        entries: core.catalog().entries,
        servers: core.servers(),
        calls: stored.usage?.read(),
      };
      return costOf(subject, named?.dialect ?? dialect, named, signal ?? new AbortController().signal);
    },
    run({ model: named, messages, ...options }: HostRunOptions): Run {
      const id = newRunId();
      const model = modelOf(named, accessOf(options, env));
      const journal =
        store === false
          ? undefined
          : recordRun(store, { id, model: model.name, options: keptOptions(options) });
      const more = { ...options, ...(journal !== undefined && { journal }) };
      return begin(core, newSession(id), { ...more, model, messages: conversationOf(messages) });
    },
    resume(id: string, { model: named, retry, skip, others, by, ...options }: ResumeOptions = {}): Run {
      if (store === false)
        throw new MidspanError({
          code: 'usage',
          what: 'this host records no runs',
          next: 'Open it with a store',
        });
      const { run: found } = recordedRun(store, id);
      const kept = { ...optionsOf(found), ...options };
      // Opened first: a run that cannot go on stays where it is.
      const model = modelOf(named ?? found.model, accessOf(kept, env));
      const choices = {
        ...(retry && { retry }),
        ...(skip && { skip }),
        ...(others && { others }),
        by: by ?? 'the caller',
      };
      const { run: taken, resumption } = takeOver(store, found.id, choices);
      const journal = recordRun(store, { id: taken.id, model: model.name, options: taken.options });
      const more = { ...kept, journal, resumption };
      return begin(core, newSession(taken.id, taken.taint), { ...more, model, messages: [] });
    },
  });
}

function begin(
  core: CoreHost,
  session: Session,
  { results, ...options }: RunOptions & Partial<OpenModelOptions>,
): Run {
  const keep = canRead(options.tools) ? core.keep : undefined;
  return run(runHostOf(core, session), {
    ...options,
    results: { ...(keep !== undefined && { keep }), ...results },
  });
}

const accessOf = (
  { baseUrl, dialect }: Pick<OpenModelOptions, 'baseUrl' | 'dialect'>,
  env: OpenModelOptions['env'],
): OpenModelOptions => ({
  ...(env !== undefined && { env }),
  ...(baseUrl !== undefined && { baseUrl }),
  ...(dialect !== undefined && { dialect }),
});

/** The host as one run sees it: what is seen and remembered in it stays in it. */
function runHostOf(core: CoreHost, session: Session): RunHost {
  return {
    catalog: () => ({ tools: core.catalog().entries }),
    onCatalog: (changed) => core.on(({ type }) => type === 'catalog' && changed()),
    call: (request, settings) => core.call(request, { ...settings, session }),
    delegate: (model, options) => core.delegate(model, options),
    approve: (call, options) => core.approve(call, { ...options, session }),
    saw: (call, result) => core.saw(call, result, session),
  };
}

/** As in config/, with the secrets of this user. */
export const loadConfig: typeof load = (options) => load({ secret: secretsOf(options.env), ...options });

/** As in config/, with the secrets of this user. */
export const readConfig: typeof read = (object, options) =>
  read(object, { secret: secretsOf(options.env), ...options });

const secretsOf = (
  env: Readonly<Record<string, string | undefined>>,
): ((name: string) => string | undefined) => {
  const secrets = openSecrets(secretsPath(env));
  return (name) => secrets.get(name);
};

async function configOf(
  source: string | Config | object | undefined,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<Config> {
  if (source === undefined || typeof source === 'string') {
    return loadConfig({ cwd, env, ...(source !== undefined && { path: source }) });
  }
  if (typeof source !== 'object' || source === null) {
    throw new MidspanError({
      code: 'usage',
      what: `a configuration is a file's name or an object, not ${source === null ? 'null' : `a ${typeof source}`}`,
      next: 'Give nothing at all to have midspan.json looked for',
    });
  }
  return isConfig(source) ? source : readConfig(source, { env, base: cwd });
}

/** For callers without types: a question, or a conversation. */
function conversationOf(messages: string | readonly Message[]): readonly Message[] {
  if (typeof messages === 'string') return [{ role: 'user', content: messages }];
  if (Array.isArray(messages)) return messages as readonly Message[];
  throw new MidspanError({
    code: 'usage',
    what: 'a run needs `messages`',
    next: 'Give a question, or the list of messages so far',
  });
}

function isModel(model: unknown): model is Model {
  return typeof model === 'object' && model !== null && 'stream' in model && 'dialect' in model;
}

/** A model that was opened before, or one by its name. */
function modelOf(model: string | Model, options: OpenModelOptions): Model {
  if (isModel(model)) return model;
  if (typeof model === 'string') return openModel(model, options);
  throw new MidspanError({
    code: 'usage',
    what: 'a run needs a `model`',
    next: `Use one of ${MODEL_FORMS.map(({ form }) => form).join(', ')}, or a model that was opened`,
  });
}

const isConfig = (source: object): source is Config =>
  'format' in source && 'servers' in source && 'warnings' in source;

/** A handle is of no use to a model that is not offered the function that reads by it. */
const canRead = (globs: RunOptions['tools']): boolean =>
  globs === undefined || (globs !== 'none' && globs.length > 0 && picomatch([...globs])(READ_RESULT));

/** The store of a configuration, beside its file; false for one without a file, which leaves nothing behind. */
export function storeOf({ path }: Config): Store | false {
  return path === undefined ? false : openStore(join(path, '..', '.midspan'));
}

const recordIn = (
  store: Store,
  { redact }: Config,
  { onEvent }: HostOptions,
): Pick<HostOptions, 'journal' | 'remembered'> => ({
  journal: openJournal(store, {
    redact,
    onProblem: (message) => onEvent?.({ type: 'warning', message }),
  }),
  remembered: store.remembered,
});

/** Small files that every command may read at no cost. */
function filesOf({ path }: Config): Pick<HostOptions, 'verdicts' | 'usage'> {
  if (path === undefined) return {};
  const folder = join(path, '..', '.midspan');
  return { verdicts: verdictFile(join(folder, 'eras.json')), usage: usageFile(join(folder, 'usage.json')) };
}

export type { Answer, Ask, Asks } from './asks/asks.ts';
export { nobody } from './asks/asks.ts';
export { type Answerer, type AskEvent, type AskQueue, askQueue, type AskQueueOptions } from './asks/queue.ts';
export type { PendingAsk } from './asks/rows.ts';
export {
  type ComparedHost,
  compare,
  type CompareOptions,
  type Comparison,
  type Way,
} from './compare/compare.ts';
export type { Feature } from './compare/features.ts';
export type { Config } from './config/config.ts';
export type {
  Call,
  CallResult,
  Choice,
  Compiled,
  CompileEntry,
  DialectId,
  Message,
  Turn,
  Usage,
} from './dialects/dialect.ts';
export { type ErrorCode, MidspanError } from './errors.ts';
export type { CallOutcome, CallRequest, CallSettings } from './host/call.ts';
export type { Catalog, CatalogEntry, HiddenTool } from './host/catalog.ts';
export type { RememberedDecisions } from './host/permission.ts';
export { newSession, type Session } from './host/session.ts';
export {
  type AuditEvent,
  type CallEnd,
  type CallStart,
  type Choices,
  type Journal,
  type RecordedRun,
  recordedRun,
  recordedRuns,
  unknownCalls,
} from './journal/journal.ts';
export { openStore, type Store } from './store/store.ts';
export type { Action, Policy, PolicyRule, ToolLabel, TrustSettings } from './types.ts';
export type { Cost, GroupCost, ServerCost, ToolCost } from './host/cost.ts';
export type { Delegation } from './host/delegation.ts';
export type { HostEvent, HostOptions, ServerStatus } from './host/host.ts';
export type { NativeFunction, NativeOptions } from './host/natives.ts';
export {
  chooseModel,
  type ChooseModelOptions,
  type ChosenModel,
  DEFAULT_MODELS,
  type Model,
  MODEL_FORMS,
  MODEL_VARIABLES,
  type ModelRequest,
  openModel,
  type OpenModelOptions,
} from './models/index.ts';
export type { EndReason, Run, RunEvent, RunResult } from './run/events.ts';
export { DEFAULT_LIMITS, type Limits } from './run/budget.ts';
export type { RunOptions } from './run/options.ts';
export type { EraVerdicts, ServerInfo, ServerState } from './servers/server.ts';
export type {
  ContentBlock,
  Era,
  Json,
  JsonObject,
  Progress,
  ServerSpec,
  ToolDefinition,
  ToolResult,
} from './types.ts';
