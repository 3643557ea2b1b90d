/** The requests of clients that are the same in every era, answered through the host's gates. */
import type { Asks } from '../../asks/asks.ts';
import { type MidspanError, messageOf } from '../../errors.ts';
import type { CallOutcome, CallSettings, Relaying } from '../../host/call.ts';
import type { CoreHost } from '../../host/host.ts';
import type { RelayOutcome, RelayRequest } from '../../host/relay.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, isObject } from '../../mcp/message.ts';
import type { RpcErrorObject } from '../../mcp/message.ts';
import type { Served } from '../../mcp/serving.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Exchange } from './client.ts';
import type { CallForm } from './long-calls.ts';
import { approvalsOf, declaredUpstream, inputOf, roundOf, ruleAgainstRound } from './questions.ts';
import { shownContents, shownPrompt, shownResult } from './rewrite.ts';
import type { Tasks } from './tasks.ts';
import type { View } from './view.ts';

/** Key of a result's `_meta` under which the host says what it would otherwise add to the text. */
export const NOTES = 'midspan/notes';

/** The legacy code for a resource that is not there; the neutral form is INVALID_PARAMS with `data.uri`. */
const RESOURCE_NOT_FOUND = -32002;

export interface AnswerDeps {
  host: CoreHost;
  /** Who answers where a client cannot; undefined: nobody. */
  others: Asks | undefined;
  tasks: Tasks;
}

/** Never rejects. */
export async function answer(exchange: Exchange, view: View, deps: AnswerDeps): Promise<Served> {
  const { method } = exchange.request;
  try {
    switch (method) {
      case 'tools/call':
        return await deps.tasks.call(exchange, view, (each, form) => callTool(each, view, deps, form));
      case 'prompts/get':
        return await getPrompt(exchange, view, deps);
      case 'resources/read':
        return await readResource(exchange, view, deps);
      case 'completion/complete':
        return await complete(exchange, view, deps);
      default:
        if (method.startsWith('tasks/'))
          return await deps.tasks.answer(exchange, view, (...task) => relayTask(...task, view, deps));
        return failed(METHOD_NOT_FOUND, `Method not found: ${method}`);
    }
  } catch (error) {
    return failed(INTERNAL_ERROR, messageOf(error));
  }
}

/** A request about a server's task; what it says of it is shown by whoever asks. */
export const relayTask = (
  request: RelayRequest,
  exchange: Exchange,
  view: View,
  deps: AnswerDeps,
): Promise<Served> => relayed(request, exchange, view, deps, (result) => result);

async function callTool(exchange: Exchange, view: View, deps: AnswerDeps, form: CallForm): Promise<Served> {
  const { name, arguments: args } = exchange.request.params;
  if (typeof name !== 'string') return failed(INVALID_PARAMS, 'params.name must be a string');
  if (args !== undefined && args !== null && !isObject(args))
    return failed(INVALID_PARAMS, 'params.arguments must be an object');
  const { principal, session } = exchange.client;
  const owner = view.tool(name, principal);
  // Nothing is told of what a filter keeps from this client, not even that it is there.
  const isFiltered = principal.filter !== '';
  if (view.label !== undefined && !principal.allows(view.label, name))
    return failed(INVALID_PARAMS, `Unknown tool: ${name}`);
  const notes: string[] = [];
  const settings: CallSettings = {
    signal: exchange.signal,
    session,
    allows: (label, tool) => principal.allows(label, tool),
    onNote: (note) => notes.push(note),
    relay: Object.assign(relaying(exchange, view, deps, notes), form),
  };
  if (exchange.progress !== undefined) settings.onProgress = exchange.progress;
  const asks = approvalsOf(exchange) ?? deps.others;
  if (asks !== undefined) settings.asks = asks;
  // A name that is not shown goes on as it is: the gate waits for servers that are still starting, and knows why not.
  const outcome = await deps.host.call(
    owner?.label === undefined
      ? view.label === undefined
        ? { name, arguments: args ?? {} }
        : { label: view.label, tool: name, arguments: args ?? {} }
      : { label: owner.label, tool: owner.tool, arguments: args ?? {} },
    settings,
  );
  const isMissing = outcome.error?.code === 'unknown-tool' || outcome.label === undefined;
  if (isFiltered && isMissing && outcome.status === 'refused')
    return failed(INVALID_PARAMS, `Unknown tool: ${name}`);
  const { label, tool, task } = outcome;
  if (task !== undefined && label !== undefined && tool !== undefined)
    return deps.tasks.started(task, { label, tool }, exchange, view);
  const { input } = outcome;
  if (input !== undefined && label !== undefined) {
    const rule = ruleAgainstRound(input.requests, { label, signal: exchange.signal });
    if (rule !== undefined) return { kind: 'complete', result: errorResult(forbidden(label, rule)) };
    return { kind: 'input', ...input, requests: roundOf(input.requests, label, view) };
  }
  return servedCall(outcome, notes, name, view);
}

