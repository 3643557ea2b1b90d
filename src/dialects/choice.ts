/** The caller's choice against the tools that are there, in the two parts that every API has: a mode and a subset. */
import { callable } from './compile.ts';
import type { Choice, TurnRequest } from './dialect.ts';

export interface Wanted {
  mode: 'auto' | 'required' | 'none' | 'validated';
  /** Absent: all tools. One name with `required` forces that tool. */
  only?: string[];
}

/** @returns undefined when nothing was asked or there are no tools: an API refuses a choice without tools. */
export function wanted(request: TurnRequest, losses: string[]): Wanted | undefined {
  const { choice, tools, servers = [] } = request;
  if (choice === undefined || (tools.tools.length === 0 && servers.length === 0)) return undefined;
  if (typeof choice === 'string') return { mode: choice };
  const mode = 'tool' in choice || choice.required === true ? 'required' : 'auto';
  const names = callable(tools);
  const only = asked(choice).filter((name) => names.has(name));
  const missing = asked(choice).filter((name) => !names.has(name));
  if (missing.length > 0) losses.push(`choice: the request has no tool ${missing.join(', ')}`);
  return only.length === 0 ? { mode: 'none' } : { mode, only };
}

function asked(choice: Exclude<Choice, string>): string[] {
  return 'tool' in choice ? [choice.tool] : [...new Set(choice.tools)];
}
