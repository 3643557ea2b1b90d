/**
 * The conversation of a run. One law: every call has exactly one result, in the message right after it and in call order,
 * so that every provider's API accepts the conversation at any time.
 */
import { approvalsOf } from '../dialects/conversation.ts';
import type { AssistantMessage, Call, CallResult, Message, Turn } from '../dialects/dialect.ts';
import type { ToolResult } from '../types.ts';

export function errorResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * A copy of a conversation that keeps the law: calls without a result are answered with `reason`, results of nothing are left out,
 * empty answers too.
 */
export function settle(messages: readonly Message[], reason: string): Message[] {
  const settled: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue; // taken up with the message whose calls it answers
    if (message.role !== 'assistant') {
      settled.push(message);
      continue;
    }
    if (isEmpty(message)) continue;
    settled.push(message);
    const next = messages[index + 1];
    const approvals = approvalsOf(message, next);
    if (message.calls.length === 0 && approvals.length === 0) continue;
    const given = next?.role === 'tool' ? next.results : [];
    settled.push({
      role: 'tool',
      results: message.calls.map(
        (call) => given.find((result) => result.call.id === call.id) ?? { call, result: errorResult(reason) },
      ),
      ...(approvals.length > 0 && { approvals }),
    });
  }
  return settled;
}

/** No API takes an answer of nothing back. */
export function isEmpty(message: AssistantMessage): boolean {
  const { text, calls, served = [], echo } = message;
  return text.trim() === '' && calls.length === 0 && served.length === 0 && (echo?.items.length ?? 0) === 0;
}

/**
 * What is kept of an answer that did not come to its end: its text. Its calls may be cut, and the provider's own items
 * are only accepted back when they are whole.
 */
export function salvage(text: string): AssistantMessage {
  return { role: 'assistant', text, calls: [] };
}

/**
 * Gives a second call with an id that was used before an id of its own; APIs refuse a conversation with two of one.
 * The provider's own items hold the old id, so they are not sent back then.
 */
export function separateIds(
  message: AssistantMessage,
  used: Set<string>,
): { message: AssistantMessage; renamed: string[] } {
  const renamed: string[] = [];
  const calls = message.calls.map((call): Call => {
    const id = freeId(call.id, used);
    used.add(id);
    if (id === call.id) return call;
    renamed.push(call.id);
    return { ...call, id };
  });
  if (renamed.length === 0) return { message, renamed };
  const { echo: _echo, ...rest } = message;
  return { message: { ...rest, calls }, renamed };
}

function freeId(id: string, used: ReadonlySet<string>): string {
  if (!used.has(id)) return id;
  let count = 2;
  while (used.has(`${id}_${count}`)) count += 1;
  return `${id}_${count}`;
}

export function idsOf(messages: readonly Message[]): Set<string> {
  return new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : [])),
  );
}

/**
 * A turn as it enters the transcript: whole, or what is left of one that was cut, whose calls are not to be run.
 */
export function keepTurn(turn: Turn): { message: AssistantMessage; discarded: Call[] } {
  const whole =
    turn.stop === 'calls' || turn.stop === 'complete' || turn.stop === 'stop-sequence' || goesOn(turn);
  if (whole) return { message: turn.message, discarded: [] };
  const { text, calls, served } = turn.message;
  return { message: { ...salvage(text), ...(served !== undefined && { served }) }, discarded: calls };
}

/** The provider wants the conversation again as it is, its own items included. */
export function goesOn({ stop }: Pick<Turn, 'stop'>): boolean {
  return stop === 'pause' || stop === 'compaction';
}

/** What the model is told beside the results, behind the last of them. */
export function withNotes(results: readonly CallResult[], notes: readonly string[]): CallResult[] {
  return results.map((each, index) => {
    if (notes.length === 0 || index < results.length - 1) return each;
    const told = notes.map((note) => ({ type: 'text', text: `[midspan] ${note}` }));
    return { ...each, result: { ...each.result, content: [...each.result.content, ...told] } };
  });
}
