/**
 * What the providers' documentation states of tokens: what tools cost beside their definitions, what a prompt cache costs
 * and saves, how much a model reads. A model that no row matches has the facts of its API, or none.
 */
import type { DialectId } from '../dialects/dialect.ts';

/** In input tokens: what one token costs when it is written to the cache, or read from it. */
export interface CacheFacts {
  write: number;
  read: number;
  /** Tokens of the shortest prefix that is cached. */
  minimum: number;
  source: string;
}

export interface ModelFacts {
  /** Tokens that the API adds once a request has a tool: usually, and when a call is forced. */
  overhead?: { usual: number; forced?: number; source: string };
  cache: CacheFacts;
  /** Tokens of the context window. */
  window?: number;
}

/** Tool-use system prompt. Of the 5.5 and Fable models none is published. */
const anthropicOverhead: readonly [RegExp, usual: number, forced: number][] = [
  [/opus-5(?!-5)/, 286, 406],
  [/opus-4-8/, 290, 410],
  [/opus-4-7/, 675, 804],
  [/(?:opus|sonnet)-4-6/, 497, 589],
  [/(?:opus|sonnet|haiku)-4-5/, 496, 588],
  [/sonnet-5(?!-5)/, 354, 474],
  [/opus-4-1|(?:opus|sonnet)-4(?:-0|-2025|$)/, 313, 315],
  [/3-5-haiku/, 264, 355],
];
const anthropicMinimum: readonly [RegExp, number][] = [
  [/opus-5|fable-5|mythos-5/, 512],
  [/opus-4-8|sonnet-5|sonnet-4-[56]/, 1024],
  [/opus-4-7/, 2048],
  [/opus-4-[56]|haiku-4-5/, 4096],
];
const anthropicRead: readonly [RegExp, number][] = [
  [/(?:fable|mythos)-5-1/, 0.025],
  [/(?:opus|sonnet)-5-5/, 0.05],
];
const windows: readonly [RegExp, number][] = [
  [/(?:opus|sonnet)-4-[6-8]|(?:opus|sonnet|fable|mythos)-5/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-(?:4\.1)/, 1_047_576],
  [/^gpt-5(?:\.[0-3])?(?![.\d])/, 400_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
  [/^gemini-(?:2\.5|[3-9])/, 1_048_576],
];

/** @param model the model's name at its API. */
export function factsOf(dialect: DialectId, model: string | undefined): ModelFacts {
  const name = model ?? '';
  const window = first(windows, name);
  const overhead = anthropicOverhead.find(([pattern]) => dialect === 'anthropic' && pattern.test(name));
  return {
    cache: cacheOf(dialect, name),
    ...(window !== undefined && { window }),
    ...(overhead !== undefined && {
      overhead: {
        usual: overhead[1],
        forced: overhead[2],
        source: 'https://platform.claude.com/docs/en/about-claude/pricing#tool-use-pricing',
      },
    }),
  };
}

function cacheOf(dialect: DialectId, name: string): CacheFacts {
  if (dialect === 'anthropic') {
    return {
      write: 1.25, // for five minutes; 2 for an hour
      read: first(anthropicRead, name) ?? 0.1,
      minimum: first(anthropicMinimum, name) ?? 1024,
      source: 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching',
    };
  }
  if (dialect === 'openai-responses' || dialect === 'openai-chat') {
    const writesCost = /^gpt-(?:5\.[6-9]|[6-9])/.test(name);
    const older = /^gpt-4\.1|^o[34]/.test(name) ? 0.25 : /^gpt-4o|^o1/.test(name) ? 0.5 : 0.1;
    return {
      write: writesCost ? 1.25 : 1,
      read: older,
      minimum: 1024,
      source: 'https://developers.openai.com/api/docs/guides/prompt-caching',
    };
  }
  return {
    write: 1,
    read: 0.1,
    minimum: /gemini-2\.5/.test(name) ? 2048 : 4096,
    source: 'https://ai.google.dev/gemini-api/docs/caching',
  };
}

const first = (rows: readonly [RegExp, number][], name: string): number | undefined =>
  rows.find(([pattern]) => pattern.test(name))?.[1];
