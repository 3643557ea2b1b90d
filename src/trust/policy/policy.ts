/** CONTRACT of policy and taint (owner: trust/policy). Pure. */
import type { Action, JsonObject, Policy, ToolLabel, ToolResult } from '../../types.ts';

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
  /** `rules[2]`, `default`, `taint`, `protected-path`, `remembered`, `hints`. */
  rule: string;
  /** One sentence in the host's words. */
  why: string;
  labels: ToolLabel[];
}

/** What a run, a session or a conversation has seen. Only ever grows. */
export interface Taint {
  readonly untrusted: readonly string[]; // "label/tool" that brought it
  readonly private: readonly string[];
  readonly suspicious: readonly string[];
  /** After a call: what its labels and its cleaned result bring. */
  saw(
    call: { label: string; tool: string; labels: readonly ToolLabel[] },
    result: ToolResult,
    suspicious: boolean,
  ): void;
}
export declare function newTaint(): Taint;

/** A person's remembered word. Holds for exactly this digest of the definition. */
export interface Remembered {
  label: string;
  tool: string;
  digest: string;
  action: 'allow' | 'deny';
}

export declare function decide(
  policy: Policy,
  call: PolicyCall,
  context: { taint: Taint; remembered: (call: PolicyCall) => Remembered | undefined },
): Decided;

/** Suggested at review from hints and names; a person confirms them by approving the lock. Deterministic. */
export declare function suggestLabels(tool: JsonObject): ToolLabel[];

export declare const DEFAULT_POLICY: Policy;