const forbidden = (label: string, rule: string): string =>
  `${label} asked for something that no server may ask for (${rule}), so the request goes no further. Whether it did anything is not known`;

const errorResult = (text: string): JsonObject => ({ content: [{ type: 'text', text }], isError: true });

function servedCall(outcome: CallOutcome, notes: readonly string[], name: string, view: View): Served {
  const { label, error } = outcome;
  if (error?.code === 'unknown-tool')
    return failed(INVALID_PARAMS, `Unknown tool: ${name}. ${error.message}`);
  if (error?.code === 'rpc') return { kind: 'error', error: rpcError(error, view) };
  let result: JsonObject = outcome.result;
  if (label !== undefined && view.label === undefined)
    result = shownResult(result, (uri) => view.shownUri(label, uri));
  return { kind: 'complete', result: withNotes(result, notes) };
}

const withNotes = (result: JsonObject, notes: readonly string[]): JsonObject =>
  notes.length === 0
    ? result
    : { ...result, _meta: { ...(result['_meta'] as JsonObject | undefined), [NOTES]: [...notes] } };

async function getPrompt(exchange: Exchange, view: View, deps: AnswerDeps): Promise<Served> {
  const { params } = exchange.request;
  const { name } = params;
  if (typeof name !== 'string') return failed(INVALID_PARAMS, 'params.name must be a string');
  const owner = view.prompt(name, exchange.client.principal);
  if (owner === undefined) return failed(INVALID_PARAMS, `Unknown prompt: ${name}`);
  const { label, key } = owner;
  return relayed(
    { label, method: 'prompts/get', params: { ...params, name: key } },
    exchange,
    view,
    deps,
    (result) => shownPrompt(result, (uri) => view.shownUri(label, uri)),
  );
}

async function readResource(exchange: Exchange, view: View, deps: AnswerDeps): Promise<Served> {
  const { params } = exchange.request;
  const { uri } = params;
  if (typeof uri !== 'string') return failed(INVALID_PARAMS, 'params.uri must be a string');
  const owner = view.resource(uri, exchange.client.principal);
  if (owner === undefined) return failed(INVALID_PARAMS, 'Resource not found', { uri });
  const { label, key } = owner;
  const served = await relayed(
    { label, method: 'resources/read', params: { ...params, uri: key } },
    exchange,
    view,
    deps,
    (result) => shownContents(result, (each) => view.shownUri(label, each)),
  );
  if (served.kind !== 'error') return served;
  const { code, data } = served.error;
  const isMissing =
    code === RESOURCE_NOT_FOUND || (code === INVALID_PARAMS && isObject(data) && 'uri' in data);
  return isMissing ? failed(INVALID_PARAMS, served.error.message, { uri }) : served;
}

