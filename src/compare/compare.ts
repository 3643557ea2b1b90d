/** One server and one model on three ways: what each costs in tokens and time, and what it loses. */
import type { Dialect, DialectId, Usage } from '../dialects/dialect.ts';
import { dialectOf, estimateTokens } from '../dialects/index.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { CatalogEntry } from '../host/catalog.ts';
import type { Cost } from '../host/cost.ts';
import { delegationProblem } from '../host/delegation.ts';
import { type Model, openModel } from '../models/index.ts';
import type { Run } from '../run/events.ts';
import type { RunOptions } from '../run/options.ts';
import type { ServerSpec } from '../types.ts';
import { type Feature, featuresOf, type WayId } from './features.ts';

export interface Comparison {
  label: string;
  model: string;
  dialect: DialectId;
  /** Tools that are shown of the server. */
  tools: number;
  ways: Way[];
  features: Feature[];
}

export interface Way {
  id: WayId;
  /** For people. */
  name: string;
  /** Why the way is not there for this server and model. */
  problem?: string;
  /** Of the server's definitions, in every request; absent where the way is not there. */
  tokens?: { count: number; exact: boolean };
  /** One real run of the prompt; or why there was none. */
  measured?: Measured;
  notMeasured?: string;
  /** Features that it does not keep, or keeps in part, with what is lost. */
  loses: string[];
}

export interface Measured {
  milliseconds: number;
  turns: number;
  calls: number;
  /** How the run ended. */
  reason: string;
  usage: Usage;
}

/** What is needed of the host; the server must be connected. */
export interface ComparedHost {
  catalog(): { entries: readonly CatalogEntry[] };
  cost(options: { model: string; signal?: AbortSignal }): Promise<Cost>;
  run(options: Omit<RunOptions, 'messages'> & { messages: string }): Run;
}

export interface CompareOptions {
  model: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Is run once on each way that is there, tools and all. Absent: nothing is measured. */
  prompt?: string;
  signal?: AbortSignal;
}

const NAMES: Readonly<Record<WayId, string>> = {
  native: 'functions that a program of yours runs',
  host: 'this host',
  provider: "the provider's connector",
};

/** The longest measured run. */
const LIMITS = { turns: 10, calls: 20, milliseconds: 120_000 };

/** @throws MidspanError `usage` for a model of no API; `cancelled`. */
export async function compare(
  host: ComparedHost,
  spec: ServerSpec,
  options: CompareOptions,
): Promise<Comparison> {
  const { signal, prompt } = options;
  const cost = await host.cost({ model: options.model, ...(signal && { signal }) });
  const dialect = dialectOf(cost.dialect);
  const opened = open(options);
  const entries = host.catalog().entries.filter(({ label }) => label === spec.label);
  const { tokens = 0, exact = false } = cost.servers.find(({ label }) => label === spec.label) ?? {};
  const features = featuresOf(dialect.id);
  const problem = providerProblem(spec, options.model, dialect, opened.model);

  const ways: Way[] = [];
  for (const id of ['native', 'host', 'provider'] as const) {
    const base = { id, name: NAMES[id], loses: lossesOn(id, features) };
    if (id === 'provider' && problem !== undefined) {
      ways.push({ ...base, problem });
      continue;
    }
    const count = id === 'provider' ? listedTokens(entries, dialect, tokens) : tokens;
    const why = opened.reason ?? notMeasured(id, spec, prompt);
    ways.push({
      ...base,
      tokens: { count, exact: id === 'provider' ? false : exact },
      ...(opened.model !== undefined && prompt !== undefined && why === undefined
        ? { measured: await measure(host, id, entries, opened.model, prompt, signal) }
        : { notMeasured: why ?? 'no prompt was given' }),
    });
  }
  return {
    label: spec.label,
    model: options.model,
    dialect: dialect.id,
    tools: entries.length,
    ways,
    features,
  };
}

function open({ model, env }: CompareOptions): { model?: Model; reason?: string } {
  try {
    return { model: openModel(model, { env }) };
  } catch (error) {
    return { reason: error instanceof MidspanError ? error.what : messageOf(error) };
  }
}

/** What stands in the way whatever the configuration says of approvals; that much it could be told. */
function providerProblem(
  spec: ServerSpec,
  name: string,
  dialect: Dialect,
  model: Model | undefined,
): string | undefined {
  const asked: ServerSpec = spec.via === 'provider' ? spec : { ...spec, via: 'provider', approval: 'never' };
  return delegationProblem(asked, { name, dialect, reach: model?.reach ?? 'internet' });
}

function notMeasured(id: WayId, spec: ServerSpec, prompt: string | undefined): string | undefined {
  if (prompt === undefined) return 'no prompt was given';
  if (id === 'native') return undefined;
  const left = spec.via === 'provider';
  if (left && spec.approval !== 'never') return 'its calls wait for a person, and nobody is there to ask';
  if (id === 'provider' && !left) return 'the configuration does not leave the server to a provider';
  return undefined;
}

/** Of our own definitions as functions, and of the definitions as the server wrote them, in the same vocabulary. */
function listedTokens(entries: readonly CatalogEntry[], dialect: Dialect, tokens: number): number {
  const own = estimateTokens(JSON.stringify(dialect.definitions(entries).tools));
  const listed = entries.map(({ definition: { name, description, inputSchema } }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  return own === 0 ? 0 : Math.round((tokens * estimateTokens(JSON.stringify(listed))) / own);
}

/** Functions alone are measured to the end of the first turn: what runs them then is not ours to time. */
async function measure(
  host: ComparedHost,
  id: WayId,
  entries: readonly CatalogEntry[],
  model: Model,
  prompt: string,
  signal: AbortSignal | undefined,
): Promise<Measured> {
  const start = performance.now();
  const run = host.run({
    model,
    messages: prompt,
    tools: entries.map(({ name }) => name),
    limits: id === 'native' ? { ...LIMITS, turns: 1, calls: 0 } : LIMITS,
    ...(id !== 'provider' && { via: 'host' }),
    ...(signal && { signal }),
  });
  const { reason, turns, calls, usage, error } = await run.result;
  if (error?.code === 'cancelled') throw error;
  const milliseconds = Math.round(performance.now() - start);
  return { milliseconds, turns, calls, reason, usage };
}

function lossesOn(id: WayId, features: readonly Feature[]): string[] {
  return features.flatMap((feature) => {
    const { kept, note } = feature[id];
    if (kept === 'yes' || kept === 'yours') return [];
    const loss = note === undefined ? feature.name : `${feature.name}: ${note}`;
    return [kept === 'partly' ? `${loss} (in part)` : loss];
  });
}
