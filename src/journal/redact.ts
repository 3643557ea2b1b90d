/**
 * Arguments as they may be recorded: what looks like a secret, or stands under a name that says so, is left out. Guesswork
 * on purpose: what is recorded tells what a call was about, and the digest of the full arguments tells the rest.
 */
import type { Json, JsonObject } from '../types.ts';

export const REDACTED = '[redacted]';
/** Characters of one text that are recorded. */
const LONGEST_TEXT = 1_000;

const SECRET_NAME =
  /pass(?:word|wd|phrase|code)|^pwd$|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|authorization|credential|cookie|^auth$|^pin$|^otp$/i;

/** Forms that issuers give their keys, tokens with a signature, keys in PEM, and credentials in headers. */
const SECRET_TEXT =
  /\b(?:sk|pk|rk)[-_][\w-]{16,200}|\bgh[pousr]_\w{20,200}|\bgithub_pat_\w{20,200}|\bglpat-[\w-]{16,200}|\bxox[a-z]-[\w-]{10,200}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,60}|\bya29\.[\w-]{20,400}|\bnpm_\w{30,60}|\bhf_\w{20,60}|\beyJ[\w-]{8,4000}\.[\w-]{2,4000}(?:\.[\w-]{0,4000})?|\b(?:Bearer|Basic)\s{1,4}[\w.~+/=-]{8,4000}/g;
const PEM = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;
/** The password of an address. */
const USERINFO = /(:\/\/[^\s:/?#@]{0,200}):[^\s/?#@]{1,400}@/g;
/** `token=…` in a query, a command or a connection string. */
const ASSIGNED =
  /\b((?:[\w-]{0,40}(?:password|passwd|secret|token|api[-_]?key|access[-_]?key)|pwd|sig|signature)["']?\s{0,2}[=:]\s{0,2}["']?)[^\s&;"',]{3,4000}/gi;
/** A word that nobody would type: long, without a break, of all kinds of characters. */
const WORD = /[\w+/=-]{32,4000}/g;

export function redact(value: JsonObject, names: ReadonlySet<string> = new Set()): JsonObject {
  return redactMembers(value, names);
}

function redactMembers(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecret(name, member, names) ? REDACTED : member === undefined ? member : redactValue(member, names),
    ]),
  );
}

/** A number or a switch under such a name is a setting (`max_tokens`), unless the name was configured. */
const isSecret = (name: string, member: Json | undefined, names: ReadonlySet<string>): boolean =>
  names.has(name) ||
  (SECRET_NAME.test(name) && typeof member !== 'number' && typeof member !== 'boolean' && member !== null);

function redactValue(value: Json, names: ReadonlySet<string>): Json {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((member) => redactValue(member, names));
  return typeof value === 'object' && value !== null ? redactMembers(value, names) : value;
}

export function redactText(text: string): string {
  if (PEM.test(text)) return REDACTED;
  const shown = (text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text)
    .replace(SECRET_TEXT, REDACTED)
    .replace(USERINFO, `$1:${REDACTED}@`)
    .replace(ASSIGNED, `$1${REDACTED}`)
    .replace(WORD, (word) => (isRandom(word) ? REDACTED : word));
  return text.length > LONGEST_TEXT ? `${shown}… (${text.length} characters)` : shown;
}

const isRandom = (word: string): boolean =>
  /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word) && !word.includes('/');
