/** What hidden and encoded parts of a text say: each part decoded, at most twice over, within a bound. */
import { tagText } from './tags.ts';

export interface Decoded {
  how: 'tags' | 'selectors' | 'zero-width' | 'base64' | 'hex' | 'escapes' | 'percent' | 'rot13';
  text: string;
  /** Where the encoded part stands in the raw text. */
  start: number;
  end: number;
}

export const MOST_DECODED = 64 * 1024;
const DEPTH = 2;
/** Characters from which decoded text can say anything. */
const LEAST = 4;

/** Complete flags of England, Scotland and Wales: the only tag sequences in use. */
export const FLAG =
  /\u{1f3f4}\ufe0f?\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;
const TAGS = /[\u{e0000}-\u{e007f}]+/gu;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4,}/gu;
const ZERO_WIDTH = /[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{16,}/g;

/** Hidden parts: there is no honest reason for any of them to say something. */
function* hidden(raw: string): Generator<Decoded> {
  const bare = raw.replace(FLAG, (flag) => ' '.repeat(flag.length));
  const runs = [...bare.matchAll(TAGS)];
  const said = runs.map(([run]) => tagText(run)).join('');
  if (said.length >= LEAST) {
    const last = runs.at(-1)!;
    yield { how: 'tags', text: said, start: runs[0]!.index, end: last.index + last[0].length };
  }
  for (const { 0: run, index } of raw.matchAll(SELECTORS)) {
    const bytes = Array.from(run, (character) => {
      const code = character.codePointAt(0)!;
      return code < 0x10000 ? code - 0xfe00 : code - 0xe0100 + 16;
    });
    yield* readable('selectors', Uint8Array.from(bytes), index, run.length);
  }
  for (const { 0: run, index } of raw.matchAll(ZERO_WIDTH)) {
    const [zero, one] = [...new Set(run)].sort();
    if (one === undefined) continue;
    for (const set of [one, zero]) {
      const bits = Array.from(run, (character) => (character === set ? '1' : '0')).join('');
      const bytes = bits.match(/.{8}/g) ?? [];
      yield* readable(
        'zero-width',
        Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2)),
        index,
        run.length,
      );
    }
  }
}

const BASE64 = /[A-Za-z0-9+/_\-\n]{16,}={0,2}/g;
const HEX = /(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{2}[ :]?){8,}/g;
const ESCAPES = /(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|&#x?[0-9a-fA-F]{2,5};){4,}/g;
const PERCENT = /%[0-9a-fA-F]{2}(?:[^\s%]{0,40}%[0-9a-fA-F]{2}){2,}[^\s%]{0,40}/g;

function* encoded(raw: string): Generator<Decoded> {
  for (const { 0: run, index } of raw.matchAll(BASE64)) {
    if (/[a-z]/.test(run) && /[A-Z0-9]/.test(run))
      yield* readable('base64', Buffer.from(run.replaceAll('\n', ''), 'base64'), index, run.length);
  }
  for (const { 0: run, index } of raw.matchAll(HEX))
    yield* readable('hex', Buffer.from(run.replace(/[ :]/g, ''), 'hex'), index, run.length);
  for (const { 0: run, index } of raw.matchAll(ESCAPES)) {
    const text = run.replace(/\\[xu]([0-9a-fA-F]+)|&#(x?)([0-9a-fA-F]+);/g, (_, code, hex, entity) =>
      String.fromCodePoint(
        code === undefined
          ? Math.min(0x10ffff, Number.parseInt(entity, hex === '' ? 10 : 16) || 0)
          : Number.parseInt(code, 16),
      ),
    );
    yield { how: 'escapes', text, start: index, end: index + run.length };
  }
  for (const { 0: run, index } of raw.matchAll(PERCENT)) {
    const text = run.replace(/(?:%[0-9a-fA-F]{2})+/g, (bytes) =>
      Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
    );
    yield { how: 'percent', text, start: index, end: index + run.length };
  }
  if (/rot-?13/i.test(raw)) {
    const text = raw.replace(/[a-z]/gi, (letter) => {
      const base = letter < 'a' ? 65 : 97;
      return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
    });
    yield { how: 'rot13', text, start: 0, end: raw.length };
  }
}

const strict = new TextDecoder('utf-8', { fatal: true });

/** Nothing when the bytes are no text: then they are an image, a digest or a name. */
function* readable(
  how: Decoded['how'],
  bytes: Uint8Array,
  start: number,
  length: number,
): Generator<Decoded> {
  let text: string;
  try {
    text = strict.decode(bytes);
  } catch {
    return;
  }
  // eslint-disable-next-line no-control-regex -- they tell text from data
  if (text.length < LEAST || /[\u0000-\u0008\u000e-\u001f\u007f\ufffd]/.test(text)) return;
  yield { how, text, start, end: start + length };
}

/** Everything that is decoded from a text, and from that again. `isPlain`: nothing hidden can be in it. */
export function decodedTexts(raw: string, isPlain: boolean): Decoded[] {
  const found: Decoded[] = [];
  let left = MOST_DECODED;
  let layer: Decoded[] = [{ how: 'rot13', text: raw, start: 0, end: raw.length }];
  for (let depth = 0; depth < DEPTH && layer.length > 0; depth++) {
    const next: Decoded[] = [];
    for (const outer of layer) {
      const parts =
        depth === 0 && isPlain ? [encoded(outer.text)] : [hidden(outer.text), encoded(outer.text)];
      for (const part of parts) {
        for (const one of part) {
          if (left <= 0) return found;
          const text = one.text.slice(0, left);
          left -= text.length;
          next.push(depth === 0 ? { ...one, text } : { ...outer, text });
        }
      }
    }
    found.push(...next);
    layer = next;
  }
  return found;
}
