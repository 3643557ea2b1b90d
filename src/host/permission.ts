/** May this call run? The policy decides; where it asks, a person does; nobody there means no. */
import type { Answer, Asks } from '../asks/asks.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { type Decided, decide, type PolicyCall, type Remembered } from '../trust/policy/policy.ts';
import type { Policy, ServerSpec, ToolLabel } from '../types.ts';
import type { Session } from './session.ts';

/** Decisions that hold for good, each for one digest of a definition. */
export interface RememberedDecisions {
  get(call: Pick<PolicyCall, 'label' | 'tool' | 'digest'>): Remembered | undefined;
  set(decision: Remembered & { by: string | undefined }): void;
}

export interface PermissionDeps {
  policy: Policy;
  asks: Asks;
  always: RememberedDecisions | undefined;
  journal: Journal | undefined;
  /** How the configuration has a server's calls approved; only servers that are left to providers say so. */
  approval(label: string): ServerSpec['approval'];
}

export interface Permission {
  rule: string;
  why: string;
  /** Those of the lock and of the policy together. */
  labels: readonly ToolLabel[];
  /** Who said yes, where somebody was asked. */
  by?: string;
  /** Set: the call may not run. */
  denial?: MidspanError;
}

export interface Circumstances {
  session: Session;
  /** A person makes the call, so that nobody is asked. What the policy denies stays denied. */
  approved: boolean;
  signal: AbortSignal | undefined;
}

/** At once where nobody needs to be asked, which is nearly always. Never rejects. */
export function permission(
  call: PolicyCall,
  circumstances: Circumstances,
  deps: PermissionDeps,
): Permission | Promise<Permission> {
  const { session, approved } = circumstances;
  let decided: Decided;
  try {
    decided = decide(deps.policy, call, {
      taint: session.taint,
      remembered: (wanted) => session.remembered(wanted) ?? deps.always?.get(wanted),
    });
  } catch (error) {
    // Fail closed: a policy that cannot be applied never allows.
    decided = {
      action: 'ask',
      rule: 'policy',
      why: `The policy could not be applied: ${messageOf(error)}`,
      labels: [],
    };
  }
  const { action, rule, why, labels } = withApproval(decided, deps.approval(call.label));
  if (action === 'deny') return { rule, why, labels, denial: denialOf(call, why) };
  if (action === 'allow') return { rule, why, labels };
  if (approved) return { rule, why, labels, by: 'the caller' };
  return ask(call, { action, rule, why, labels }, circumstances, deps);
}

/** A server that is left to providers says itself whether each call is asked for; only a rule of the policy goes before it. */
function withApproval(decided: Decided, approval: ServerSpec['approval']): Decided {
  if (approval === 'always' && decided.action === 'allow')
    return { ...decided, action: 'ask', rule: 'approval', why: 'Its configuration asks before each call.' };
  if (approval === 'never' && decided.action === 'ask' && decided.rule === 'default')
    return {
      ...decided,
      action: 'allow',
      rule: 'approval',
      why: 'Its configuration says `"approval": "never"`.',
    };
  return decided;
}

async function ask(
  call: PolicyCall,
  { rule, why, labels }: Decided,
  { session, signal = new AbortController().signal }: Circumstances,
  { asks, always, journal }: PermissionDeps,
): Promise<Permission> {
  const { label, tool, digest } = call;
  const started = performance.now();
  const facts = {
    what: 'ask',
    label,
    item: tool,
    digest,
    rule,
    why,
    ...(session.id !== undefined && { run: session.id }),
  } as const;
  let answer: Answer;
  try {
    journal?.audit({ ...facts, decision: 'asked' });
    answer = await asks.ask(
      {
        kind: 'approve',
        label,
        tool,
        arguments: call.arguments,
        message: `A model wants to call ${tool} of ${label}.`,
        ...(digest !== '' && { digest }),
        rule,
        why,
        ...(session.id !== undefined && { run: session.id }),
      },
      { signal },
    );
    journal?.audit({
      ...facts,
      decision: answer.action,
      ...(answer.by !== undefined && { who: answer.by }),
      ...(answer.action !== 'accept' && answer.reason !== undefined && { why: answer.reason }),
      milliseconds: Math.round(performance.now() - started),
      ...(answer.remember !== undefined && { detail: { remember: answer.remember } }),
    });
  } catch (error) {
    answer = { action: 'cancel', reason: signal.aborted ? 'the call was canceled' : messageOf(error) };
  }
  // A word holds for one definition; of a tool that only a provider has listed, none is known.
  const isKept = digest !== '' && answer.remember !== undefined && answer.remember !== 'once';
  if (answer.action !== 'cancel' && isKept) {
    const decision = { label, tool, digest, action: answer.action === 'accept' ? 'allow' : 'deny' } as const;
    if (answer.remember === 'always' && always !== undefined) always.set({ ...decision, by: answer.by });
    else session.remember(decision);
  }
  if (answer.action === 'accept') return { rule, why, labels, by: answer.by ?? 'asks' };
  const reason = answer.reason === undefined ? '' : `: ${answer.reason}`;
  return { rule, why, labels, denial: denialOf(call, `the call was not approved${reason}. ${why}`) };
}

function denialOf({ label, tool }: PolicyCall, why: string): MidspanError {
  return new MidspanError({
    label,
    code: 'denied',
    what: `${tool} was not run: ${why}`,
    next: `\`midspan policy explain ${label}/${tool}\` shows the rule`,
  });
}
