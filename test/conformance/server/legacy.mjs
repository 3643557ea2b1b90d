// The server of 2025-11-25 and before: one session from `initialize` on, with requests of its own.
import { createCall, isLogged } from './call.mjs';
import {
  CODES,
  INSTRUCTIONS,
  LATEST,
  LEGACY_VERSIONS,
  RpcError,
  SERVER_INFO,
  failure,
  isAnswer,
  lacking,
  success,
} from './rpc.mjs';
import { KEPT, POLL, createTasks } from './tasks.mjs';

const NOT_FOUND = -32002;
const RELATED = 'io.modelcontextprotocol/related-task';
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

const listedTool = ({ definition, task }) => ({
  ...definition,
  ...(task !== undefined && { execution: { taskSupport: task } }),
});

const shown = ({ id, status, createdAt, lastUpdatedAt, result }) => ({
  taskId: id,
  // A result that is an error is a failure here.
  status: result?.isError === true ? 'failed' : status,
  createdAt,
  lastUpdatedAt,
  ttl: KEPT,
  pollInterval: POLL,
});

/**
 * `send(message, about)` sends a message on the stream of the client's request `about`, or on the session's own stream.
 * `settled(id)` says that the request `id` gets no answer any more; `closeStream(id)` that its stream pauses.
 */
