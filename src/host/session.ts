/** What one run, or one client's session, has seen and was told: its taint and its remembered decisions. */
import { newTaint, type PolicyCall, type Remembered, type Taint } from '../trust/policy/policy.ts';

export interface Session {
  /** The run's id, for the record. */
  readonly id: string | undefined;
  readonly taint: Taint;
  /** A word that was given for the rest of this session. */
  remembered(call: Pick<PolicyCall, 'label' | 'tool' | 'digest'>): Remembered | undefined;
  remember(decision: Remembered): void;
}

/** @param seen what a run had seen that goes on. */
export function newSession(id?: string, seen?: Parameters<typeof newTaint>[0]): Session {
  const decisions = new Map<string, Remembered>();
  const keyOf = ({ label, tool, digest }: Pick<PolicyCall, 'label' | 'tool' | 'digest'>): string =>
    JSON.stringify([label, tool, digest]);
  return {
    id,
    taint: newTaint(seen),
    remembered: (call) => (decisions.size === 0 ? undefined : decisions.get(keyOf(call))),
    remember: (decision) => void decisions.set(keyOf(decision), decision),
  };
}
