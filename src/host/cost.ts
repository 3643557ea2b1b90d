/**
 * What the tools cost in every request: tokens by server and tool, what the prompt cache makes of them, and which of them
 * were never called. Counted by the provider where it can, estimated otherwise, and never without saying which.
 */
import type { DialectId } from '../dialects/dialect.ts';
import { dialectOf, estimateTokens } from '../dialects/index.ts';
import { messageOf } from '../errors.ts';
import type { CountedModel, TokenCounter } from '../models/count.ts';
import { type CacheFacts, factsOf } from '../models/facts.ts';
import type { CountedCalls } from '../store/usage.ts';
import type { CatalogEntry } from './catalog.ts';
import type { ServerStatus } from './host.ts';

/** Servers that are counted one by one; the others are estimated. Each takes one request. */
export const MAX_COUNTED = 32;
const AT_THE_SAME_TIME = 4;
/** What a share is taken of where the window of the model is not known. Tokens. */
export const USUAL_WINDOW = 200_000;

export interface ToolCost {
  name: string;
  /** The server's own name. */
  tool: string;
  status: 'exact' | 'adapted' | 'left out';
  /** Always an estimate; where the server's tokens are exact, its part of them. */
  tokens: number;
  /** Calls that were ever counted; absent where nothing counts. */
  calls?: number;
}

export interface GroupCost {
  tools: number;
  tokens: number;
  exact: boolean;
  byTool: ToolCost[];
}

export interface ServerCost extends GroupCost {
  label: string;
  state: ServerStatus['state'];
  /** Shown tools that were never called, by the server's own names; empty where nothing counts. */
  unused: string[];
  /** Estimated tokens of the server's instructions, for hosts that put them to a model; no part of the total. */
  instructions: number;
}

export interface Cost {
  dialect: DialectId;
  model?: string;
  /** Whether the provider counted; otherwise `reason` says why not. */
  exact: boolean;
  reason?: string;
  /** Every configured server, in configuration order. */
  servers: ServerCost[];
  native: GroupCost;
  /** What the API adds once there is a tool. `tokens` is absent where nobody knows; then it is no part of the total. */
  overhead: { tokens?: number; forced?: number; exact: boolean; source?: string };
  /** Tokens of all definitions and the overhead in every request. */
  total: number;
  /** The same in input tokens: when the prefix is read from the prompt cache, and when it has to be written anew. */
  cache: CacheFacts & { hit: number; miss: number; difference: number; longEnough: boolean };
  /** The part of the model's context window that is taken before anybody has said a word. */
  context: { window: number; assumed: boolean; share: number };
  /** When the counting of calls began, in milliseconds since 1970. */
  countedSince?: number;
}

export interface CostSubject {
  entries: readonly CatalogEntry[];
  servers: readonly ServerStatus[];
  calls: CountedCalls | undefined;
}

type Group = GroupCost & { label: string | undefined };
type Overhead = Cost['overhead'];

/** @param model what is counted for; without a counter everything is estimated. */
export async function costOf(
  subject: CostSubject,
  dialect: DialectId,
  model: CountedModel | undefined,
  signal: AbortSignal,
): Promise<Cost> {
  const { servers, calls } = subject;
  const facts = factsOf(dialect, model?.model);
  const labels = [undefined, ...servers.map(({ label }) => label)];
  const groups = estimated(labels, subject, dialect);
  const known: Overhead = {
    ...(facts.overhead && { tokens: facts.overhead.usual, source: facts.overhead.source }),
    exact: false,
  };
  const counted = await exactly(groups, known, subject, dialect, model, signal);
  const byLabel = new Map(counted.groups.map((group) => [group.label, costOfGroup(group)]));
  const nothing: GroupCost = { tools: 0, tokens: 0, exact: true, byTool: [] };
  const tokens = counted.groups.reduce((sum, group) => sum + group.tokens, 0);
  const total = tokens === 0 ? 0 : tokens + (counted.overhead.tokens ?? 0);
  const [hit, miss] = [Math.round(total * facts.cache.read), Math.round(total * facts.cache.write)];
  const window = facts.window ?? USUAL_WINDOW;
  return {
    dialect,
    ...(model !== undefined && { model: model.model }),
    exact: counted.reason === undefined,
    ...(counted.reason !== undefined && { reason: counted.reason }),
    servers: servers.map(({ label, state, info }) => {
      const cost = byLabel.get(label) ?? nothing;
      const unused = cost.byTool.filter((tool) => tool.calls === 0).map(({ tool }) => tool);
      const instructions = estimateTokens(info?.instructions ?? '');
      return { label, state, ...cost, unused, instructions };
    }),
    native: byLabel.get(undefined) ?? nothing,
    overhead: { ...counted.overhead, ...(facts.overhead?.forced && { forced: facts.overhead.forced }) },
    total,
    cache: { ...facts.cache, hit, miss, difference: miss - hit, longEnough: total >= facts.cache.minimum },
    context: { window, assumed: facts.window === undefined, share: total / window },
    ...(calls?.since !== undefined && { countedSince: calls.since }),
  };
}

