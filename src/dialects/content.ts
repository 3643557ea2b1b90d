/** MCP content blocks in the few forms that model APIs know: text, images, audio, files. */
import type { ContentBlock } from '../types.ts';
import { asNumber, asObject, asText } from './json.ts';
import { byteLength, oneLine, readableSize, wellFormed } from './text.ts';

export interface Media {
  type: 'image' | 'audio' | 'file';
  mimeType: string;
  /** Base64, checked. */
  data: string;
  /** Words for it: the resource's address, or nothing. */
  name: string;
}

export type Piece = { type: 'text'; text: string } | Media;

/** Where an API takes a medium: in the place itself, in a user message or part after it, or nowhere. */
export type Place = 'inside' | 'after' | 'nowhere';

/** What one API takes in one place. */
export interface Carrier {
  place(media: Media): Place;
}

export interface ReadContent {
  inside: Piece[];
  after: Media[];
  /** In words, without saying whose content it is. */
  losses: string[];
}

/** Base64 characters of text-like blobs and vector images that are shown as text. */
const mostDecoded = 1_000_000;
const textTypes = /^text\/|[/+](?:json|xml|yaml|toml|javascript|typescript|sql|csv|x-sh)$/;

/** Reads blocks one by one: a block that cannot be carried or read becomes a placeholder and a loss, alone. */
export function readBlocks(
  blocks: readonly ContentBlock[],
  carrier: Carrier,
  keep: (block: ContentBlock) => string | undefined,
): ReadContent {
  const read: ReadContent = { inside: [], after: [], losses: [] };
  const say = (text: string): void => {
    if (text !== '') read.inside.push({ type: 'text', text: wellFormed(text) });
  };
  for (const block of blocks) {
    const seen = lookAt(block);
    if (seen.kind === 'hidden') {
      read.losses.push('an app page (ui://) stays with the host');
    } else if (seen.kind === 'text') {
      say(seen.text);
    } else {
      const place = seen.kind === 'media' ? carrier.place(seen.media) : 'nowhere';
      if (seen.kind === 'media' && place !== 'nowhere') {
        if (place === 'inside') read.inside.push(seen.media);
        else {
          say(`[${nameOf(seen.media)} follows below]`);
          read.after.push(seen.media);
        }
        continue;
      }
      const text = seen.kind === 'media' ? asWords(seen.media) : undefined;
      if (text !== undefined) {
        say(text);
        continue;
      }
      const what = seen.kind === 'media' ? nameOf(seen.media) : seen.what;
      const handle = keep(block);
      say(`[${what} ${handle === undefined ? 'cannot be shown' : `stored as ${oneLine(handle)}`}]`);
      read.losses.push(`${what} became a placeholder`);
    }
  }
  return read;
}

type Seen =
  | { kind: 'text'; text: string }
  | { kind: 'media'; media: Media }
  | { kind: 'hidden' }
  | { kind: 'other'; what: string };

function lookAt(block: ContentBlock): Seen {
  switch (asObject(block)?.type) {
    case 'text':
      return typeof block['text'] === 'string' ? { kind: 'text', text: block['text'] } : malformed('text');
    case 'image':
    case 'audio':
      return (
        asMedia(block.type as 'image' | 'audio', block['data'], block['mimeType'], '') ??
        malformed(block.type)
      );
    case 'resource':
      return lookAtResource(block);
    case 'resource_link':
      return lookAtLink(block);
    default:
      return {
        kind: 'other',
        what: `block of the unknown type ${oneLine(asText(asObject(block)?.type), 60)}`,
      };
  }
}

function lookAtResource(block: ContentBlock): Seen {
  const resource = asObject(block['resource']);
  if (resource === undefined) return malformed('resource');
  const uri = oneLine(asText(resource['uri']));
  if (uri.startsWith('ui://')) return { kind: 'hidden' };
  const mimeType = mimeOf(resource['mimeType']);
  if (typeof resource['text'] === 'string') {
    const header = `Resource ${uri}${mimeType === undefined ? '' : ` (${mimeType})`}:`;
    return { kind: 'text', text: `${header}\n${resource['text']}` };
  }
  const type = mimeType?.startsWith('image/') ? 'image' : mimeType?.startsWith('audio/') ? 'audio' : 'file';
  return asMedia(type, resource['blob'], mimeType, uri) ?? malformed('resource');
}

