/** Decisions of a person at the command line, in the audit of the configuration's store. */
import type { AuditEvent, Config } from '../index.ts';
import { person } from './person.ts';

/**
 * Decisions that take effect when the lock file is written: recorded before, so that none holds unrecorded. A file that
 * could not be written is recorded after them.
 * @throws MidspanError when they cannot be recorded; then nothing is written.
 */
export async function recordAndWrite(
  config: Config,
  events: readonly AuditEvent[],
  write: () => Promise<void>,
): Promise<void> {
  const { storeOf } = await import('../index.ts');
  const { openJournal } = await import('../journal/journal.ts');
  const store = storeOf(config);
  if (store === false) return write();
  try {
    const journal = openJournal(store);
    const record = (event: AuditEvent): void => journal.audit({ who: person(), ...event });
    events.forEach(record);
    try {
      await write();
    } catch (error) {
      for (const event of events)
        record({ ...event, decision: 'undone', why: 'the lock file could not be written' });
      throw error;
    }
  } finally {
    store.close();
  }
}
