/** Rules about what a definition says of itself beside its text: hints, icons, addresses. */
import { isObject } from '../../schema/keywords.ts';
import type { Json } from '../../types.ts';
import { isPrivateHost } from './addresses.ts';
import { found, type ItemFinding } from './found.ts';
import type { ItemRule } from './rule.ts';
import { wordsOf } from './schema-names.ts';

const DESTROYS = new Set('delete drop purge destroy wipe erase truncate uninstall'.split(' '));
const WRITES = new Set(
  'create update write insert upsert modify edit rename move send post publish upload deploy install set add remove merge push'.split(
    ' ',
  ),
);

export const HINTS: ItemRule = {
  on: 'item',
  id: 'S12',
  title: 'hints that contradict the name',
  tier: 'soft',
  severity: 'medium',
  why: 'Clients ask less before a call that is said to read only. A tool that deletes and is said to read only asks for that.',
  example: 'delete_workspace with `readOnlyHint: true`',
  advice: 'Do not rely on the hints. Midspan never loosens anything for a hint.',
  find({ kind, value }) {
    const { annotations, name, description } = value;
    if (kind !== 'tool' || !isObject(annotations) || typeof name !== 'string') return [];
    const [verb = ''] = wordsOf(name);
    const hit = (hint: string, isHard: boolean): ItemFinding =>
      found(
        { pointer: `/annotations/${hint}`, end: 0 },
        '',
        isHard ? 'hard' : 'soft',
        isHard ? 'high' : 'medium',
      );
    const findings: ItemFinding[] = [];
    if (annotations['readOnlyHint'] === true && (DESTROYS.has(verb) || WRITES.has(verb)))
      findings.push(hit('readOnlyHint', DESTROYS.has(verb) && tellsOf(DESTROYS, description)));
    if (annotations['destructiveHint'] === false && DESTROYS.has(verb))
      findings.push(hit('destructiveHint', false));
    return findings.map((finding) => ({
      ...finding,
      evidence: `${name}: ${finding.pointer.slice('/annotations/'.length)}`.slice(0, 200),
    }));
  },
};

/** Whether a text names one of the verbs, in any form. */
function tellsOf(verbs: ReadonlySet<string>, text: Json | undefined): boolean {
  if (typeof text !== 'string') return false;
  const words = wordsOf(text.slice(0, 400));
  return words.some((word) => [...verbs].some((verb) => word.startsWith(verb.replace(/e$/, ''))));
}

export const ADDRESSES: ItemRule = {
  on: 'item',
  id: 'S09',
  title: 'an icon or address that is not safe to load',
  tier: 'soft',
  severity: 'medium',
  why: 'Icons are loaded to be shown. An address of the own network, a script or an SVG with scripts makes a picture into a request or a program.',
  example: '{"icons": [{"src": "javascript:…"}]}',
  advice: 'Midspan loads no icons. Other clients may: tell the author.',
  find({ value }) {
    const icons = Array.isArray(value['icons']) ? value['icons'].slice(0, 100) : [];
    const addresses: [Json | undefined, string, boolean][] = icons.map((icon, at) => [
      isObject(icon) ? icon['src'] : icon,
      `/icons/${at}${isObject(icon) ? '/src' : ''}`,
      true,
    ]);
    addresses.push([value['websiteUrl'], '/websiteUrl', false]);
    return addresses.flatMap(([address, pointer, isIcon]) => {
      if (typeof address !== 'string') return [];
      const danger = dangerOf(address, isIcon);
      return danger === undefined
        ? []
        : [found({ pointer }, address, danger, danger === 'hard' ? 'high' : 'medium')];
    });
  },
};

function dangerOf(address: string, isIcon: boolean): 'hard' | 'soft' | undefined {
  if (isIcon && /^data:image\/(?:png|jpe?g|webp|gif)[;,]/i.test(address)) return undefined;
  if (isIcon && /^data:image\/svg\+xml[;,]/i.test(address))
    return /<script|\bon\w{1,20}=|javascript:/i.test(readable(address)) ? 'hard' : 'soft';
  if (!URL.canParse(address)) return 'soft';
  const { protocol, hostname, username } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') return 'hard';
  if (username !== '' || isPrivateHost(hostname)) return 'hard';
  return protocol === 'http:' ? 'soft' : undefined;
}

/** The text in a `data:` address, in whichever way it is written. */
function readable(address: string): string {
  const [head = '', body = ''] = address.slice(0, 64 * 1024).split(',', 2);
  if (/;base64$/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  try {
    return decodeURIComponent(body);
  } catch {
    return body;
  }
}