function lookAtLink(block: ContentBlock): Seen {
  const uri = oneLine(asText(block['uri']));
  if (uri === '') return malformed('resource_link');
  if (uri.startsWith('ui://')) return { kind: 'hidden' };
  const name = oneLine(asText(block['title'])) || oneLine(asText(block['name']));
  const size = asNumber(block['size']);
  const facts = [mimeOf(block['mimeType']), size > 0 ? readableSize(size) : undefined]
    .filter(Boolean)
    .join(', ');
  const description = oneLine(asText(block['description']), 2000);
  const words = [
    name === '' ? `Resource: ${uri}` : `Resource: ${name} - ${uri}`,
    facts === '' ? '' : `(${facts})`,
    description,
  ];
  return { kind: 'text', text: words.filter((word) => word !== '').join(' ') };
}

function malformed(type: string): Seen {
  return { kind: 'other', what: `malformed ${type} block` };
}

function asMedia(type: Media['type'], data: unknown, declared: unknown, name: string): Seen | undefined {
  if (typeof data !== 'string') return undefined;
  // Some servers send a data: address or base64 in lines; APIs take neither.
  const base64 = data.replace(/^data:[^,]{0,200};base64,/, '').replaceAll(/\s+/g, '');
  if (base64 === '' || base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  const usual = { image: 'image/png', audio: 'audio/wav', file: 'application/octet-stream' }[type];
  const mimeType = (type === 'image' ? imageTypeOf(base64) : undefined) ?? mimeOf(declared) ?? usual;
  return { kind: 'media', media: { type, mimeType, data: base64, name } };
}

/** APIs refuse an image whose bytes are not of the declared type, and servers do mistake it: the bytes decide. */
function imageTypeOf(base64: string): string | undefined {
  if (base64.startsWith('iVBORw0KGgo')) return 'image/png';
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  if (base64.startsWith('R0lGOD')) return 'image/gif';
  return base64.startsWith('UklGR') && base64.slice(10, 16).includes('XRUJ') ? 'image/webp' : undefined;
}

/** The type without parameters, in lower case; undefined when it is none. */
function mimeOf(value: unknown): string | undefined {
  const type = asText(value).split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'image/jpg') return 'image/jpeg';
  return type.length <= 100 && /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type) ? type : undefined;
}

/** Text in a blob, such as SVG or JSON, as text. */
function asWords(media: Media): string | undefined {
  if (
    media.data.length > mostDecoded ||
    !(textTypes.test(media.mimeType) || media.mimeType === 'image/svg+xml')
  ) {
    return undefined;
  }
  try {
    const bytes = Uint8Array.from(atob(media.data), (one) => one.charCodeAt(0));
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const header =
      media.name === '' ? `${media.type} ${media.mimeType}` : `Resource ${media.name} (${media.mimeType})`;
    return `${header}:\n${text}`;
  } catch {
    return undefined;
  }
}

export function nameOf(media: Media): string {
  const padding = media.data.length - media.data.replace(/=+$/, '').length;
  const size = readableSize((media.data.length / 4) * 3 - padding);
  return `${media.type} ${media.name === '' ? '' : `${media.name} `}${media.mimeType} ${size}`;
}

/** Text of pieces for an API or place that has only one string. */
export function joinedText(pieces: readonly Piece[]): string {
  return pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('\n\n');
}

/** Bytes of all text in pieces. */
export function textBytes(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + (piece.type === 'text' ? byteLength(piece.text) : 0), 0);
}

export const imageTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/** A file name from the address of the resource, for APIs that ask for one. */
export function fileName(media: Media): string {
  const last =
    media.name
      .split(/[?#]/)[0]
      ?.split('/')
      .at(-1)
      ?.replaceAll(/[^\w.-]/g, '_') ?? '';
  return /\.\w+$/.test(last) ? last.slice(-100) : `${last.slice(-100) || 'document'}.pdf`;
}
