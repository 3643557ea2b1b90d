/** What a run has seen: text that strangers wrote, private data, results that look like an attack. */
import { isObject } from '../../schema/keywords.ts';
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

/** What a model reads of a result: its texts, those in Base64 too, and what is structured where no text says the same. */
function textsOf({ content, structuredContent }: ToolResult): string[] {
  const texts = content.flatMap(({ text, data, resource }) => {
    const { text: inside, blob } = isObject(resource) ? resource : {};
    return [text, inside, decoded(data), decoded(blob)].filter((each) => typeof each === 'string');
  });
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  return json === undefined || texts.some((text) => says(text, json)) ? texts : [...texts, json];
}

/** Undefined for what is no text. */
function decoded(base64: Json | undefined): string | undefined {
  if (typeof base64 !== 'string') return undefined;
  try {
    const bytes = Buffer.from(base64.replace(/^data:[^,]{0,200};base64,/, ''), 'base64');
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function says(text: string, json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}
