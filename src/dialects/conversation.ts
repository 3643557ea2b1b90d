/**
 * A conversation as an API may see it: every call answered exactly once and in call order right after its turn, the
 * provider's own items only where they came from, and ids that every API accepts.
 */
import type { ContentBlock } from '../types.ts';
import type {
  ApprovalAnswer,
  AssistantMessage,
  Call,
  CallResult,
  DialectId,
  Message,
  TurnRequest,
} from './dialect.ts';
import type { JsonObject, ToolResult } from '../types.ts';
import { notRun } from './results.ts';

export type Step =
  | { role: 'user'; content: string | ContentBlock[] }
  | { role: 'assistant'; text: string; calls: Call[]; echo: JsonObject[] | undefined }
  | { role: 'tool'; results: CallResult[]; approvals: ApprovalAnswer[] };

export function conversation(
  { messages, provider }: Pick<TurnRequest, 'messages' | 'provider'>,
  dialect: DialectId,
  losses: string[],
): Step[] {
  const steps: Step[] = [];
  const taken = new Set<string>();
  const served = servedResults(messages);
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined) continue;
    if (message.role === 'user') {
      steps.push({ role: 'user', content: message.content });
    } else if (message.role === 'assistant') {
      const { echo } = message;
      const elsewhere = provider !== undefined && (echo?.provider ?? provider) !== provider;
      const own = echo?.dialect === dialect && !elsewhere;
      if (echo !== undefined && !own) {
        const [from, to] = elsewhere ? [echo.provider, provider] : [echo.dialect, dialect];
        const loss = `reasoning and provider items of ${from} turns are not sent to ${to}`;
        if (!losses.includes(loss)) losses.push(loss);
      }
      const calls = own ? message.calls : message.calls.map((call) => portable(call, taken));
      for (const { id } of calls) taken.add(id);
      if (!own) {
        const results = servedElsewhere(message, served, taken);
        if (results.length > 0) {
          steps.push({
            role: 'assistant',
            text: '',
            calls: results.map(({ call }) => call),
            echo: undefined,
          });
          steps.push({ role: 'tool', results, approvals: [] });
        }
      }
      steps.push({
        role: 'assistant',
        text: message.text,
        calls,
        echo: own ? echo.items : undefined,
      });
      const next = messages[at + 1];
      const results = next?.role === 'tool' ? next.results : [];
      if (next?.role === 'tool') at++;
      const approvals = own ? approvalsOf(message, next) : [];
      if (calls.length > 0 || approvals.length > 0) {
        steps.push({ role: 'tool', results: answered(message, calls, results), approvals });
      }
      reportStray(message, results, losses);
    } else {
      reportStray(undefined, message.results, losses);
    }
  }
  return steps;
}

/** One result per call, in call order; a call without one is answered as not run. */
function answered(
  message: AssistantMessage,
  calls: readonly Call[],
  results: readonly CallResult[],
): CallResult[] {
  return calls.map((call, at) => {
    const id = message.calls[at]?.id;
    const found = results.find((one) => one.call.id === id);
    return { call, result: found?.result ?? notRun(call.problem) };
  });
}

/** One answer per request: what nobody approved is declined. */
export function approvalsOf(message: AssistantMessage, next: Message | undefined): ApprovalAnswer[] {
  const given = next?.role === 'tool' ? (next.approvals ?? []) : [];
  return (message.approvals ?? []).map(
    ({ id }) =>
      given.find((answer) => answer.id === id) ?? { id, approve: false, reason: 'nobody approved it' },
  );
}

/** Results of calls that a provider made itself; one may stand in a later turn than its call. */
function servedResults(messages: readonly Message[]): Map<string, ToolResult> {
  const served = messages.flatMap((message) => (message.role === 'assistant' ? (message.served ?? []) : []));
  return new Map(served.flatMap(({ id, result }) => (result === undefined ? [] : [[id, result] as const])));
}

/** Calls that another provider made itself, as calls with results that every API takes. */
function servedElsewhere(
  message: AssistantMessage,
  results: ReadonlyMap<string, ToolResult>,
  taken: Set<string>,
): CallResult[] {
  return (message.served ?? [])
    .filter(({ tool }) => tool !== '')
    .map(({ id, server, tool, arguments: args }) => ({
      call: portable({ id, name: `${server}__${tool}`, arguments: args }, taken),
      result: results.get(id) ?? notRun(undefined),
    }));
}

function reportStray(
  message: AssistantMessage | undefined,
  results: readonly CallResult[],
  losses: string[],
): void {
  for (const { call } of results) {
    if (message?.calls.some(({ id }) => id === call.id) !== true) {
      losses.push(
        `${call.name} (${call.id}): the result answers no call of the turn before it and is left aside`,
      );
    }
  }
}

/** Another API's call under an id and a name that every API takes, the id once in the conversation. */
function portable(call: Call, taken: Set<string>): Call {
  const stem = portableText(call.id, 56) || 'call';
  let id = stem;
  for (let more = 2; taken.has(id); more++) id = `${stem}_${more}`;
  taken.add(id);
  return { ...call, id, name: portableText(call.name, 64) || 'unnamed' };
}

function portableText(text: string, most: number): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, most);
}
