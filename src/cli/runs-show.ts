/** A recorded run, line by line. */
import type { Call, Message } from '../index.ts';
import { type RecordedConversation, redact, redactText } from '../journal/journal.ts';
import type { ContentBlock, JsonObject, ToolResult } from '../types.ts';
import type { Part } from './print.ts';

type StoredCall = RecordedConversation['calls'][number];

/** What may be shown: without `full` everything that looks like a secret is left out, and long texts are cut. */
export function shownConversation(found: RecordedConversation, isFull: boolean): RecordedConversation {
  if (isFull) return found;
  return {
    run: found.run,
    messages: found.messages.map((message) => {
      if (message.role === 'assistant') {
        // The provider's own items may hold anything, and say nothing more.
        const { echo: _echo, ...rest } = message;
        return redact(rest as unknown as JsonObject) as unknown as Message;
      }
      return redact(message as unknown as JsonObject) as unknown as Message;
    }),
    calls: found.calls.map((call) => ({
      ...call,
      result: undefined,
      error: call.error && redactText(call.error),
    })),
  };
}

export const timeOf = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

export function conversationLines({ run, messages, calls }: RecordedConversation): Part[][] {
  const { usage, turns } = run;
  const last =
    run.ended === undefined
      ? run.status
      : `${run.reason}${run.detail === undefined ? '' : `: ${run.detail}`}`;
  const rows = new Map<string, StoredCall[]>();
  for (const call of calls) rows.set(call.call ?? '', [...(rows.get(call.call ?? '') ?? []), call]);
  return [
    [{ style: 'bold', text: run.id }, `  ${timeOf(run.started)}  ${run.model}`],
    [
      {
        style: 'dim',
        text: `${last}; ${turns} turns, ${run.calls} calls, ${usage.input} tokens in, ${usage.output} out`,
      },
    ],
    ...messages.flatMap((message, index) => linesOf(message, messages[index + 1], rows)),
  ];
}

function linesOf(
  message: Message,
  next: Message | undefined,
  rows: ReadonlyMap<string, readonly StoredCall[]>,
): Part[][] {
  if (message.role === 'user') {
    const { content } = message;
    return textLines('user', typeof content === 'string' ? content : blocksText(content));
  }
  if (message.role === 'tool') return []; // shown with the calls
  const results = next?.role === 'tool' ? next.results : [];
  return [
    ...(message.text === '' ? [] : textLines('model', message.text)),
    ...message.calls.flatMap((call) => {
      const result = results.find((each) => each.call.id === call.id)?.result;
      return callLines(call, rows.get(call.id) ?? [], result);
    }),
    ...(message.served ?? []).flatMap(({ id, tool, arguments: args, result }) =>
      callLines({ id, name: `${tool} (by the provider)`, arguments: args }, [], result),
    ),
  ];
}

function callLines(call: Call, rows: readonly StoredCall[], result: ToolResult | undefined): Part[][] {
  const ended = rows.map((row): Part[] => {
    const time = row.milliseconds === undefined ? '' : `, ${row.milliseconds} ms`;
    const why = row.rule === undefined ? '' : `; ${row.rule}${row.by === undefined ? '' : `, by ${row.by}`}`;
    const choice =
      row.choice === undefined ? '' : `, then ${row.choice === 'retry' ? 'run again' : 'skipped'}`;
    const style = row.status === 'done' ? 'green' : row.status === 'unknown' ? 'yellow' : 'red';
    return ['       ', { style, text: row.status }, `${time}${choice}${why}`];
  });
  return [
    [{ style: 'dim', text: 'call   ' }, `${call.id}  ${call.name} ${JSON.stringify(call.arguments)}`],
    ...(rows.length === 0 && result === undefined ? [['       not run yet'] as Part[]] : ended),
    ...(result === undefined
      ? []
      : textLines(result.isError === true ? 'error' : 'result', blocksText(result.content))),
  ];
}

function textLines(name: string, text: string): Part[][] {
  return text
    .split(/\r?\n/)
    .map((line, index): Part[] => [{ style: 'dim', text: (index === 0 ? name : '').padEnd(7) }, line]);
}

const blocksText = (blocks: readonly ContentBlock[]): string =>
  blocks.map((block) => (typeof block['text'] === 'string' ? block['text'] : `[${block.type}]`)).join('\n');
