/** Thinking blocks: each is signed over its text and over everything before it, and must come back unchanged. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../src/types.ts';
import { canonical, isObject, show } from './server.ts';

export interface Ledger {
  /** Ids of calls that were made after thinking: without it they are not accepted back. */
  thoughtBefore: Set<string>;
}

export function newLedger(): Ledger {
  return { thoughtBefore: new Set() };
}

/** The signature of a thinking block that follows the request's whole conversation and the given blocks. */
export function sign(thinking: string, body: JsonObject, before: readonly JsonObject[]): string {
  const flat = [...flatten(messagesOf(body)), ...before.map((block) => ['assistant', block] as const)];
  return digest(thinking, body, flat);
}

/** The signature that a thinking block of the request ought to have. */
export function signatureAt(body: JsonObject, message: number, block: number): string {
  const messages = messagesOf(body);
  const content = blocksOf(messages[message]);
  const before = [
    ...flatten(messages.slice(0, message)),
    ...content.slice(0, block).map((each) => ['assistant', each] as const),
  ];
  return digest(show(content[block]?.['thinking']), body, before);
}

function digest(
  thinking: string,
  body: JsonObject,
  before: readonly (readonly [string, JsonObject])[],
): string {
  const bound = canonical([body['model'], systemOf(body), body['tools'] ?? [], before, thinking]);
  return createHash('sha256').update(bound).digest('base64');
}

function flatten(messages: readonly JsonObject[]): (readonly [string, JsonObject])[] {
  return messages.flatMap((message) =>
    blocksOf(message).map((block) => [show(message['role']), block] as const),
  );
}

function systemOf({ system }: JsonObject): unknown {
  return typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? []);
}

export function messagesOf(body: JsonObject): JsonObject[] {
  return Array.isArray(body['messages']) ? body['messages'].filter(isObject) : [];
}

export function blocksOf(message: JsonObject | undefined): JsonObject[] {
  const content = message?.['content'];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}
