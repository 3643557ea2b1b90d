/** What a run has seen: text that strangers wrote, private data, results that look like an attack. */
import type { Taint } from './call.ts';

/**
 * Starts clean and only grows. Labels bring taint, whatever the result says; no label brings none.
 * @param before what a run had seen that goes on.
 */
export function newTaint(before?: Pick<Taint, 'untrusted' | 'private' | 'suspicious'>): Taint {
  const untrusted = new Set(before?.untrusted);
  const secret = new Set(before?.private);
  const suspicious = new Set(before?.suspicious);
  return {
    get untrusted() {
      return [...untrusted];
    },
    get private() {
      return [...secret];
    },
    get suspicious() {
      return [...suspicious];
    },
    saw({ label, tool, labels }, _result, isSuspicious) {
      const name = `${label}/${tool}`;
      if (labels.includes('untrusted')) untrusted.add(name);
      if (labels.includes('private')) secret.add(name);
      if (isSuspicious) suspicious.add(name);
    },
  };
}
