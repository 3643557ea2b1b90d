/** Errors about one server, from what its peer said or from what its channel met. */
import { MidspanError, messageOf } from '../errors.ts';
import { ERROR_DATA_MAX, ERROR_TEXT_MAX } from '../mcp/protocol-limits.ts';
import { MISSING_CAPABILITY, UNSUPPORTED_VERSION, isObject } from '../mcp/message.ts';
import { safeText } from '../mcp/text.ts';
import { versionsOf } from '../mcp/versions.ts';
import type { ErrorCode } from '../errors.ts';
import type { RequestOptions } from './request.ts';
import type { RpcErrorObject } from '../mcp/message.ts';
import type { Json } from '../types.ts';

/** A JSON-RPC error of the peer. `data.code`, `data.message` and `data.data` are the peer's; `data.status` is the HTTP status that carried it. */
export function rpcFailure(
  label: string,
  method: string,
  error: RpcErrorObject,
  status?: number,
): MidspanError {
  const { code } = error;
  const message = safeText(error.message, ERROR_TEXT_MAX);
  const next =
    code === MISSING_CAPABILITY
      ? needs(error.data)
      : code === UNSUPPORTED_VERSION
        ? versions(error.data)
        : undefined;
  return new MidspanError({
    code: 'rpc',
    label,
    what: `the server refused ${method} with ${code}: ${message === '' ? '(no message)' : message}`,
    ...(next === undefined ? {} : { next }),
    data: {
      code,
      message: error.message.slice(0, ERROR_TEXT_MAX),
      ...bounded(error.data),
      ...(status === undefined ? {} : { status }),
    },
  });
}

function bounded(data: Json | undefined): { data?: Json } {
  return data !== undefined && JSON.stringify(data).length <= ERROR_DATA_MAX ? { data } : {};
}

function needs(data: Json | undefined): string {
  const required = isObject(data) ? data.requiredCapabilities : undefined;
  const list = isObject(required) ? capabilityNames(required) : [];
  const named = list.length === 0 ? 'something that it did not name' : list.join(', ');
  return `It needs a client that can do this: ${named}. Run it where these are answered`;
}

/** `{elicitation: {url: {}}}` as `elicitation.url`. */
function capabilityNames(required: Record<string, Json | undefined>): string[] {
  return Object.entries(required)
    .flatMap(([name, value]) => {
      const parts = isObject(value) ? Object.keys(value) : [];
      return parts.length === 0 ? [name] : parts.map((part) => `${name}.${part}`);
    })
    .slice(0, 20)
    .map((name) => safeText(name, 100));
}

function versions(data: Json | undefined): string {
  const supported = isObject(data) && Array.isArray(data.supported) ? data.supported : [];
  return `It speaks ${listed(supported)}; we speak ${[...versionsOf('modern'), ...versionsOf('legacy')].join(', ')}`;
}

/** Revisions that a server named, for people. */
export function listed(offered: readonly Json[]): string {
  const names = offered
    .slice(0, 10)
    .map((each) => safeText(typeof each === 'string' ? each : JSON.stringify(each), 40));
  return names.length === 0 ? 'no revision that it names' : names.join(', ');
}

/** Anything thrown as a MidspanError of this server. */
export function failure(label: string, error: unknown, code: ErrorCode = 'internal'): MidspanError {
  if (error instanceof MidspanError) return error;
  return new MidspanError({ code, label, what: messageOf(error), cause: error });
}

const UNKNOWN_OUTCOME = 'Check what happened before you call again';

/** The request never reached the server. */
export function unsent(label: string, reason: MidspanError): MidspanError {
  const what = `the connection has ended (${reason.what})`;
  return new MidspanError({ code: 'closed', label, what, cause: reason, data: { sent: false } });
}

/** The request reached the server, and nobody will hear what came of it. */
export function outcomeUnknown(label: string, what: string, reason?: MidspanError): MidspanError {
  const told = `${what}, so its outcome is unknown${reason === undefined ? '' : ` (${reason.what})`}`;
  const cause = reason === undefined ? {} : { cause: reason };
  return new MidspanError({
    code: 'closed',
    label,
    what: told,
    next: UNKNOWN_OUTCOME,
    data: { sent: true },
    ...cause,
  });
}

export function cancelled(label: string, what: string, sent: boolean): MidspanError {
  return new MidspanError({ code: 'cancelled', label, what: `${what} was cancelled`, data: { sent } });
}

/** `over`: the whole time was used up, not the time without progress. */
export function expired(
  label: string,
  method: string,
  { timeout, timeoutMax = timeout }: RequestOptions,
  over: boolean,
  sent: boolean,
): MidspanError {
  return new MidspanError({
    code: 'timeout',
    label,
    what: over
      ? `${method} was not answered within ${timeoutMax} ms`
      : `${method} made no progress for ${timeout} ms`,
    next: 'Raise its timeouts if it needs longer',
    data: { sent },
  });
}

/** It waited behind others, which run one by one because the server does not say what its questions are about. */
export function outOfTurn(label: string, method: string, { timeout }: RequestOptions): MidspanError {
  return new MidspanError({
    code: 'timeout',
    label,
    what: `${method} waited ${timeout} ms for its turn: this server asks questions, so calls run one at a time`,
    next: 'Try again later, or set "isolation" in its configuration, so that others need not be waited for',
    data: { sent: false },
  });
}

/** The server broke the protocol. */
export function broken(label: string, what: string, cause?: MidspanError): MidspanError {
  const next = cause?.next ?? 'Report this to the author of the server';
  return new MidspanError({ code: 'protocol', label, what, next, cause });
}

/** It did not become usable in its time. */
export function startTooSlow(label: string, milliseconds: number, cause: unknown): MidspanError {
  return new MidspanError({
    code: 'timeout',
    label,
    what: `it was not ready within ${milliseconds} ms`,
    next: 'Raise "timeouts.start" in its configuration if it needs longer',
    cause,
  });
}

/** Somebody's patience ended before the server was ready. */
export function stillStarting(label: string, state: string, milliseconds: number): MidspanError {
  return new MidspanError({
    code: 'timeout',
    label,
    what: `it is still ${state} after ${milliseconds} ms`,
    next: 'Try again later',
    data: { sent: false },
  });
}

/** By us, for good. */
export function serverClosed(label: string): MidspanError {
  return new MidspanError({ code: 'closed', label, what: 'the server was closed', data: { sent: false } });
}
