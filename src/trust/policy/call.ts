/** What a policy is asked about, what it knows, and what it says. */
import type { Action, JsonObject, ToolLabel, ToolResult } from '../../types.ts';
import type { Leak } from '../scan/leaks.ts';

export interface PolicyCall {
  label: string;
  tool: string;
  arguments: JsonObject;
  /** Of the definition shown. */
  digest: string;
  /** Of the lock. Those of the policy are added by `decide`. */
  labels: readonly ToolLabel[];
  /** The server's hints (`annotations`): may tighten, never loosen. */
  hints?: JsonObject;
}

export interface Decided {
  action: Action;
  /** `rules[2]`, `default`, `taint`, `leak`, `protected-path`, `remembered`, `hints`. */
  rule: string;
  /** One sentence in the host's words. */
  why: string;
  /** Of the lock and the policy together, in the order of the type. */
  labels: ToolLabel[];
}

/** What a run, a session or a conversation has seen. Only ever grows. Each member names tools as `<label>/<tool>`. */
export interface Taint {
  readonly untrusted: readonly string[];
  readonly private: readonly string[];
  /** Brought a result that the scan found suspicious. Counts as untrusted. */
  readonly suspicious: readonly string[];
  /**
   * After a call: what its labels (`Decided.labels`, not those of the lock alone) and its cleaned result bring. A failed
   * result brings as much as any other.
   */
  saw(
    call: { label: string; tool: string; labels: readonly ToolLabel[] },
    result: ToolResult,
    suspicious: boolean,
  ): void;
  /** A passage of a private result of another server that the arguments of a call repeat, plainly or encoded. */
  leak(call: Pick<PolicyCall, 'label' | 'arguments'>): Leak | undefined;
}

/** A person's remembered word. Holds for exactly this digest of the definition. */
export interface Remembered {
  label: string;
  tool: string;
  digest: string;
  action: 'allow' | 'deny';
}

export interface DecisionContext {
  taint: Taint;
  remembered: (call: PolicyCall) => Remembered | undefined;
}

/** Whether a person's word may hold longer than once for a call that asks by this rule. */
export const isRememberable = (rule: string | undefined): boolean =>
  rule !== 'taint' && rule !== 'leak' && rule !== 'protected-path';
