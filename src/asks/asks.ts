/**
 * How a question reaches a person and the answer comes back. One interface for every kind of question; who answers
 * (a terminal, code, a console, a client) is decided where the host is put together.
 */
import type { Json, JsonObject } from '../types.ts';

export type Ask =
  /** A form that a server wants filled (MCP elicitation, form mode). */
  | { kind: 'form'; label: string; tool?: string; message: string; schema: JsonObject }
  /** An address that a server wants opened (MCP elicitation, URL mode). */
  | { kind: 'url'; label: string; tool?: string; message: string; url: string }
  /** A call of a model that waits for a person's word; accepting it runs it. */
  | {
      kind: 'approve';
      label: string;
      tool: string;
      message: string;
      arguments: JsonObject;
      /** Of the definition that the model saw: an `always` holds for it alone. */
      digest?: string;
      /** The rule that asks, and why, in the host's words. */
      rule?: string;
      why?: string;
      /** The run or session it belongs to. */
      run?: string;
    };

export type Answer =
  | {
      action: 'accept';
      content?: { [name: string]: Json };
      /** For `approve`: how long the word holds. Default `once`. */
      remember?: 'once' | 'run' | 'always';
      /** Who answered, for the record. */
      by?: string;
    }
  /** `reason` is for the record and for the result's reader. */
  | { action: 'decline' | 'cancel'; reason?: string; remember?: 'once' | 'run' | 'always'; by?: string };

export interface Asks {
  /** Rejects only when its signal aborts, if at all; a failure to ask is a decline with its reason. */
  ask(ask: Ask, options: { signal: AbortSignal }): Promise<Answer>;
}

/** Nobody is there: everything is declined, with a reason that says so. */
export function nobody(): Asks {
  return {
    async ask() {
      return { action: 'decline', reason: 'nobody was there to answer' };
    },
  };
}
