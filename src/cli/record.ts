/** Decisions of a person at the command line, in the audit of the configuration's store. */
import { openJournal } from '../journal/journal.ts';
import type { AuditEvent, Config } from '../index.ts';
import { storeOf } from '../index.ts';
import { userInfo } from 'node:os';

/** @throws MidspanError when it cannot be recorded. */
export function recordDecision(config: Config, event: AuditEvent): void {
  const store = storeOf(config);
  if (store === false) return;
  try {
    openJournal(store).audit({ who: person(), ...event });
  } finally {
    store.close();
  }
}

/** For the record. */
export function person(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}
