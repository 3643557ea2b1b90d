/** What the gateway says of its own work. Facts are ours: labels, methods, counts; never a credential, argument or result. */
import type { Json } from '../../types.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogEntry {
  level: LogLevel;
  message: string;
  facts: Readonly<Record<string, Json | undefined>>;
}

export interface Log {
  (level: LogLevel, message: string, facts?: LogEntry['facts']): void;
  /** Whether entries of a level go anywhere, so that none is made in vain. */
  has(level: LogLevel): boolean;
}

/** Passes on entries of this level and those that weigh more. */
export function logTo(write: (entry: LogEntry) => void, least: LogLevel = 'info'): Log {
  const last = LOG_LEVELS.indexOf(least);
  const has = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) <= last;
  return Object.assign(
    (level: LogLevel, message: string, facts: LogEntry['facts'] = {}) => {
      if (has(level)) write({ level, message, facts });
    },
    { has },
  );
}

export const silent: Log = Object.assign(() => undefined, { has: () => false });