export function createLegacySession(features, { send, settled = () => {}, closeStream = () => {} }) {
  const tasks = createTasks((task) => notify('notifications/tasks/status', shown(task)));
  const running = new Map();
  const asked = new Map();
  const subscriptions = new Set();
  let capabilities = {};
  let threshold = 'info';
  let nextId = 1;

  function notify(method, params, about) {
    send({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) }, about);
  }

  function request({ method, params }, about) {
    const id = nextId++;
    return new Promise((resolve, reject) => {
      asked.set(id, { resolve, reject });
      send({ jsonrpc: '2.0', id, method, params }, about);
    });
  }

  /** One question, as this era puts it. */
  async function put(question, about, _meta) {
    const lack = lacking(question, capabilities);
    if (lack !== undefined) {
      throw new RpcError(CODES.invalidRequest, `The client has not declared ${Object.keys(lack)[0]}`);
    }
    const isLink = question.params.mode === 'url';
    const params = { ...question.params, ...(isLink && { elicitationId: `elicitation-${nextId}` }) };
    const answer = await request(
      { method: question.method, params: { ...params, ...(_meta && { _meta }) } },
      about,
    );
    if (!isAnswer(question, answer))
      throw new RpcError(CODES.invalidParams, `Not an answer to ${question.method}`);
    return answer;
  }

  const createAsk =
    (about) =>
    async (requests, { optional = false } = {}) => {
      const entries = Object.entries(requests).filter(
        ([, question]) => !optional || lacking(question, capabilities) === undefined,
      );
      // All at once, so that a client can see them together.
      const answers = await Promise.allSettled(entries.map(([, question]) => put(question, about)));
      const refused = answers.find(({ status }) => status === 'rejected');
      if (refused !== undefined && !optional) throw refused.reason;
      return Object.fromEntries(
        entries.flatMap(([key], index) =>
          answers[index].status === 'fulfilled' ? [[key, answers[index].value]] : [],
        ),
      );
    };

  const listeners = {
    list: (kind) => notify(`notifications/${kind}/list_changed`),
    updated: (uri) => subscriptions.has(uri) && notify('notifications/resources/updated', { uri }),
  };

  const listed = (kind) => () => ({ [kind]: features.list(kind).map(({ definition }) => definition) });

  const methods = {
    initialize({ params }) {
      capabilities = params.capabilities ?? {};
      const isKnown = LEGACY_VERSIONS.includes(params.protocolVersion);
      session.version = isKnown ? params.protocolVersion : LATEST.legacy;
      for (const [event, listener] of Object.entries(listeners)) features.changes.on(event, listener);
      return {
        protocolVersion: session.version,
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
        instructions: INSTRUCTIONS,
      };
    },
    ping: () => ({}),
    'logging/setLevel': ({ params }) => {
      threshold = params.level;
      return {};
    },
    'tools/list': () => ({ tools: features.list('tools').map(listedTool) }),
    'prompts/list': listed('prompts'),
    'resources/list': listed('resources'),
    'resources/templates/list': () => ({ resourceTemplates: features.templates }),
    'resources/read': ({ params }) => features.read(params.uri, NOT_FOUND),
    'resources/subscribe': ({ params }) => {
      subscriptions.add(params.uri);
      return {};
    },
    'resources/unsubscribe': ({ params }) => {
      subscriptions.delete(params.uri);
      return {};
    },
    'prompts/get': ({ params, call }) => features.prompt(params.name).get(call()),
    'completion/complete': ({ params }) => features.complete(params),
    'tools/call': callTool,
    'tasks/list': () => ({ tasks: tasks.all().map(shown) }),
    'tasks/get': ({ params }) => shown(tasks.get(params.taskId)),
    'tasks/cancel': ({ params }) => {
      const task = tasks.get(params.taskId);
      if (task.isSettled) throw new RpcError(CODES.invalidParams, `Task ${task.id} has ended`);
      tasks.cancel(task);
      return shown(task);
    },
    'tasks/result': taskResult,
  };

  async function callTool({ params, call }) {
    const tool = features.tool(params.name);
    const isTask = params.task !== undefined;
    if (isTask ? tool.task === undefined : tool.task === 'required') {
      const wrong = isTask ? 'cannot run as a task' : 'runs as a task only';
      throw new RpcError(CODES.methodNotFound, `${params.name} ${wrong}`);
    }
    if (!isTask) return tool.run(call());
    const prepared = await tool.prepare?.(call());
    const task = tasks.start((started, ask) => tool.run(call({ ask, signal: started.signal }), prepared));
    return { task: shown(task) };
  }

  /** Waits for the task's end, and puts its questions on the stream of this request. */
  async function taskResult({ id, params }) {
    const task = tasks.get(params.taskId);
    const _meta = { [RELATED]: { taskId: task.id } };
    const isPut = new Set();
    while (!task.isSettled) {
      for (const [key, { request: question }] of task.pending) {
        if (isPut.has(key)) continue;
        isPut.add(key);
        const answered = (answer) => tasks.answer(task, { [key]: answer });
        put(question, id, _meta).then(answered, () => answered({ action: 'cancel' }));
      }
      await tasks.changed(task);
    }
    if (task.error !== undefined) throw new RpcError(task.error.code, task.error.message);
    if (task.result === undefined) throw new RpcError(CODES.invalidParams, `Task ${task.id} was cancelled`);
    return { ...task.result, _meta };
  }

  async function answerRequest(message) {
    const { id, method, params = {} } = message;
    const controller = new AbortController();
    running.set(id, controller);
    const log = (level, data) => {
      if (isLogged(level, threshold)) notify('notifications/message', { level, data }, id);
    };
    const call = (task) =>
      createCall({
        params,
        capabilities,
        features,
        signal: controller.signal,
        log,
        notify: (name, more) => notify(name, more, id),
        ask: createAsk(id),
        closeStream: () => closeStream(id),
        ...task,
      });
    try {
      if (!Object.hasOwn(methods, method))
        throw new RpcError(CODES.methodNotFound, `There is no method ${method}`);
      const result = await methods[method]({ id, params, call });
      if (!controller.signal.aborted) send(success(id, result), id);
    } catch (error) {
      if (!controller.signal.aborted) send(failure(id, error), id);
    } finally {
      running.delete(id);
      settled(id);
    }
  }

  const session = {
    version: undefined,
    /** Resolves when what `message` asks is answered. */
    async receive(message) {
      if (message.method === undefined) {
        const waiting = asked.get(message.id);
        asked.delete(message.id);
        if (message.error === undefined) waiting?.resolve(message.result);
        else waiting?.reject(new RpcError(message.error.code, message.error.message));
      } else if (message.id !== undefined) {
        await answerRequest(message);
      } else if (message.method === 'notifications/cancelled') {
        running.get(message.params.requestId)?.abort();
      }
    },
    close() {
      for (const [event, listener] of Object.entries(listeners)) features.changes.off(event, listener);
      for (const controller of running.values()) controller.abort();
      for (const task of tasks.all()) tasks.cancel(task);
    },
  };
  return session;
}
