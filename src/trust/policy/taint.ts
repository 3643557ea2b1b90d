/** What a run has seen: text that strangers wrote, private data, results that look like an attack. */
import type { Taint } from './call.ts';

/** Starts clean and only grows. Labels bring taint, whatever the result says; no label brings none. */
export function newTaint(): Taint {
  const untrusted = new Set<string>();
  const secret = new Set<string>();
  const suspicious = new Set<string>();
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
