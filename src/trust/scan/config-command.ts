import type { Severity, Tier } from '../findings.ts';
import type { ServerSpec } from '../../types.ts';
import { found, type ItemFinding } from './found.ts';
import type { Explained } from './rule.ts';

export const COMMAND: Explained = {
  id: 'C01',
  title: 'a command that runs more than a server',
  tier: 'soft',
  severity: 'high',
  why: 'The command of a server runs with all your rights. A shell, a download that is run unseen, a package without a version or a container that owns the machine runs something other tomorrow than what you read today.',
  example: 'sh -c "curl https://… | sh"',
  advice:
    'Name the program and an exact version: npx -y package@1.2.3. Take privileges out that it does not need.',
};

const SHELLS = new Set('sh bash zsh dash ksh fish cmd powershell pwsh'.split(' '));
const SHELL_FLAG = /^(?:-\w{0,4}c|\/[ck]|-(?:c|command|enc|encodedcommand|e|ec))$/i;
const INTERPRETERS = new Set('node deno bun python python3 perl ruby php'.split(' '));
const EVAL_FLAG = /^(?:-e|-p|-c|-r|--eval|--print)$/;
const RUNNERS: Readonly<Record<string, { pin: RegExp }>> = {
  npx: { pin: /.@\d+\.\d+\.\d+/ },
  bunx: { pin: /.@\d+\.\d+\.\d+/ },
  pnpx: { pin: /.@\d+\.\d+\.\d+/ },
  uvx: { pin: /(?:==|@)\d+(?:\.\d+)+/ },
  pipx: { pin: /==\d+(?:\.\d+)+/ },
};
/** Variables that make a program load code that nobody named. */
const LOADS_CODE =
  /^(?:NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PYTHONSTARTUP|PYTHONPATH|PYTHONHOME|BASH_ENV|ENV|PERL5(?:OPT|LIB)|RUBYOPT|JAVA_TOOL_OPTIONS|GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|EXTERNAL_DIFF|PAGER|EDITOR|CONFIG\w*)|PATH|npm_config_\w*registry)$/i;
