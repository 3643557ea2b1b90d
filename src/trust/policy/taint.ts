/** What a run has seen: text that strangers wrote, private data, results that look like an attack. */
import type { Json, ToolResult } from '../../types.ts';
import { leaks, privateTexts } from '../scan/leaks.ts';
import type { Taint } from './call.ts';

/**
 * Starts clean and only grows. Labels bring taint, whatever the result says; no label brings none.
 * @param before what a run had seen that goes on; the texts of its private results are not known any more.
 */
export function newTaint(before?: Pick<Taint, 'untrusted' | 'private' | 'suspicious'>): Taint {
  const untrusted = new Set(before?.untrusted);
  const secret = new Set(before?.private);
  const suspicious = new Set(before?.suspicious);
  const texts = privateTexts();
  let hasTexts = false;
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
    saw({ label, tool, labels }, result, isSuspicious) {
      const name = `${label}/${tool}`;
      if (labels.includes('untrusted')) untrusted.add(name);
      if (labels.includes('private')) {
        secret.add(name);
        for (const text of textsOf(result)) texts.add({ label, tool }, text);
        hasTexts = true;
      }
      if (isSuspicious) suspicious.add(name);
    },
    leak: ({ label, arguments: args }) => (hasTexts ? leaks(args, { label }, texts)[0] : undefined),
  };
}

/** What a model reads of a result: its texts, and what is structured where there is no text. */
function textsOf({ content, structuredContent }: ToolResult): string[] {
  const texts = content.flatMap(({ text, resource }) => [
    text,
    isObject(resource) ? resource['text'] : undefined,
  ]);
  const found = texts.filter((text) => typeof text === 'string');
  return found.length > 0 || structuredContent === undefined ? found : [JSON.stringify(structuredContent)];
}

const isObject = (value: Json | undefined): value is { [member: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
