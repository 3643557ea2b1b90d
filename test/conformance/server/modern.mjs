// The server of 2026-07-28: stateless; every request says who asks and what it can do.
import { createCall, isLogged } from './call.mjs';
import {
  CODES,
  INSTRUCTIONS,
  LATEST,
  RpcError,
  SERVER_INFO,
  TASKS,
  failure,
  isAnswer,
  isObject,
  lacking,
  success,
} from './rpc.mjs';
import { seal, unseal } from './sealed.mjs';
import { KEPT, POLL, createTasks } from './tasks.mjs';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
const CLIENT_CAPABILITIES = `${PREFIX}clientCapabilities`;
const HINTS = { ttlMs: 60_000, cacheScope: 'public' };
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
  extensions: { [TASKS]: {} },
};

/** Ends a round. */
class InputRequired extends Error {
  constructor(result) {
    super('Input is required');
    this.result = result;
  }
}

/** Checks what every request must carry. */
export function checkMeta({ method, params }) {
  const meta = params?._meta;
  if (method === 'initialize' && meta === undefined) throw unsupported(params?.protocolVersion);
  if (typeof meta?.[VERSION] !== 'string' || !isObject(meta[CLIENT_CAPABILITIES])) {
    throw new RpcError(CODES.invalidParams, `_meta must have ${VERSION} and ${CLIENT_CAPABILITIES}`);
  }
}

const unsupported = (requested) =>
  new RpcError(CODES.unsupportedVersion, 'Unsupported protocol version', {
    supported: [LATEST.modern],
    requested,
  });

const missing = (requiredCapabilities) =>
  new RpcError(CODES.missingCapability, 'The client lacks a capability', { requiredCapabilities });

/** The answers that `params` brings to this request, with those of earlier rounds. */
function answersOf(target, { inputResponses = {}, requestState }) {
  if (!isObject(inputResponses)) throw new RpcError(CODES.invalidParams, 'inputResponses is not an object');
  if (requestState === undefined) return { ...inputResponses };
  const state = unseal(requestState);
  if (state.target !== target)
    throw new RpcError(CODES.invalidParams, 'The request state is of another request');
  return { ...state.answers, ...inputResponses };
}

/** `ask` for a request that is repeated with the answers: what lacks one ends this round. */
function createAsk(target, params, capabilities) {
  const answers = answersOf(target, params);
  return (requests, { state = false, optional = false } = {}) => {
    const wanted = Object.entries(requests).filter(([, request]) => {
      const lack = lacking(request, capabilities);
      if (lack !== undefined && !optional) throw missing(lack);
      return lack === undefined;
    });
    const open = wanted.filter(([key, request]) => !isAnswer(request, answers[key]));
    const known = Object.entries(answers).filter(([key]) => !open.some(([other]) => other === key));
    if (open.length === 0) return Object.fromEntries(wanted.map(([key]) => [key, answers[key]]));
    const isKept = state || (params.requestState !== undefined && known.length > 0);
    throw new InputRequired({
      resultType: 'input_required',
      inputRequests: Object.fromEntries(open),
      ...(isKept && {
        requestState: seal({ target, answers: Object.fromEntries(known), open: open.map(([key]) => key) }),
      }),
    });
  };
}

const shown = ({ id, status, createdAt, lastUpdatedAt }) => ({
  taskId: id,
  status,
  createdAt,
  lastUpdatedAt,
  ttlMs: KEPT,
  pollIntervalMs: POLL,
});

function detailed(task) {
  const requests = [...task.pending].map(([key, { request }]) => [key, request]);
  return {
    ...shown(task),
    ...(task.status === 'input_required' && { inputRequests: Object.fromEntries(requests) }),
    ...(task.status === 'completed' && { result: { resultType: 'complete', ...task.result } }),
    ...(task.status === 'failed' && { error: task.error }),
  };
}

/**
 * `handle(request, { notify, signal })` resolves to the response, or to `undefined` when `signal` aborts first.
 * `notify(message)` sends what belongs to the request before it.
 */
