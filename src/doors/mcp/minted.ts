/**
 * Tasks of the gateway's own: calls that go on here after their request was answered, of whatever server. They live as long as
 * this process, within bounds.
 */
import { randomUUID } from 'node:crypto';
import { TASK_QUESTIONS_MAX, isSettled } from '../../mcp/tasks.ts';
import type { TaskStatus } from '../../mcp/tasks.ts';
import { type InputContext, type InputRequest, isAnswer } from '../../mcp/input.ts';
import { NOTIFICATION_TEXT_MAX } from '../../mcp/protocol-limits.ts';
import type { Served } from '../../mcp/serving.ts';
import { onAbort } from '../../servers/abort.ts';
import type { JsonObject } from '../../types.ts';

/** How long a task is kept from its creation where nobody asks for another time, and at most. Milliseconds. */
export const TASK_KEPT = { usual: 60 * 60_000, most: 24 * 60 * 60_000 };
/** How often clients should ask. Milliseconds. */
const POLL = 500;

export interface MintedBounds {
  /** Tasks of one principal, and of all, that have not ended. */
  running: number;
  runningOfAll: number;
  /** Tasks of one principal. */
  kept: number;
  /** JSON characters of the results that are kept, of one principal and of all. */
  size: number;
  sizeOfAll: number;
}

const BOUNDS: MintedBounds = {
  running: 64,
  runningOfAll: 1_024,
  kept: 256,
  size: 64 * 1024 * 1024,
  sizeOfAll: 256 * 1024 * 1024,
};

/** For whom a task is. */
export interface TaskOwner {
  principal: string;
  /** Label of the endpoint; undefined for that of all servers. */
  endpoint: string | undefined;
}

/** A question of a running call that its client has not answered. */
export interface OpenQuestion {
  readonly key: string;
  readonly request: InputRequest;
  readonly context: InputContext;
  /** Aborts when it needs no answer any more. */
  readonly closed: AbortSignal;
  /** Only the first answer counts. */
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

export class Minted {
  readonly id = randomUUID();
  readonly owner: TaskOwner;
  readonly #stop: AbortController;
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #listeners = new Set<() => void>();
  readonly #createdAt = new Date();
  #updatedAt = this.#createdAt;
  #status: TaskStatus = 'working';
  #statusMessage: string | undefined;
  #served: Served | undefined;
  #asked = 0;
  /** From its creation, in milliseconds. */
  ttlMs: number;
  /** JSON characters of its result. */
  size = 0;
  /** Ends the time that it is kept. */
  expiry: NodeJS.Timeout | undefined;
  /** The server made a task of the call in the end: the id that leads to it. */
  adopted: string | undefined;

  /** @param stop ends the call. */
  constructor(owner: TaskOwner, stop: AbortController, ttlMs: number) {
    this.owner = owner;
    this.#stop = stop;
    this.ttlMs = ttlMs;
  }

