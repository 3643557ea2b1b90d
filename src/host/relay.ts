/** The gate for everything but tools: prompts, resources, completion and tasks of one server, for a client or a model. */
import { MidspanError, messageOf } from '../errors.ts';
import { isObject } from '../schema/keywords.ts';
import type { Relayed, RelayOptions, Server } from '../servers/server.ts';
import type { AdmittedItems, OtherList } from '../trust/lock/index.ts';
import type { JsonObject, Progress } from '../types.ts';
import type { Admission } from './admission.ts';
import type { Relaying } from './call.ts';
import { cleanAnswer } from './clean.ts';
import type { Session } from './session.ts';

/** A request by the server's own names and URIs. */
export interface RelayRequest {
  label: string;
  method:
    | 'prompts/get'
    | 'resources/read'
    | 'completion/complete'
    | 'tasks/get'
    | 'tasks/update'
    | 'tasks/cancel';
  params: JsonObject;
}

export interface RelaySettings {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** What it brings in taints this session. Default: one for the whole host. */
  session?: Session;
  relay?: Relaying;
  /** Hears what the reader of the answer should know beside it. */
  onNote?: (note: string) => void;
}

/**
 * failed: with the reason: `unknown-item` (nothing of this name or URI is shown), `unapproved` (it waits for review), `rpc` (the
 * server refused), `unreachable`, `timeout`, `cancelled`, …
 */
export type RelayOutcome = Relayed | { kind: 'failed'; error: MidspanError };

export interface RelayDeps {
  /** Once the server has listed what it has, or could not. */
  member(
    label: string,
    signal: AbortSignal | undefined,
  ): Promise<{ server: Server; admission: Admission } | MidspanError>;
  /** Of requests that name none. */
  session: Session;
  warn(label: string, message: string): void;
}

export async function passRelay(
  request: RelayRequest,
  settings: RelaySettings,
  deps: RelayDeps,
): Promise<RelayOutcome> {
  const { label, method, params } = request;
  const { signal, onProgress, onNote, relay } = settings;
  try {
    const member = await deps.member(label, signal);
    if (member instanceof MidspanError) return { kind: 'failed', error: member };
    const error = notShown(request, member.admission);
    if (error !== undefined) return { kind: 'failed', error };
    const options: RelayOptions = { ...relay };
    if (signal !== undefined) options.signal = signal;
    if (onProgress !== undefined) options.onProgress = onProgress;
    if (onNote !== undefined) options.onNote = onNote;
    const relayed = await member.server.relay(method, params, options);
    return relayed.kind === 'complete' ? cleaned(relayed, request, settings, deps) : relayed;
  } catch (thrown) {
    const error =
      thrown instanceof MidspanError
        ? thrown
        : new MidspanError({ label, code: 'internal', what: messageOf(thrown), cause: thrown });
    return { kind: 'failed', error };
  }
}

/** What a request is about, among what the server listed; undefined: it is about nothing that is listed. */
function itemOf({ method, params }: RelayRequest): { list: OtherList; key: string } | undefined {
  const { name, uri, ref } = params;
  if (method === 'prompts/get') return { list: 'prompts', key: name as string };
  if (method === 'resources/read') return { list: 'resources', key: uri as string };
  if (method !== 'completion/complete' || !isObject(ref)) return undefined;
  return ref['type'] === 'ref/prompt'
    ? { list: 'prompts', key: ref['name'] as string }
    : { list: 'templates', key: ref['uri'] as string };
}

const ONE: Readonly<Record<OtherList, string>> = {
  prompts: 'prompt',
  resources: 'resource',
  templates: 'resource template',
};
const MEMBER: Readonly<Record<OtherList, string>> = {
  prompts: 'name',
  resources: 'uri',
  templates: 'uriTemplate',
};

/**
 * A prompt is asked for by a name that is shown. Resources may be any that the server knows, listed or not (MCP: those of a
 * template or of a link in a result are in no list), but for those that wait for review.
 */
function notShown(request: RelayRequest, { others, stopped }: Admission): MidspanError | undefined {
  const { label } = request;
  const item = itemOf(request);
  if (stopped !== undefined) return new MidspanError({ label, code: 'unapproved', what: stopped });
  if (item === undefined) return undefined;
  const { list, key } = item;
  const { shown, withheld } = others[list];
  const waiting = withheld.find((each) => each.key === key);
  if (waiting !== undefined) {
    const what = `the ${ONE[list]} ${key} is hidden: ${waiting.reason}`;
    return new MidspanError({ label, code: 'unapproved', what });
  }
  if (list !== 'prompts' || hasKey(shown, list, key)) return undefined;
  return new MidspanError({ label, code: 'unknown-item', what: `there is no prompt ${JSON.stringify(key)}` });
}

const hasKey = (shown: AdmittedItems['shown'], list: OtherList, key: string): boolean =>
  shown.some((definition) => definition[MEMBER[list]] === key);

function cleaned(
  relayed: Relayed & { kind: 'complete' },
  request: RelayRequest,
  settings: RelaySettings,
  deps: RelayDeps,
): Relayed {
  const { label, method } = request;
  const { result, isSuspicious, rules } = cleanAnswer(relayed.result);
  if (isSuspicious) {
    const name = itemOf(request)?.key ?? method;
    (settings.session ?? deps.session).taint.saw({ label, tool: name, labels: [] }, { content: [] }, true);
    deps.warn(
      label,
      `the answer to ${method} (${name}) speaks to the model (${rules.join(', ')}); what follows asks first`,
    );
  }
  return result === relayed.result ? relayed : { ...relayed, result };
}
