/** What a server asks of a person (elicitation): forms that collect secrets, addresses that are not what they seem (S13, E01). */
import type { Finding } from '../findings.ts';
import { isObject } from '../../schema/keywords.ts';
import { pointer } from '../../schema/reference.ts';
import type { JsonObject } from '../../types.ts';
import { isAddressLiteral, isLoopback, isPrivateHost } from './addresses.ts';
import { found, type ItemFinding } from './found.ts';
import type { Explained } from './rule.ts';
import { SECRET_INPUT } from './schema-inputs.ts';
import { isSecret } from './schema-names.ts';

export type Asked =
  | { kind: 'form'; message: string; schema: JsonObject }
  | { kind: 'url'; message: string; url: string };

export const ADDRESS_ASKED: Explained = {
  id: 'E01',
  title: 'an address that a server wants opened, and that is not safe to open',
  tier: 'hard',
  severity: 'high',
  why: 'A person who opens an address at the word of a server signs in, pays or agrees there. It must be plain who answers.',
  example: 'https://github.com.login.example/device',
  advice: 'Read the host from its end. Open the service as you always do instead.',
};

/**
 * Pointers lead into the ask: `/url`, `/message`, `/schema/properties/…`. A hard finding: the form must not be shown, the address
 * not be opened. Soft ones belong beside the question.
 */
export function scanAsk(ask: Asked): Finding[] {
  const findings =
    ask.kind === 'url'
      ? addressFindings(ask.url, '/url').map((finding): [string, ItemFinding] => [ADDRESS_ASKED.id, finding])
      : formFindings(ask.message, ask.schema);
  return findings.map(([rule, finding]) => ({ rule, kind: 'server', key: '', ...finding }));
}

function formFindings(message: string, schema: JsonObject): [string, ItemFinding][] {
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const fields = properties.flatMap(([name, field]) =>
    isObject(field) && isFreeText(field) ? [{ name, field }] : [],
  );
  const findings: [string, ItemFinding][] = [];
  for (const { name, field } of fields) {
    const place = ['schema', 'properties', name];
    const told = ['title', 'description'].flatMap((member): [string, string][] => {
      const text = field[member];
      return typeof text === 'string' && asksForSecret(text) ? [[member, text]] : [];
    })[0];
    if (isSecret(name) || field['format'] === 'password' || field['writeOnly'] === true)
      findings.push([
        SECRET_INPUT.id,
        found({ pointer: pointer(place), inKey: true }, name, 'hard', 'critical'),
      ]);
    else if (told !== undefined)
      findings.push([
        SECRET_INPUT.id,
        found({ pointer: pointer([...place, told[0]]) }, told[1], 'hard', 'critical'),
      ]);
    const fallback = field['default'];
    if (typeof fallback === 'string' && /^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(fallback)) {
      const at = pointer([...place, 'default']);
      findings.push([ADDRESS_ASKED.id, found({ pointer: at }, fallback, 'soft', 'medium')]);
    }
  }
  if (fields.length > 0 && findings.length === 0 && asksForSecret(message))
    findings.push([SECRET_INPUT.id, found({ pointer: '/message' }, message, 'hard', 'critical')]);
  return findings;
}

/** A choice among given values gives nothing away. */
function isFreeText({ type, enum: values, oneOf, anyOf, const: only }: JsonObject): boolean {
  return (
    (type === 'string' || type === undefined) &&
    [values, oneOf, anyOf, only].every((value) => value === undefined)
  );
}

const SECRET_TEXT =
  /\b(?:pass(?:word|phrase|code)|(?:one[- ]time|verification|authentication|2fa|mfa|otp) (?:code|password|pin)|seed phrase|recovery (?:phrase|code|key)|mnemonic|private key|secret key|api key|access token|cvv2?|cvc|card number|social security|ssn)s?\b/gi;
const DENIED = /\b(?:do not|don't|never|without|no|not) [^.!?\n]{0,40}$/i;

function asksForSecret(text: string): boolean {
  const start = text.slice(0, 4_096).normalize('NFKC');
  return [...start.matchAll(SECRET_TEXT)].some(
    ({ index }) => !DENIED.test(start.slice(Math.max(0, index - 60), index)),
  );
}

const SHORTENERS = new Set(
  'bit.ly t.co tinyurl.com goo.gl is.gd ow.ly buff.ly rebrand.ly cutt.ly shorturl.at rb.gy tiny.cc s.id v.gd'.split(
    ' ',
  ),
);
/** Sites that people sign in at: their names within another host are bait. */
const BAIT =
  /(?:^|[.-])(?:github|gitlab|google|microsoft|office|apple|icloud|paypal|stripe|amazon|aws|facebook|slack|notion|dropbox|okta|auth0|openai|anthropic)(?:[.-])/;
const SITES =
  /(?:^|\.)(?:github\.(?:com|io)|gitlab\.com|google\.(?:com|[a-z]{2}|co\.[a-z]{2})|microsoft\.com|microsoftonline\.com|office\.com|office365\.com|apple\.com|icloud\.com|paypal\.com|stripe\.com|amazon\.(?:com|[a-z]{2}|co\.[a-z]{2})|amazonaws\.com|aws\.com|facebook\.com|slack\.com|notion\.(?:so|com|site)|dropbox\.com|okta\.com|auth0\.com|openai\.com|anthropic\.com)$/;

function addressFindings(address: string, at: string): ItemFinding[] {
  const hit = (tier: 'hard' | 'soft'): ItemFinding =>
    found({ pointer: at }, address, tier, tier === 'hard' ? 'high' : 'medium');
  if (/[\s\p{Cc}\p{Cf}\\"<>`]/u.test(address) || !URL.canParse(address)) return [hit('hard')];
  const { protocol, hostname, username, password } = new URL(address);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) return [hit('hard')];
  if (username !== '' || password !== '') return [hit('hard')];
  if (isLoopback(hostname)) return [hit('soft')];
  if (isPrivateHost(hostname)) return [hit('hard')];
  const isUnclear =
    /(?:^|\.)xn--/.test(hostname) ||
    isAddressLiteral(hostname) ||
    SHORTENERS.has(hostname) ||
    (BAIT.test(`${hostname}.`) && !SITES.test(hostname));
  return isUnclear ? [hit('soft')] : [];
}
