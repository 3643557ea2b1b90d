/** Why a run ends, from what ended it. */
import type { Stop as TurnStop, Turn } from '../dialects/dialect.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { EndReason } from './events.ts';

export interface End {
  reason: EndReason;
  detail?: string;
  error?: MidspanError;
}

/** Of a turn that has no calls to answer. Some APIs say that there are calls when there are none. */
const REASON_OF_STOP: Record<TurnStop, EndReason> = {
  complete: 'complete',
  calls: 'complete',
  pause: 'complete',
  compaction: 'complete',
  'stop-sequence': 'complete',
  'max-tokens': 'max-tokens',
  refusal: 'refusal',
  'content-filter': 'content-filter',
  'context-window': 'context-window',
  failed: 'failed',
};

export function endOf({ stop, detail }: Pick<Turn, 'stop' | 'detail'>): End {
  return { reason: REASON_OF_STOP[stop], ...(detail !== undefined && { detail }) };
}

export function failure(error: unknown): End {
  return { reason: 'failed', detail: messageOf(error), ...(error instanceof MidspanError && { error }) };
}
