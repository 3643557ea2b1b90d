/** Which tools a run offers, which it may call, and what it must. */
import picomatch from 'picomatch';
import type { Choice } from '../dialects/dialect.ts';
import type { RunOptions, RunTool } from './options.ts';

export function selected(tools: readonly RunTool[], globs: RunOptions['tools']): RunTool[] {
  if (globs === undefined) return [...tools];
  if (globs === 'none' || globs.length === 0) return [];
  const matches = picomatch([...globs]);
  return tools.filter(({ name }) => matches(name));
}

/** Globs that no tool matches. */
export function unmatched(tools: readonly RunTool[], globs: RunOptions['tools']): string[] {
  return (globs === 'none' ? [] : [...(globs ?? [])]).filter((glob) => {
    const matches = picomatch(glob);
    return !tools.some(({ name }) => matches(name));
  });
}

/** Whether a run may call a name; not every API can hold a model to that. */
export function permits(
  name: string,
  { tools: globs, choice }: Pick<RunOptions, 'tools' | 'choice'>,
): boolean {
  if (globs === 'none' || choice === 'none') return false;
  if (typeof choice === 'object' && 'tools' in choice && !choice.tools.includes(name)) return false;
  return globs === undefined || (globs.length > 0 && picomatch([...globs])(name));
}

/** What a choice becomes once the model has made the call that it forced. */
export function afterCall(choice: Choice | undefined): Choice | undefined {
  if (choice === 'required') return 'auto';
  if (typeof choice !== 'object') return choice;
  if ('tool' in choice) return 'auto';
  return choice.required === true ? { tools: choice.tools } : choice;
}