async function complete(exchange: Exchange, view: View, deps: AnswerDeps): Promise<Served> {
  const { params } = exchange.request;
  const { ref } = params;
  const { principal } = exchange.client;
  if (!isObject(ref)) return failed(INVALID_PARAMS, 'params.ref must be an object');
  const member = ref['type'] === 'ref/prompt' ? 'name' : ref['type'] === 'ref/resource' ? 'uri' : undefined;
  const known = member === undefined ? undefined : ref[member];
  if (member === undefined || typeof known !== 'string')
    return failed(INVALID_PARAMS, 'params.ref must name a prompt or the URI of a resource');
  const owner = member === 'name' ? view.prompt(known, principal) : view.resource(known, principal);
  if (owner === undefined) return failed(INVALID_PARAMS, `Unknown reference: ${known}`);
  return relayed(
    {
      label: owner.label,
      method: 'completion/complete',
      params: { ...params, ref: { ...ref, [member]: owner.key } },
    },
    exchange,
    view,
    deps,
    (result) => result,
  );
}

async function relayed(
  request: RelayRequest,
  exchange: Exchange,
  view: View,
  deps: AnswerDeps,
  show: (result: JsonObject) => JsonObject,
): Promise<Served> {
  const notes: string[] = [];
  const outcome: RelayOutcome = await deps.host.relay(request, {
    signal: exchange.signal,
    session: exchange.client.session,
    relay: relaying(exchange, view, deps, notes),
    onNote: (note) => notes.push(note),
    ...(exchange.progress !== undefined && { onProgress: exchange.progress }),
  });
  if (outcome.kind === 'failed') return { kind: 'error', error: errorOf(outcome.error, view) };
  if (outcome.kind === 'task') return outcome;
  if (outcome.kind === 'input') {
    const { label } = request;
    const rule = ruleAgainstRound(outcome.requests, { label, signal: exchange.signal });
    if (rule !== undefined) return failed(INTERNAL_ERROR, forbidden(label, rule));
    return { ...outcome, requests: roundOf(outcome.requests, label, view), digest: '' };
  }
  const { result, ttlMs, cacheScope } = outcome;
  const shown = view.label === undefined ? show(result) : result;
  return {
    kind: 'complete',
    result: withNotes(shown, notes),
    ...(ttlMs !== undefined && { ttlMs }),
    // What one principal may read is not for others.
    ...(cacheScope !== undefined && { cacheScope: 'private' }),
  };
}

function relaying(exchange: Exchange, view: View, deps: AnswerDeps, notes: string[]): Relaying {
  const { client, request, round, log } = exchange;
  const capabilities = declaredUpstream(exchange.capabilities, deps.others);
  const relay: Relaying = {
    capabilities,
    owner: { principal: client.principal.id, client: client.id },
    // Where others answer a part, rounds are answered here, each question by whoever can.
    rounds: exchange.rounds && capabilities === exchange.capabilities,
    onInput: inputOf(exchange, view, deps.others, (note) => notes.push(note)),
  };
  if (round !== undefined) relay.round = round;
  if (request.meta !== undefined) relay.meta = request.meta;
  if (log !== undefined) {
    relay.logLevel = log.level;
    relay.onLog = log.write;
  }
  return relay;
}

/** What became of a request that is no tool call, as JSON-RPC says it. */
function errorOf(error: MidspanError, view: View): RpcErrorObject {
  if (error.code === 'rpc') return rpcError(error, view);
  const isTheirs = error.code === 'unknown-item' || error.code === 'unapproved' || error.code === 'usage';
  return { code: isTheirs ? INVALID_PARAMS : INTERNAL_ERROR, message: error.message };
}

/** A server's own error, as it gave it. */
function rpcError({ label, what, data }: MidspanError, view: View): RpcErrorObject {
  const code = typeof data['code'] === 'number' ? data['code'] : INTERNAL_ERROR;
  const own = typeof data['message'] === 'string' ? data['message'] : what;
  return {
    code,
    message: label === undefined ? own : view.attributed(label, own),
    ...(data['data'] !== undefined && { data: data['data'] as Json }),
  };
}

function failed(code: number, message: string, data?: JsonObject): Served & { kind: 'error' } {
  return { kind: 'error', error: { code, message, ...(data !== undefined && { data }) } };
}
