/** What decides one call, for `midspan policy explain`. Starts no server: the lock says what is known of a tool. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { suggestion } from '../config/problems.ts';
import { MidspanError } from '../errors.ts';
import type { Config } from '../index.ts';
import { isObject } from '../mcp/message.ts';
import type { Decided, LabelSource, PolicyCall, Taint } from '../trust/policy/policy.ts';
import type { JsonObject, PolicyRule, ToolLabel } from '../types.ts';
import { withStore } from './asks.ts';
import type { CommonOptions, Context } from './context.ts';
import { EXIT } from './exit.ts';
import type { Part, Printer } from './print.ts';

export interface ExplainOptions extends CommonOptions {
  args?: string;
  untrusted?: boolean;
  private?: boolean;
}

interface Pin {
  digest: string;
  labels: readonly ToolLabel[];
  definition: JsonObject;
}

/** What the lock says of tools, by `<label>/<tool>`. */
export async function pinsOf({ trust }: Config): Promise<Map<string, Pin>> {
  if (trust.lock === undefined || !existsSync(trust.lock)) return new Map();
  const { readLock } = await import('../trust/lock/index.ts');
  const lock = await readLock(trust.lock);
  const pins = Object.entries(lock?.servers ?? {}).flatMap(([label, { tools }]) =>
    Object.entries(tools).map(([tool, { digest, labels = [], definition }]): [string, Pin] => [
      `${label}/${tool}`,
      { digest, labels, definition },
    ]),
  );
  return new Map(pins);
}

export async function explain(
  context: Context,
  name: string,
  words: readonly string[],
  options: ExplainOptions,
): Promise<number> {
  const { print } = context;
  return withStore(context, options, async (store, config) => {
    const { decide, labelSources } = await import('../trust/policy/policy.ts');
    const { label, tool } = ownerOf(name, config);
    const pin = (await pinsOf(config)).get(`${label}/${tool}`);
    const { annotations } = pin?.definition ?? {};
    const hints = isObject(annotations) ? annotations : undefined;
    const call: PolicyCall = {
      label,
      tool,
      arguments: await argumentsOf(words, options.args, pin, context),
      digest: pin?.digest ?? '',
      labels: pin?.labels ?? [],
      ...(hints !== undefined && { hints }),
    };
    const remembered = (wanted: PolicyCall) =>
      pin === undefined ? undefined : store?.remembered.get(wanted);
    const seen = (untrusted: boolean, secret: boolean): Taint => ({
      untrusted: untrusted ? ['assumed'] : [],
      private: secret ? ['assumed'] : [],
      suspicious: [],
      saw: () => undefined,
      leak: () => undefined,
    });
    const { untrusted = false, private: secret = false } = options;
    const decided = decide(config.policy, call, { taint: seen(untrusted, secret), remembered });
    const tainted = decide(config.policy, call, { taint: seen(true, true), remembered });
    const sources = labelSources(config.policy, call);
    if (options.json === true) {
      print.json({
        label,
        tool,
        arguments: call.arguments,
        ...answerOf(decided),
        labels: sources,
        locked: pin !== undefined,
        digest: pin?.digest,
        hints,
        seen: { untrusted, private: secret },
        tainted: answerOf(tainted),
      });
      return EXIT.good;
    }
    printExplained(
      { name: `${label}/${tool}`, decided, tainted, sources, hints, rules: config.policy.rules },
      print,
    );
    if (pin === undefined)
      print.note(
        'The tool is not in the lock, so that its hints and what was remembered of it are not known here.',
      );
    return EXIT.good;
  });
}

const answerOf = ({ action, rule, why }: Decided): Omit<Decided, 'labels'> => ({ action, rule, why });

interface Explained {
  name: string;
  decided: Decided;
  tainted: Decided;
  sources: readonly LabelSource[];
  hints: JsonObject | undefined;
  rules: readonly PolicyRule[];
}

function printExplained({ name, decided, tainted, sources, hints, rules }: Explained, print: Printer): void {
  const { action, rule, why } = decided;
  print.line({ style: 'bold', text: name }, '  ', { style: STYLES[action], text: action }, ` by ${rule}`);
  print.line(`  ${why}`);
  const at = /^rules\[(\d+)\]$/.exec(rule)?.[1];
  const own = at === undefined ? undefined : rules[Number(at)];
  if (own !== undefined) print.line('  ', ...ruleLine(rule, own));
  print.line(sources.length === 0 ? '  no labels' : '  labels');
  for (const { label, from } of sources)
    print.line(
      `    ${label}  from ${from === 'lock' ? 'the lock' : `policy.labels ${JSON.stringify(from.glob)}`}`,
    );
  const said = Object.entries(hints ?? {}).filter(([key]) => key.endsWith('Hint'));
  if (said.length > 0)
    print.line(
      `  the server says ${said.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(', ')}`,
    );
  if (tainted.action !== action || tainted.rule !== rule) {
    print.line(
      '  after text of strangers and private data: ',
      { style: STYLES[tainted.action], text: tainted.action },
      ` by ${tainted.rule}`,
    );
  }
}

/** Labels may hold slashes: the longest that is configured counts. */
function ownerOf(name: string, { servers }: Config): { label: string; tool: string } {
  const labels = servers.map(({ label }) => label).sort((a, b) => b.length - a.length);
  const label = labels.find((one) => name.startsWith(`${one}/`) && name.length > one.length + 1);
  if (label !== undefined) return { label, tool: name.slice(label.length + 1) };
  const [first = ''] = name.split('/');
  throw new MidspanError({
    code: 'usage',
    what: labels.includes(name)
      ? `${JSON.stringify(name)} is a server; a rule is about one of its tools`
      : `there is no server labeled ${JSON.stringify(first)}${suggestion(first, labels)}`,
    next: 'Write <label>/<tool>, such as files/read_file',
  });
}

async function argumentsOf(
  words: readonly string[],
  json: string | undefined,
  pin: Pin | undefined,
  { cwd }: Context,
): Promise<JsonObject> {
  const { parseArguments, readArguments } = await import('./arguments.ts');
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith('{') === true) return parseArguments(first);
  const schema = pin?.definition['inputSchema'];
  return readArguments(
    words,
    isObject(schema) ? schema : {},
    json === undefined ? {} : parseArguments(json),
    (file) => readFile(path.resolve(cwd, file), 'utf8'),
  );
}

const STYLES = { allow: 'green', ask: 'yellow', deny: 'red' } as const;

export function ruleLine(
  name: string,
  { tools, labels, arguments: schema, action, tainted, reason }: PolicyRule,
): Part[] {
  const conditions = [
    tools === undefined ? 'every tool' : tools.join(', '),
    ...(labels === undefined ? [] : [`labeled ${labels.join(' and ')}`]),
    ...(schema === undefined ? [] : [`arguments ${JSON.stringify(schema)}`]),
    ...(tainted === undefined ? [] : ['also when tainted']),
  ];
  return [
    { style: 'bold', text: name },
    '  ',
    { style: STYLES[action], text: action },
    `  ${conditions.join('; ')}${reason === undefined ? '' : ` (${reason})`}`,
  ];
}
