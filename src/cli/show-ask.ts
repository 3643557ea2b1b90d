/** An ask, drawn for a person: in full, and nothing of it acts on the terminal. */
import { domainToUnicode } from 'node:url';
import type { Ask } from '../asks/asks.ts';
import { pointerTo } from '../schema/reference.ts';
import { scanAsk } from '../trust/scan/ask.ts';
import { SECRET_INPUT } from '../trust/scan/schema-inputs.ts';
import { fieldsOf, showField } from './form.ts';
import type { Printer } from './print.ts';

/** Everything that the digest of the ask covers and a person decides by. */
export function showAsk(ask: Ask, print: Pick<Printer, 'note' | 'noteText'>): void {
  const who = `${ask.label}${ask.tool === undefined ? '' : `: ${ask.tool}`}`;
  switch (ask.kind) {
    case 'approve':
      print.note({ style: 'yellow', text: 'approve' }, ' ', { style: 'bold', text: who });
      print.noteText(indented(JSON.stringify(ask.arguments, null, 2)));
      if (ask.why !== undefined) print.note(`  ${ask.why}`);
      return;
    case 'url':
      print.note({ style: 'yellow', text: 'open' }, ' ', { style: 'bold', text: who });
      print.note('  The server wants this address opened. It says: ', ask.message);
      print.note('  ', { style: 'bold', text: ask.url });
      for (const line of aboutAddress(ask.url)) print.note(`  ${line}`);
      return;
    case 'form':
      print.note({ style: 'yellow', text: 'asks' }, ' ', { style: 'bold', text: who });
      print.note('  The server asks for this, and sees what you answer. It says: ', ask.message);
      showFields(ask, print);
      return;
    default:
      ask satisfies never;
  }
}

function showFields(form: Ask & { kind: 'form' }, print: Pick<Printer, 'note'>): void {
  const places = scanAsk(form).flatMap(({ rule, pointer }) =>
    rule === SECRET_INPUT.id ? [`${pointer}/`] : [],
  );
  for (const field of fieldsOf(form.schema)) {
    const place = `${pointerTo('/schema/properties', field.name)}/`;
    showField(
      field,
      places.some((at) => at.startsWith(place)),
      print,
    );
  }
}

/** What is easily overlooked in an address. */
export function aboutAddress(address: string): string[] {
  if (!URL.canParse(address)) return ['It is no address that can be opened.'];
  const url = new URL(address);
  const lines = [`It leads to ${url.host}`];
  const unicode = domainToUnicode(url.hostname);
  if (unicode !== url.hostname)
    lines.push(`which is shown as ${unicode}: letters of several scripts may look alike.`);
  if (url.protocol !== 'https:') lines.push('It is not encrypted on its way.');
  if (url.username !== '' || url.password !== '')
    lines.push('What stands before the @ is a name or password, not where it leads to.');
  return lines;
}

const indented = (text: string): string => text.replace(/^/gm, '  ');