  get isSettled(): boolean {
    return isSettled(this.#status);
  }

  get createdAt(): number {
    return this.#createdAt.getTime();
  }

  /** What came of the call; undefined while it runs, and when it was cancelled. */
  get served(): Served | undefined {
    return this.#served;
  }

  get questions(): readonly OpenQuestion[] {
    return [...this.#questions.values()];
  }

  /** In neutral form, as it is now. */
  get task(): JsonObject {
    const served = this.#served;
    const requests = this.questions.map(({ key, request }) => [key, { ...request }] as const);
    return {
      taskId: this.id,
      status: this.#status,
      ...(this.#statusMessage !== undefined && { statusMessage: this.#statusMessage }),
      createdAt: this.#createdAt.toISOString(),
      lastUpdatedAt: this.#updatedAt.toISOString(),
      ttlMs: this.ttlMs,
      pollIntervalMs: POLL,
      ...(this.#status === 'input_required' && { inputRequests: Object.fromEntries(requests) }),
      ...(served?.kind === 'complete' && { result: served.result }),
      ...(served?.kind === 'error' && { error: { ...served.error } }),
    };
  }

  /** Opens a question. Rejects when it is taken back, or when the task ends. */
  ask(request: InputRequest, context: InputContext): Promise<JsonObject> {
    const { signal } = context;
    if (this.isSettled || signal.aborted) return Promise.reject(new Error('the question was taken back'));
    if (this.#questions.size >= TASK_QUESTIONS_MAX)
      return Promise.reject(new Error('the task has too many questions open'));
    return new Promise((resolve, reject) => {
      this.#asked += 1;
      const key = `input-${this.#asked}`;
      const closing = new AbortController();
      const close = (): void => {
        if (!this.#questions.delete(key)) return;
        stopListening();
        closing.abort();
        if (!this.isSettled) this.#change(this.#questions.size === 0 ? 'working' : 'input_required');
      };
      const question: OpenQuestion = {
        key,
        request,
        context,
        closed: closing.signal,
        resolve: (answer) => {
          resolve(answer);
          close();
        },
        reject: (error) => {
          reject(error);
          close();
        },
      };
      this.#questions.set(key, question);
      const stopListening = onAbort(signal, () => question.reject(new Error('the question was taken back')));
      this.#change('input_required');
    });
  }

  /** Answers by the keys of questions; what answers none is passed over, and asked for again. */
  answer(responses: JsonObject): void {
    for (const question of this.questions) {
      const { key, request } = question;
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (isAnswer(request, response)) question.resolve(response);
    }
  }

  /** What is going on, for people. */
  say(message: string | undefined): void {
    if (message === undefined || this.isSettled) return;
    this.#statusMessage = message.slice(0, NOTIFICATION_TEXT_MAX);
    this.#change(this.#status);
  }

  /** What came of the call; nothing any more where it was cancelled. */
  settle(served: Served): void {
    if (this.isSettled) return;
    if (served.kind === 'task') {
      this.adopted = served.task.taskId as string;
      return;
    }
    this.#served = served;
    if (served.kind === 'complete') this.size = JSON.stringify(served.result).length;
    if (served.kind === 'error') this.#statusMessage = served.error.message.slice(0, NOTIFICATION_TEXT_MAX);
    this.#end(served.kind === 'error' ? 'failed' : 'completed');
  }

  /** Ends the call, whatever comes of it. */
  cancel(): void {
    if (this.isSettled) return;
    this.#end('cancelled');
    this.#stop.abort();
  }

  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #end(status: TaskStatus): void {
    this.#change(status);
    for (const question of this.questions) question.reject(new Error('the task has ended'));
  }

  #change(status: TaskStatus): void {
    this.#status = status;
    this.#updatedAt = new Date();
    for (const listener of this.#listeners) listener();
  }
}

/** The table of them. */
export class MintedTasks {
  readonly #tasks = new Map<string, Minted>();
  readonly #bounds: MintedBounds;

  constructor(bounds: Partial<MintedBounds> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /**
   * A new task; undefined where there are too many. What has ended makes room for it.
   * @param askedMs how long it is to be kept.
   */
  open(owner: TaskOwner, stop: AbortController, askedMs: number | undefined): Minted | undefined {
    const { running, runningOfAll, kept } = this.#bounds;
    const isRunning = (task: Minted): boolean => !task.isSettled;
    const own = this.#of(owner.principal);
    if (own.filter(isRunning).length >= running) return undefined;
    if ([...this.#tasks.values()].filter(isRunning).length >= runningOfAll) return undefined;
    const task = new Minted(owner, stop, Math.ceil(Math.min(askedMs ?? TASK_KEPT.usual, TASK_KEPT.most)));
    if (own.length >= kept) this.#dropOldest(own);
    this.#tasks.set(task.id, task);
    this.#expire(task, askedMs !== undefined);
    const off = task.on(() => {
      if (!task.isSettled) return;
      off();
      this.#makeRoom(task);
    });
    return task;
  }

  find(id: string, { principal, endpoint }: TaskOwner): Minted | undefined {
    const task = this.#tasks.get(id);
    return task?.owner.principal === principal && task.owner.endpoint === endpoint ? task : undefined;
  }

  /** Oldest first. */
  list({ principal, endpoint }: TaskOwner): Minted[] {
    return this.#of(principal).filter((task) => task.owner.endpoint === endpoint);
  }

  drop(task: Minted): void {
    clearTimeout(task.expiry);
    this.#tasks.delete(task.id);
    task.cancel();
  }

  #of(principal: string): Minted[] {
    return [...this.#tasks.values()].filter(({ owner }) => owner.principal === principal);
  }

  /** At its time it goes, unless it is at work and nobody asked for a time: then the time limit of the call ends it. */
  #expire(task: Minted, wasAsked: boolean): void {
    const left = task.createdAt + task.ttlMs - Date.now();
    task.expiry = setTimeout(() => {
      const isAtWork = !task.isSettled && task.questions.length === 0;
      if (wasAsked || !isAtWork || task.ttlMs >= TASK_KEPT.most) return this.drop(task);
      task.ttlMs += TASK_KEPT.usual;
      this.#expire(task, wasAsked);
    }, left).unref();
  }

  #makeRoom({ owner, id }: Minted): void {
    const { size, sizeOfAll } = this.#bounds;
    const sizeOf = (tasks: readonly Minted[]): number => tasks.reduce((sum, task) => sum + task.size, 0);
    for (;;) {
      const own = this.#of(owner.principal);
      const all = [...this.#tasks.values()];
      const crowded = sizeOf(own) > size ? own : sizeOf(all) > sizeOfAll ? all : undefined;
      if (crowded === undefined || !this.#dropOldest(crowded.filter((task) => task.id !== id))) return;
    }
  }

  #dropOldest(tasks: readonly Minted[]): boolean {
    const oldest = tasks.find((task) => task.isSettled);
    if (oldest !== undefined) this.drop(oldest);
    return oldest !== undefined;
  }
}
