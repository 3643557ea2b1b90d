/** Collects everything that is wrong with one configuration, so that it is told at once. */
import { closest, distance } from 'fastest-levenshtein';
import { MidspanError } from '../errors.ts';
import type { Place } from './syntax.ts';

interface Problem {
  file?: string;
  line?: number;
  column?: number;
  /** As `mcpServers.files.args[0]`. */
  key: string;
  message: string;
}

export interface Problems {
  error(path: readonly string[], place: Place | undefined, message: string): void;
  warn(path: readonly string[], place: Place | undefined, message: string): void;
  warnings(): string[];
  /** @throws MidspanError `config` with every error so far, when there is one. */
  check(): void;
}

export function collectProblems(file: string | undefined): Problems {
  const errors: Problem[] = [];
  const warnings: string[] = [];
  const problem = (path: readonly string[], place: Place | undefined, message: string): Problem => ({
    ...(file !== undefined && { file }),
    ...(place !== undefined && { line: place.line, column: place.column }),
    key: pathText(path),
    message,
  });
  return {
    error: (path, place, message) => void errors.push(problem(path, place, message)),
    warn: (path, place, message) => void warnings.push(problemText(problem(path, place, message))),
    warnings: () => warnings,
    check() {
      if (errors.length === 0) return;
      const lines = errors.map(problemText);
      const what =
        lines.length === 1
          ? `the configuration is wrong: ${lines[0]}`
          : `the configuration has ${lines.length} problems:\n${lines.map((line) => `  ${line}`).join('\n')}`;
      throw new MidspanError({ code: 'config', what, data: { problems: errors } });
    },
  };
}

function problemText({ file, line, column, key, message }: Problem): string {
  const where = [file, line, column].filter((part) => part !== undefined).join(':');
  return [where, key, message].filter((part) => part !== '').join(': ');
}

function pathText(path: readonly string[]): string {
  let text = '';
  for (const key of path) {
    if (/^[A-Za-z_][\w-]*$/.test(key)) text += text === '' ? key : `.${key}`;
    else text += /^\d+$/.test(key) && text !== '' ? `[${key}]` : `[${JSON.stringify(key)}]`;
  }
  return text;
}

/** `; did you mean "command"?`, or nothing when nothing is near. */
export function suggestion(word: string, known: Iterable<string>): string {
  const names = [...known].filter((name) => name !== word);
  if (names.length === 0) return '';
  const folded = word.toLowerCase().replace(/[_-]/g, '');
  const near =
    names.find((name) => name.toLowerCase().replace(/[_-]/g, '') === folded) ?? closest(word, names);
  const isNear = distance(word.toLowerCase(), near.toLowerCase()) <= Math.max(2, Math.floor(near.length / 3));
  return isNear ? `; did you mean ${JSON.stringify(near)}?` : '';
}
