/** The secrets of one server's configuration, taken out of whatever it says of an error: servers echo what they refuse. */
import { eraOf } from '../mcp/versions.ts';
import { isObject } from '../mcp/message.ts';
import type { RpcErrorObject } from '../mcp/message.ts';
import type { HttpTransport, Json, StdioTransport } from '../types.ts';

export type Redact = (text: string) => string;

const SECRET_NAME = /token|key|secret|passw|pwd|auth|credential|cookie|session|signature|jwt|dsn/i;
const SHORTEST_SECRET = 6;

/** A function that takes the secrets of a configured server out of a text. */
export function redactorOf(transport: StdioTransport | HttpTransport): Redact {
  if (transport.type === 'stdio') {
    const { env, args } = transport;
    return redactor([...valuesNamedSecret(env), ...Object.values(env).flatMap(loginOf), ...ofFlags(args)]);
  }
  const { url, headers } = transport;
  const query = URL.canParse(url) ? Object.fromEntries(new URL(url).searchParams) : {};
  return redactor([...Object.values(headers), ...loginOf(url), ...valuesNamedSecret(query)]);
}

/** The values whose names tell that they are secret. */
export function valuesNamedSecret(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}

/** A function that takes these values out of a text. */
export function redactor(values: readonly string[]): Redact {
  const secrets = [...new Set(values.flatMap(formsOf))]
    // A revision in a header is what both sides must be able to name.
    .filter((value) => value.length >= SHORTEST_SECRET && eraOf(value) === undefined)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((result, secret) => result.replaceAll(secret, '[redacted]'), text);
}

/** A JSON-RPC error without secrets. */
export function redactedError({ code, message, data }: RpcErrorObject, redact: Redact): RpcErrorObject {
  return { code, message: redact(message), ...(data === undefined ? {} : { data: redacted(data, redact) }) };
}

/** A value whose texts and names hold no secrets. */
export function redacted(value: Json, redact: Redact): Json {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [redact(name), redacted(each as Json, redact)]),
  );
}

/** "Bearer abc" also hides a bare "abc", and "Basic …" the login in it. */
function formsOf(value: string): string[] {
  const [scheme = '', ...rest] = value.split(/\s+/);
  const login = scheme.toLowerCase() === 'basic' ? Buffer.from(rest[0] ?? '', 'base64').toString() : '';
  return [value, ...rest, login, login.slice(login.indexOf(':') + 1)];
}

/** The password in an address, such as that of a database, and the whole login. */
function loginOf(address: string): string[] {
  if (!address.includes('@') || !URL.canParse(address)) return [];
  const { username, password } = new URL(address);
  if (password === '') return [];
  const [name, word] = [username, password].map(decoded) as [string, string];
  return [password, word, `${name}:${word}`, Buffer.from(`${name}:${word}`).toString('base64')];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `--token abc` and `--api-key=abc`. */
function ofFlags(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [, name = '', value] = /^-{1,2}([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (!SECRET_NAME.test(name)) return [];
    return [value ?? args[index + 1] ?? ''];
  });
}
