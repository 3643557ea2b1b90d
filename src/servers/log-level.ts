/** Levels of `notifications/message`, and how verbose a connection must be for everybody who listens. */
export const LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** Whether a message of `level` is for somebody who listens from `least` on. What is no level we know is for everybody. */
export function isAtLeast(level: unknown, least: unknown): boolean {
  const [severity, from] = [LEVELS.indexOf(level as string), LEVELS.indexOf(least as string)];
  return severity < 0 || severity >= from;
}