export function createModern(features) {
  const tasks = createTasks((task) => features.changes.emit('task', task));
  const listed = (kind) => () => ({
    [kind]: features.list(kind).map(({ definition }) => definition),
    ...HINTS,
  });

  const methods = {
    'server/discover': () => ({
      supportedVersions: [LATEST.modern],
      capabilities: CAPABILITIES,
      instructions: INSTRUCTIONS,
      ...HINTS,
    }),
    'tools/list': listed('tools'),
    'prompts/list': listed('prompts'),
    'resources/list': listed('resources'),
    'resources/templates/list': () => ({ resourceTemplates: features.templates, ...HINTS }),
    'resources/read': ({ params }) => ({ ...features.read(params.uri, CODES.invalidParams), ...HINTS }),
    'prompts/get': ({ params, call }) => features.prompt(params.name).get(call()),
    'completion/complete': ({ params }) => features.complete(params),
    'tools/call': callTool,
    'subscriptions/listen': listen,
    'tasks/get': ({ params }) => detailed(tasks.get(params.taskId)),
    'tasks/update': ({ params }) => {
      tasks.answer(tasks.get(params.taskId), params.inputResponses);
      return {};
    },
    'tasks/cancel': ({ params }) => {
      tasks.cancel(tasks.get(params.taskId));
      return {};
    },
  };

  async function callTool({ params, capabilities, call }) {
    const tool = features.tool(params.name);
    const hasTasks = capabilities.extensions?.[TASKS] !== undefined;
    if (tool.task === 'required' && !hasTasks) throw missing({ extensions: { [TASKS]: {} } });
    if (tool.task === undefined || !hasTasks) return tool.run(call());
    const prepared = await tool.prepare?.(call());
    const task = tasks.start((started, ask) => tool.run(call({ ask, signal: started.signal }), prepared));
    return { resultType: 'task', ...shown(task) };
  }

  function listen({ id, params, capabilities, notify, signal }) {
    const asked = params.notifications ?? {};
    if (asked.taskIds !== undefined && capabilities.extensions?.[TASKS] === undefined) {
      throw missing({ extensions: { [TASKS]: {} } });
    }
    const _meta = { [`${PREFIX}subscriptionId`]: id };
    const send = (method, more = {}) => notify({ jsonrpc: '2.0', method, params: { ...more, _meta } });
    const kinds = ['tools', 'prompts', 'resources'].filter((kind) => asked[`${kind}ListChanged`] === true);
    const { resourceSubscriptions, taskIds } = asked;
    send('notifications/subscriptions/acknowledged', {
      notifications: {
        ...Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
        ...(resourceSubscriptions !== undefined && { resourceSubscriptions }),
        ...(taskIds !== undefined && { taskIds }),
      },
    });
    const listeners = {
      list: (kind) => kinds.includes(kind) && send(`notifications/${kind}/list_changed`),
      updated: (uri) =>
        resourceSubscriptions?.includes(uri) && send('notifications/resources/updated', { uri }),
      task: (task) => taskIds?.includes(task.id) && send('notifications/tasks', detailed(task)),
    };
    for (const [event, listener] of Object.entries(listeners)) features.changes.on(event, listener);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        for (const [event, listener] of Object.entries(listeners)) features.changes.off(event, listener);
        resolve({});
      });
    });
  }

  async function dispatch({ id, method, params }, { notify, signal }) {
    const { [`${PREFIX}protocolVersion`]: version, [`${PREFIX}clientCapabilities`]: capabilities } =
      params._meta;
    if (version !== LATEST.modern) throw unsupported(version);
    if (!Object.hasOwn(methods, method))
      throw new RpcError(CODES.methodNotFound, `There is no method ${method}`);
    if (method.startsWith('tasks/') && capabilities.extensions?.[TASKS] === undefined) {
      throw missing({ extensions: { [TASKS]: {} } });
    }
    const send = (name, more) => notify({ jsonrpc: '2.0', method: name, params: more });
    const threshold = params._meta[`${PREFIX}logLevel`];
    const log = (level, data) => {
      if (threshold !== undefined && isLogged(level, threshold))
        send('notifications/message', { level, data });
    };
    // A task outlives its call: it neither reports progress nor logs.
    const silent = { notify: () => {}, log: () => {} };
    const call = (task) =>
      createCall({
        params,
        capabilities,
        features,
        signal,
        notify: send,
        log,
        ...(task === undefined
          ? { ask: createAsk(`${method} ${params.name ?? params.uri}`, params, capabilities) }
          : { ...silent, ...task }),
      });
    return methods[method]({ id, params, capabilities, notify, signal, call });
  }

  return {
    async handle(request, sink) {
      try {
        checkMeta(request);
        const result = await dispatch(request, sink);
        if (sink.signal.aborted) return undefined;
        return success(request.id, stamp(result));
      } catch (error) {
        if (sink.signal.aborted) return undefined;
        if (error instanceof InputRequired) return success(request.id, stamp(error.result));
        return failure(request.id, error);
      }
    },
  };
}

const stamp = (result) => ({
  resultType: 'complete',
  ...result,
  _meta: { ...result._meta, [`${PREFIX}serverInfo`]: SERVER_INFO },
});