const costOfGroup = ({ tools, tokens, exact, byTool }: Group): GroupCost => ({
  tools,
  tokens,
  exact,
  byTool,
});

function estimated(
  labels: readonly (string | undefined)[],
  { entries, calls }: CostSubject,
  dialect: DialectId,
): Group[] {
  const report = new Map(
    dialectOf(dialect)
      .definitions(entries)
      .report.map((entry) => [entry.name, entry]),
  );
  return labels.map((label) => {
    const byTool = entries
      .filter((entry) => entry.label === label)
      .map(({ name, tool }): ToolCost => {
        const { status = 'left out', tokens = 0 } = report.get(name) ?? {};
        const counted = label === undefined ? undefined : calls?.calls(label, tool);
        return { name, tool, status, tokens, ...(counted !== undefined && { calls: counted }) };
      });
    const tokens = byTool.reduce((sum, tool) => sum + tool.tokens, 0);
    return { label, tools: byTool.length, tokens, exact: tokens === 0, byTool };
  });
}

/**
 * A group costs what the count loses when its tools are left out; what is then left over is the API's own. With a single
 * group the two cannot be told apart but by what is known of the API.
 */
async function exactly(
  groups: readonly Group[],
  known: Overhead,
  subject: CostSubject,
  dialect: DialectId,
  model: CountedModel | undefined,
  signal: AbortSignal,
): Promise<{ groups: readonly Group[]; overhead: Overhead; reason?: string }> {
  const estimate = (reason: string) => ({ groups, overhead: known, reason });
  if (model?.counter === undefined) return estimate(model?.reason ?? 'no model is named');
  const filled = groups.filter(({ tokens }) => tokens > 0);
  const single = filled.length === 1;
  try {
    const count = counterOf(model.counter, groups, subject, dialect, signal);
    const [all, none] = [await count.all(), await count.none()];
    const exact = new Map<Group, number>();
    const waiting = filled.slice(0, MAX_COUNTED);
    const work = async (): Promise<void> => {
      for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
        const own = all - (single ? none + (known.tokens ?? 0) : await count.without(group));
        exact.set(group, Math.max(0, own));
      }
    };
    await Promise.all(Array.from({ length: AT_THE_SAME_TIME }, work));
    const isWhole = exact.size === filled.length;
    const sum = [...exact.values()].reduce((total, tokens) => total + tokens, 0);
    return {
      groups: groups.map((group) => scaled(group, exact.get(group))),
      overhead: isWhole && !single ? { tokens: Math.max(0, all - none - sum), exact: true } : known,
      ...(!isWhole && { reason: `more than ${MAX_COUNTED} servers: the others are estimated` }),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    return estimate(`the provider did not count: ${messageOf(error)}`);
  }
}

function counterOf(
  counter: TokenCounter,
  groups: readonly Group[],
  { entries }: CostSubject,
  dialect: DialectId,
  signal: AbortSignal,
) {
  // What does not go into the whole request must not come in because others have left.
  const leftOut = new Set(
    groups.flatMap(({ byTool }) =>
      byTool.filter(({ status }) => status === 'left out').map(({ name }) => name),
    ),
  );
  const carried = entries.filter(({ name }) => !leftOut.has(name));
  const count = (tools: readonly CatalogEntry[]): Promise<number> =>
    counter(dialectOf(dialect).definitions(tools).tools, signal);
  return {
    all: () => count(carried),
    none: () => count([]),
    without: (group: Group) => count(carried.filter(({ label }) => label !== group.label)),
  };
}

/** The group with its exact tokens, and its tools in proportion to their estimates. */
function scaled(group: Group, tokens: number | undefined): Group {
  if (tokens === undefined) return group;
  const byTool = group.byTool.map((tool) => ({
    ...tool,
    tokens: Math.round((tool.tokens * tokens) / group.tokens),
  }));
  return { ...group, tokens, exact: true, byTool };
}
