import { messageOf } from '../errors.ts';

const PROGRAMS: Record<string, string> = {
  npx: 'Node.js',
  npm: 'Node.js',
  node: 'Node.js',
  uvx: 'uv',
  uv: 'uv',
  docker: 'Docker',
  bunx: 'Bun',
  bun: 'Bun',
  deno: 'Deno',
};

/** Why a command could not be started, and what to do. */
export function startFailure(command: string, cause: unknown): { what: string; next: string } {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    return { what: `the command "${command}" was not found`, next: notFoundAdvice(command) };
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return {
      what: `"${command}" may not be executed`,
      next: 'Make the file executable, or name its interpreter as the command',
    };
  }
  return {
    what: `the command "${command}" could not be started (${code ?? messageOf(cause)})`,
    next: 'Check "command" in its configuration',
  };
}

function notFoundAdvice(command: string): string {
  if (/[\\/]/.test(command)) return 'Check the path in "command"';
  const program = PROGRAMS[command];
  const install = program === undefined ? 'Install it' : `Install ${program}`;
  return `${install}, or give the absolute path as "command": programs started outside a shell often have a shorter PATH`;
}