const DOCKER: readonly [RegExp, Tier][] = [
  [/docker\.sock/, 'hard'],
  [/^--privileged(?:=true)?$/, 'hard'],
  [/^(?:(?:-v|--volume)=?)?\/:\//, 'hard'],
  [/^--mount=?.{0,80}(?:source|src)=\/,/, 'hard'],
  [/^--(?:network|net|pid|ipc|userns)=host$/, 'soft'],
  [/^--cap-add(?:=.{0,40})?$/, 'soft'],
];

/** The command line, and the one that it only wraps. */
interface Line {
  command: string;
  args: readonly string[];
  /** Of `args[0]` in the configuration. */
  offset: number;
}

export function findCommand({ transport }: ServerSpec): ItemFinding[] {
  if (transport.type !== 'stdio') return [];
  const { command, args, env, cwd } = transport;
  return [
    ...findLine({ command, args, offset: 0 }),
    ...Object.keys(env)
      .filter((name) => LOADS_CODE.test(name))
      .map((name) => found({ pointer: `/env/${name}`, inKey: true }, name, 'soft', 'high')),
    ...(isWritableByAll(command) ? [found({ pointer: '/command' }, command, 'soft', 'high')] : []),
    ...(cwd !== undefined && isWritableByAll(`${cwd}/`)
      ? [found({ pointer: '/cwd' }, cwd, 'soft', 'medium')]
      : []),
  ];
}

function findLine(line: Line): ItemFinding[] {
  const { command, args, offset } = line;
  const name = programName(command);
  const at = (index: number, tier: Tier, severity: Severity): ItemFinding =>
    found(
      { pointer: index < 0 ? commandPointer(offset) : `/args/${index + offset}` },
      args[index] ?? command,
      tier,
      severity,
    );
  const findings: ItemFinding[] = [];
  for (const [index, argument] of args.entries()) {
    if (PIPED_TO_SHELL.test(argument)) findings.push(at(index, 'hard', 'critical'));
  }
  if (name === 'sudo' || name === 'doas' || name === 'su') return [...findings, at(-1, 'hard', 'critical')];
  if (name === 'env') {
    const program = args.findIndex(
      (argument) => !argument.startsWith('-') && !/^[A-Za-z_]\w*=/.test(argument),
    );
    const start = program === -1 ? args.length : program;
    for (const [index, pair] of args.slice(0, start).entries())
      if (LOADS_CODE.test(pair.split('=')[0]!)) findings.push(at(index, 'soft', 'high'));
    return [...findings, ...innerLine(args.slice(start), offset + start)];
  }
  if (SHELLS.has(name)) return [...findings, ...shellLine(line, name, at)];
  if (INTERPRETERS.has(name)) {
    const flag = args.findIndex((argument) => EVAL_FLAG.test(argument));
    if (flag !== -1) findings.push(at(flag, 'soft', 'high'));
  }
  if (name === 'docker' || name === 'podman' || name === 'nerdctl') {
    for (const [index, argument] of args.entries()) {
      const joined = /^(?:-v|--volume|--network|--net|--pid|--ipc|--userns|--mount)$/.test(
        args[index - 1] ?? '',
      )
        ? `${args[index - 1]!}=${argument}`
        : argument;
      const rule = DOCKER.find(([pattern]) => pattern.test(argument) || pattern.test(joined));
      if (rule !== undefined) findings.push(at(index, rule[1], rule[1] === 'hard' ? 'critical' : 'high'));
    }
  }
  const { pin } = RUNNERS[name] ?? {};
  if (pin !== undefined) findings.push(...runnerLine(args, pin, at));
  return findings;
}

/** `cmd /c npx` is how Windows starts npx, and says no more than npx. Any other script of a shell is code in a configuration. */
function shellLine(
  line: Line,
  name: string,
  at: (index: number, tier: Tier, severity: Severity) => ItemFinding,
): ItemFinding[] {
  const flag = line.args.findIndex((argument) => SHELL_FLAG.test(argument));
  if (flag === -1) return [];
  const script = line.args.slice(flag + 1);
  const isWrapped = name === 'cmd' && RUNNERS[programName(script[0] ?? '')] !== undefined;
  return isWrapped
    ? [at(flag, 'note', 'low'), ...innerLine(script, line.offset + flag + 1)]
    : [at(script.length > 0 ? flag + 1 : flag, 'soft', 'high')];
}

function innerLine([command, ...args]: readonly string[], at: number): ItemFinding[] {
  return command === undefined ? [] : findLine({ command, args, offset: at + 1 });
}

const PIPED_TO_SHELL =
  /\b(?:curl|wget|iwr|invoke-webrequest)\b[^|;&\n]{0,400}\|\s{0,8}(?:sudo\s{1,4})?(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\b\s{0,4}<\(\s{0,4}(?:curl|wget)\b|\biex\b.{0,100}\b(?:iwr|irm|invoke-webrequest|downloadstring)\b/i;

function runnerLine(
  args: readonly string[],
  pin: RegExp,
  at: (index: number, tier: Tier, severity: Severity) => ItemFinding,
): ItemFinding[] {
  const index = packageAt(args);
  if (index === -1) return [];
  const name = args[index]!;
  if (FOREIGN.test(name)) return [at(index, 'soft', 'high')];
  return pin.test(name) || /^[./~]/.test(name) ? [] : [at(index, 'soft', 'medium')];
}

/** From an address rather than from the registry. */
const FOREIGN = /^(?:git\+|git:|https?:|file:|ssh:|github:|gitlab:|bitbucket:)|\.(?:tgz|tar\.gz|whl|zip)$/i;

/** Where the package stands among the words of npx and its like. */
export function packageAt(args: readonly string[]): number {
  for (const [index, argument] of args.entries()) {
    const previous = args[index - 1] ?? '';
    if (/^(?:-p|--package|--from|--spec)$/.test(previous)) return index;
    if (
      !argument.startsWith('-') &&
      argument !== 'run' &&
      !/^(?:-c|--call|--python|--index-url|--registry|--cache)$/.test(previous)
    )
      return index;
  }
  return -1;
}

export function programName(command: string): string {
  const name = command.split(/[/\\]/).at(-1) ?? '';
  return name.replace(/\.(?:exe|cmd|bat|ps1)$/i, '').toLowerCase();
}

const commandPointer = (offset: number): string => (offset === 0 ? '/command' : `/args/${offset - 1}`);

const isWritableByAll = (path: string): boolean =>
  /^(?:\/private)?(?:\/var)?\/tmp\/|^\/dev\/shm\/|^[a-z]:\\(?:windows\\)?temp\\|\\users\\public\\/i.test(
    path,
  );
