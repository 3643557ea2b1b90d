import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { EVENT_BYTES } from '../mcp/limits.ts';
import type { MakeError } from './exchange.ts';

export interface EventStreamOptions {
  onEvent: (event: EventSourceMessage) => void;
  /** Milliseconds to wait before the stream is opened again. */
  onRetry?: (milliseconds: number) => void;
  error: MakeError;
}

/**
 * A reader of `text/event-stream` bytes, strict about UTF-8 and bounded in the size of an event.
 * The function returned takes the chunks, and throws a MidspanError when the stream must not be read on.
 */
export function eventStream({ onEvent, onRetry, error }: EventStreamOptions): (chunk: Buffer) => void {
  let decoder: TextDecoder | undefined;
  let endedInReturn = false;
  let tooLarge = false;
  const parser = createParser({
    onEvent,
    onRetry,
    onError: (problem) => (tooLarge ||= problem.type === 'max-buffer-size-exceeded'),
    maxBufferSize: EVENT_BYTES,
  });

  const decode = (chunk: Buffer): string => {
    // Most chunks are whole; from the first character that is cut in two, a decoder carries the halves.
    if (decoder === undefined && isUtf8(chunk)) return chunk.toString('utf8');
    decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    try {
      return decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw error('protocol', 'it sent an event stream that is not UTF-8', undefined, cause);
    }
  };

  return (chunk) => {
    let text = decode(chunk);
    // Line feeds only: the parser searches a stream with carriage returns in quadratic time.
    if (endedInReturn && text.startsWith('\n')) text = text.slice(1);
    endedInReturn = text.endsWith('\r') || (endedInReturn && text === '');
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
    parser.feed(text);
    if (tooLarge) throw error('limit', `it sent an event of more than ${EVENT_BYTES} bytes`);
  };
}
