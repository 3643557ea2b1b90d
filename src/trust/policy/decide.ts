/** May this call run? The order of what is asked here is described in docs/trust.md, under Policy. */
import { validate } from '../../schema/index.ts';
import type { Action, Policy, PolicyRule, ToolLabel } from '../../types.ts';
import type { DecisionContext, Decided, PolicyCall, Taint } from './call.ts';
import { globs } from './globs.ts';
import { admitsWriting, labelsOf } from './labels.ts';
import { protectedPath } from './protected.ts';

/** What the rules, the default and a person's word say, before what the call touches and what was seen. */
interface Base {
  action: Action;
  rule: string;
  why: string;
  /** The rule holds in a tainted run, too. */
  coversTaint?: boolean;
}

/**
 * Decides one call. Never throws: what cannot be decided asks.
 * 1. The first rule that matches, else the default. 2. A person's word for this digest answers what asks, and a no always
 * holds. 3. A `deny` is final. 4. An argument that names a protected path asks. 5. Unless the rule that allows it says
 * `"tainted": "allow"`: what may send asks when it carries a private result of another server, and a sink asks once
 * untrusted text and private data were seen.
 */
export function decide(policy: Policy, call: PolicyCall, context: DecisionContext): Decided {
  const labels = labelsOf(policy, call);
  const base = withRemembered(baseOf(policy, call, labels), call, context);
  return {
    ...(base.action === 'deny' ? base : tightened(base, policy, call, labels, context.taint)),
    labels,
  };
}

function baseOf(policy: Policy, call: PolicyCall, labels: ToolLabel[]): Base {
  for (const [index, rule] of policy.rules.entries()) {
    const matched = matches(rule, call, labels);
    if (matched === false) continue;
    const name = `rules[${index}]`;
    if (matched !== true) {
      const action = rule.action === 'deny' ? 'deny' : 'ask';
      return { action, rule: name, why: `Whether ${name} matches cannot be told: ${matched.undecided}.` };
    }
    const leansOnReads = rule.labels?.includes('reads') === true && rule.tools === undefined;
    if (rule.action === 'allow' && leansOnReads && admitsWriting(call.hints)) return HINTS;
    return {
      action: rule.action,
      rule: name,
      why: sentence(`${name} of the policy ${VERBS[rule.action]}`, rule.reason),
      coversTaint: rule.action === 'allow' && rule.tainted === 'allow',
    };
  }
  return byDefault(policy.default, call, labels);
}

const VERBS: Readonly<Record<Action, string>> = { allow: 'allows it', ask: 'asks', deny: 'denies it' };

const HINTS: Base = {
  action: 'ask',
  rule: 'hints',
  why: 'It is labeled as reading, but the server itself says that it changes or destroys something.',
};

function byDefault(action: Policy['default'], call: PolicyCall, labels: readonly ToolLabel[]): Base {
  const rule = 'default';
  if (action !== 'reads') return { action, rule, why: `No rule matches, and the default ${VERBS[action]}.` };
  if (labels.length === 0)
    return {
      action: 'ask',
      rule,
      why: 'No rule matches, and the tool has no labels: what it does is not known.',
    };
  if (!labels.includes('reads'))
    return { action: 'ask', rule, why: 'No rule matches, and the tool is not labeled as reading.' };
  if (isWorse(labels))
    return { action: 'ask', rule, why: 'No rule matches, and the tool does more than read.' };
  if (admitsWriting(call.hints)) return HINTS;
  return { action: 'allow', rule, why: 'It is labeled as reading alone.' };
}

const isWorse = (labels: readonly ToolLabel[]): boolean =>
  labels.includes('sends') || labels.includes('destroys');

/** True, false, or why it cannot be told. */
function matches(
  rule: PolicyRule,
  call: PolicyCall,
  labels: readonly ToolLabel[],
): boolean | { undecided: string } {
  if (rule.tools !== undefined && !globs(rule.tools)(`${call.label}/${call.tool}`)) return false;
  if (rule.labels?.every((label) => labels.includes(label)) === false) return false;
  if (rule.arguments === undefined) return true;
  try {
    const verdict = validate(rule.arguments, call.arguments);
    return verdict.ok === 'unchecked' ? { undecided: verdict.reason } : verdict.ok;
  } catch {
    return { undecided: 'its schema cannot be evaluated' };
  }
}

function withRemembered(base: Base, call: PolicyCall, { remembered }: DecisionContext): Base {
  const word = remembered(call);
  const holds = word?.label === call.label && word.tool === call.tool && word.digest === call.digest;
  if (!holds || base.action === 'deny') return base;
  if (word.action === 'deny')
    return {
      action: 'deny',
      rule: 'remembered',
      why: 'A person said no to this definition of the tool before.',
    };
  if (base.action === 'allow') return base;
  return { action: 'allow', rule: 'remembered', why: 'A person allowed this definition of the tool before.' };
}

/** What no allowance covers by itself: what the arguments touch, and what was seen before. */
function tightened(
  base: Base,
  policy: Policy,
  call: PolicyCall,
  labels: readonly ToolLabel[],
  taint: Taint,
): Base {
  const isReading = labels.includes('reads') && !isWorse(labels) && !admitsWriting(call.hints);
  const touched = protectedPath(call.arguments, { globs: policy.protectedPaths, isReading });
  if (touched !== undefined) return { action: 'ask', rule: 'protected-path', why: touched };
  if (base.coversTaint === true) return base;
  const leak = leaking(call, labels, taint);
  if (leak !== undefined) return { action: 'ask', rule: 'leak', why: leak };
  const seen = toxic(taint, labels);
  return seen === undefined ? base : { action: 'ask', rule: 'taint', why: seen };
}

/** Why a call that may send must ask for what it carries (rule R07 of the scan). */
function leaking(call: PolicyCall, labels: readonly ToolLabel[], taint: Taint): string | undefined {
  if (labels.length > 0 && !labels.includes('sends')) return undefined;
  const leak = taint.leak(call);
  if (leak === undefined) return undefined;
  const { from, length, how, pointer } = leak;
  const place = pointer.length > NAME_SHOWN ? `${pointer.slice(0, NAME_SHOWN)}…` : pointer;
  const encoded = how === 'text' ? '' : `, as ${how},`;
  return `The argument at ${JSON.stringify(place)} repeats${encoded} ${length} characters of a private result of ${listed([`${from.label}/${from.tool}`]) ?? ''}.`;
}

/** Why a sink must ask: strangers' words may steer the call, and private data may leave with it. */
function toxic(taint: Taint, labels: readonly ToolLabel[]): string | undefined {
  if (labels.length > 0 && !isWorse(labels)) return undefined;
  const strangers = [...new Set([...taint.untrusted, ...taint.suspicious])];
  if (strangers.length === 0) return undefined;
  // A tool that reads private data and sends it needs nothing else to have read it.
  const secret = labels.includes('private') ? 'this tool itself' : listed(taint.private);
  if (secret === undefined) return undefined;
  const does =
    labels.length === 0
      ? 'may let data leave, for it has no labels'
      : labels.includes('sends')
        ? 'lets data leave'
        : 'cannot be undone';
  return `Text of strangers (${listed(strangers) ?? ''}) and private data (${secret}) were seen, and this tool ${does}.`;
}

const NAMES_SHOWN = 3;
const NAME_SHOWN = 80;

function listed(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const shown = names
    .slice(0, NAMES_SHOWN)
    .map((name) => (name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN)}…` : name));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const sentence = (text: string, reason: string | undefined): string => {
  const whole = reason === undefined ? text : `${text}: ${reason}`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
};
