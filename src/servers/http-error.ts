import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import { parseJson } from '../mcp/json.ts';
import { isObject } from '../mcp/message.ts';
import type { JsonObject } from '../types.ts';
import { printable } from './printable.ts';

export interface HttpStatusDetails {
  label: string;
  /** Without user information and query. */
  url: string;
  status: number;
  headers: Record<string, string>;
  /** Bounded, without the secrets of the request. */
  body: string;
  /** What to do next, where the status alone does not say it. */
  next?: string;
}

/** A server answered with a status other than 2xx. */
export class HttpStatusError extends MidspanError {
  readonly status: number;
  /** Response headers, names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The body where it is one JSON object, which may be a JSON-RPC error response. */
  readonly json: JsonObject | undefined;
  readonly wwwAuthenticate: string | undefined;

  constructor(details: HttpStatusDetails) {
    const { label, url, status, headers, body } = details;
    const json = asJson(body);
    const said = excerpt(json, body);
    super({
      code: status === 401 ? 'sign-in' : 'protocol',
      label,
      what: `${url} answered with HTTP status ${status}${said === '' ? '' : ` (${said})`}`,
      next: details.next ?? adviceFor(status),
      data: { status },
    });
    this.name = 'HttpStatusError';
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.json = json;
    this.wwwAuthenticate = headers['www-authenticate'];
  }
}

const EXCERPT_CHARACTERS = 200;

function asJson(body: string): JsonObject | undefined {
  try {
    const value = parseJson(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A JSON-RPC error's message, or the start of a plain text; a page of HTML says nothing in one line. */
function excerpt(json: JsonObject | undefined, body: string): string {
  const error = json?.['error'];
  const inner = isObject(error) ? error['message'] : error;
  const text =
    typeof inner === 'string' ? inner : json === undefined && !body.trimStart().startsWith('<') ? body : '';
  return printable(text.slice(0, 2 * EXCERPT_CHARACTERS))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, EXCERPT_CHARACTERS);
}

function adviceFor(status: number): string {
  if (status === 401) return 'Sign in, or correct the credentials in its "headers"';
  if (status === 403) return 'Check that the credentials in its "headers" may use this server';
  if (status === 404 || status === 405) return 'Check that its "url" is the MCP endpoint';
  if (status === 429) return 'Try again later';
  if (status >= 500) return 'The server has a problem of its own; try again later';
  return 'Check its "url" and "headers"';
}

/** A URL as errors show it: no user information, no query, no fragment. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** Why an exchange failed on the network, in words; the code is `unreachable` when nothing was sent. */
export function networkFailure(
  cause: unknown,
  url: URL,
  sent: boolean,
): { code: ErrorCode; what: string; next?: string } {
  const reason = (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
  const where = shownUrl(url);
  if (reason === 'UND_ERR_INVALID_ARG') {
    return {
      code: 'config',
      what: `a header cannot be sent: ${messageOf(cause)}`,
      next: 'Correct its "headers"',
    };
  }
  if (reason === 'UND_ERR_HEADERS_OVERFLOW') {
    return { code: 'limit', what: `${where} answered with headers over our limit` };
  }
  if (sent) {
    return {
      code: 'closed',
      what: `the connection to ${where} broke before the answer was complete (${reason})`,
      next: 'The request may have been carried out',
    };
  }
  const known = UNREACHABLE[reason];
  if (known !== undefined)
    return { code: 'unreachable', what: known[0].replace('URL', where), next: known[1] };
  if (/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(reason)) {
    return {
      code: 'unreachable',
      what: `the TLS certificate of ${where} is not trusted (${reason})`,
      next: 'If it is issued by an authority of your own, name that authority in NODE_EXTRA_CA_CERTS',
    };
  }
  if (/SSL|EPROTO|TLS/.test(reason)) {
    return {
      code: 'unreachable',
      what: `${where} does not speak TLS (${reason})`,
      next: 'Check whether its "url" should begin with http://',
    };
  }
  return {
    code: 'unreachable',
    what: `${where} cannot be reached (${reason})`,
    next: 'Check its "url" and the network',
  };
}

const UNREACHABLE: Record<string, [what: string, next: string]> = {
  ECONNREFUSED: ['nothing listens at URL (ECONNREFUSED)', 'Start the server, or correct its "url"'],
  ENOTFOUND: ['the host of URL is not known (ENOTFOUND)', 'Correct its "url", or check the network'],
  EAI_AGAIN: ['the host of URL could not be looked up (EAI_AGAIN)', 'Check the network'],
  UND_ERR_CONNECT_TIMEOUT: [
    'URL did not accept a connection in time',
    'Check that the server runs and can be reached from here',
  ],
};
