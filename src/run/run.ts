/** The tool-calling loop: the model answers, its calls are run, their results go back, until it stops calling or is stopped. */
import type { AssistantMessage, Choice, Compiled, Message, Turn, Usage } from '../dialects/dialect.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { ModelRequest } from '../models/model.ts';
import type { Delegation } from '../host/delegation.ts';
import type { Counts, Resumption, TurnRecord } from '../journal/journal.ts';
import type { ToolResult } from '../types.ts';
import { addUsage, type Limits, limitsOf, limitWatch, tokensOf } from './budget.ts';
import { answerCalls, CONCURRENT_CALLS } from './calls.ts';
import { type End, endOf, failure } from './ends.ts';
import type { Run, RunEvent, RunResult } from './events.ts';
import { loopGuard } from './guards.ts';
import { afterCall, permits, selected, unmatched } from './offer.ts';
import type { RunHost, RunOptions, RunTool } from './options.ts';
import { ProviderCalls } from './provider-calls.ts';
import { EventQueue } from './queue.ts';
import { Stop } from './stop.ts';
import { goesOn, idsOf, isEmpty, keepTurn, salvage, separateIds, settle, withNotes } from './transcript.ts';

/**
 * Starts a run. It goes on whether or not its events are read; leaving the loop over the events aborts it.
 * @throws MidspanError `usage` for options that make no sense, and when its start cannot be recorded. Everything later is
 * told by events and the result.
 */
export function run(host: RunHost, options: RunOptions): Run {
  const limits = limitsOf(options.limits);
  if (options.messages.length === 0 && options.resumption === undefined) {
    throw new MidspanError({
      code: 'usage',
      what: 'a run needs at least one message',
      next: 'Give the question as a user message',
    });
  }
  const stop = new Stop(options.signal, limits.milliseconds);
  const events = new EventQueue(() => stop.now('aborted', 'the reader of the events left'));
  const conversation = new Conversation(host, options, limits, stop, (event) => events.push(event));
  const result = conversation.drive().finally(() => events.end());
  return {
    id: options.journal?.id,
    result,
    abort: (reason) => stop.now('aborted', reason),
    [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
  };
}

/** How often in a row a model is asked again after an answer that its API could not read. */
export const REPAIRS = 2;

class Conversation {
  readonly #host: RunHost;
  readonly #options: RunOptions;
  readonly #limits: Limits;
  readonly #stop: Stop;
  readonly #emit: (event: RunEvent) => void;
  readonly #messages: Message[];
  readonly #ids: Set<string>;
  readonly #warned = new Set<string>();
  readonly #usage: Usage = { input: 0, output: 0 };
  readonly #started = performance.now();
  readonly #guard: ReturnType<typeof loopGuard>;
  readonly #watchLimits: ReturnType<typeof limitWatch>;
  #delegation: Delegation = NO_DELEGATION;
  #served: ProviderCalls;
  #choice: Choice | undefined;
  #text = '';
  #repairs = 0;
  #turns = 0;
  #calls = 0;

  constructor(
    host: RunHost,
    options: RunOptions,
    limits: Limits,
    stop: Stop,
    emit: (event: RunEvent) => void,
  ) {
    this.#host = host;
    this.#options = options;
    this.#limits = limits;
    this.#stop = stop;
    this.#emit = emit;
    this.#guard = loopGuard(limits.rounds);
    this.#watchLimits = limitWatch(limits);
    const { resumption, journal } = options;
    this.#messages =
      resumption === undefined
        ? settle(options.messages, 'The call was not run: the conversation had ended before it could be.')
        : [...resumption.messages];
    this.#ids = idsOf(this.#messages);
    this.#choice = options.choice;
    this.#served = new ProviderCalls(NO_DELEGATION, host, emit);
    if (resumption === undefined) journal?.started(this.#messages);
    else this.#takeUp(resumption);
  }

  #takeUp({ spent }: Resumption): void {
    this.#turns = spent.turns;
    this.#calls = spent.calls;
    addUsage(this.#usage, spent.usage);
    if (this.#messages.some(({ role }) => role === 'tool')) this.#choice = afterCall(this.#choice);
  }

  /** Never rejects. */
  async drive(): Promise<RunResult> {
    const end = await this.#loop().catch((error: unknown): End => this.#stop.cause ?? failure(error));
    this.#stop.dispose();
    this.#served.close(end.detail ?? 'the run ended');
    const counts = this.#counts();
    const reason = { reason: end.reason, ...(end.detail !== undefined && { detail: end.detail }) };
    try {
      this.#options.journal?.ended(reason, counts);
    } catch (error) {
      this.#warn(`The end of the run could not be recorded: ${messageOf(error)}`);
    }
    this.#emit({ type: 'end', ...reason, ...counts });
    return {
      ...reason,
      text: this.#text,
      // Calls of a turn that could not be recorded were not run.
      messages: settle(this.#messages, `The call was not run: ${end.detail ?? 'the run ended'}.`),
      ...counts,
      ...(end.error !== undefined && { error: end.error }),
    };
  }

  async #loop(): Promise<End> {
    await this.#delegate();
    const tools = this.#offer();
    const unwatch = this.#watch(tools);
    try {
      const compiled = this.#compile(tools);
      return (await this.#goOn(compiled, tools)) ?? (await this.#takeTurns(tools, compiled));
    } finally {
      unwatch();
    }
  }

  /** Does what an interrupted run had before it: answers the calls of its last turn, or ends with its last answer. */
  async #goOn(compiled: Compiled, tools: readonly RunTool[]): Promise<End | undefined> {
    const stop = this.#options.resumption?.stop;
    const last = this.#messages.at(-1);
    if (stop === undefined || last?.role !== 'assistant') return undefined;
    if (last.calls.length + (last.approvals?.length ?? 0) > 0) return this.#answer(last, compiled, tools);
    this.#text = last.text;
    return goesOn({ stop }) ? undefined : endOf({ stop });
  }

  async #takeTurns(tools: readonly RunTool[], compiled: Compiled): Promise<End> {
    for (;;) {
      if (this.#stop.cause !== undefined) return this.#stop.cause;
      if (this.#turns >= this.#limits.turns) {
        return { reason: 'max-turns', detail: `the limit of ${this.#limits.turns} turns was reached` };
      }
      const turn = await this.#takeTurn(compiled);
      const message = this.#keep(turn);
      if (turn.stop === 'calls' && message.calls.length + (message.approvals?.length ?? 0) > 0) {
        const end = await this.#answer(message, compiled, tools);
        if (end !== undefined) return end;
        this.#choice = afterCall(this.#choice);
        this.#repairs = 0;
      } else if (turn.repair !== undefined && this.#repairs < REPAIRS) {
        this.#repair(turn, turn.repair);
      } else if (!goesOn(turn)) {
        return endOf(turn);
      }
      const end = this.#spent();
      if (end !== undefined) return end;
    }
  }

  /** Leaves servers to the model's provider, where the configuration says so and nothing speaks against it. */
  async #delegate(): Promise<void> {
    const { model, tools: globs, choice, via } = this.#options;
    if (globs === 'none' || globs?.length === 0 || choice === 'none') return;
    const refuse =
      via === 'host'
        ? 'this run says so'
        : typeof choice === 'object'
          ? 'a choice of single tools can only be kept by the host'
          : undefined;
    const delegation = await this.#host.delegate?.(model, {
      signal: this.#stop.signal,
      ...(globs !== undefined && { offers: (name: string) => permits(name, this.#options) }),
      ...(refuse !== undefined && { refuse }),
    });
    if (delegation === undefined) return;
    this.#delegation = delegation;
    this.#served = new ProviderCalls(delegation, this.#host, this.#emit);
    for (const warning of delegation.warnings) this.#warn(warning);
  }

  /** The tools of all servers but those that the provider connects to itself. */
  #own(): RunTool[] {
    return selected(this.#host.catalog().tools, this.#options.tools).filter(
      ({ label }) => !this.#served.isDelegated(label),
    );
  }

  #offer(): RunTool[] {
    const { tools: globs } = this.#options;
    const { tools } = this.#host.catalog();
    for (const glob of unmatched(tools, globs)) this.#warn(`No tool matches ${JSON.stringify(glob)}.`);
    return this.#own();
  }

  /** Warns, once, when what this run offers is no longer what the host has. */
  #watch(tools: readonly RunTool[]): () => void {
    let unwatch: (() => void) | undefined = this.#host.onCatalog?.(() => {
      const now = this.#own();
      if (JSON.stringify(now) === JSON.stringify(tools)) return;
      this.#warn(
        'The tools of the servers have changed. This run goes on with those that it began with; the change waits for the next run.',
      );
      stop();
    });
    const stop = (): void => {
      unwatch?.();
      unwatch = undefined;
    };
    return stop;
  }

  #compile(tools: readonly RunTool[]): Compiled {
    const compiled = this.#options.model.dialect.definitions(tools);
    for (const { name, status, changes } of compiled.report) {
      if (status === 'left out') this.#warn(`The tool ${name} is left out: ${changes.join('; ')}.`);
    }
    return compiled;
  }

  /** One answer of the model. When it breaks off, the text that came stays in the transcript. */
  async #takeTurn(compiled: Compiled): Promise<Turn> {
    this.#text = '';
    const stream = this.#options.model.stream(this.#request(compiled), {
      signal: this.#stop.signal,
      onLoss: (loss) => this.#warn(loss),
    });
    try {
      for (;;) {
        const step = await stream.next();
        if (step.done === true) return step.value;
        if (step.value.type === 'call') continue; // told when its arguments are there
        if (step.value.type === 'text') this.#text += step.value.delta;
        if (step.value.type === 'served') this.#served.tell(step.value.call);
        else this.#emit(step.value);
      }
    } catch (error) {
      const salvaged = salvage(this.#text);
      if (!isEmpty(salvaged)) this.#append(salvaged);
      throw error;
    }
  }

  #request(compiled: Compiled): ModelRequest {
    const { system, parallel, maxTokens, extra, results } = this.#options;
    const { servers } = this.#delegation;
    return {
      messages: [...this.#messages],
      tools: compiled,
      ...(servers.length > 0 && { servers }),
      ...(system !== undefined && { system }),
      ...(this.#choice !== undefined &&
        compiled.tools.length + servers.length > 0 && { choice: this.#choice }),
      ...(parallel !== undefined && { parallel }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(extra !== undefined && { extra }),
      ...(results !== undefined && { results }),
    };
  }

  /** Takes a turn into the transcript and tells of it. Returns the message as it stands there. */
  #keep(turn: Turn): AssistantMessage {
    const kept = keepTurn(turn);
    const { message, renamed } = separateIds(kept.message, this.#ids);
    if (kept.discarded.length > 0) {
      const names = kept.discarded.map(({ name }) => name).join(', ');
      this.#warn(
        `The model's answer ended early (${turn.stop}): its calls are left out and not run: ${names}.`,
      );
    }
    for (const id of renamed)
      this.#warn(`The model used the call id ${JSON.stringify(id)} twice: the later call has a new one.`);
    for (const notice of turn.notices ?? []) this.#warn(`${notice}.`);
    this.#served.tellTurn(message);
    if ((message.served?.length ?? 0) > 0) this.#choice = afterCall(this.#choice);
    this.#turns += 1;
    addUsage(this.#usage, turn.usage);
    if (!isEmpty(message)) this.#append(message, { stop: turn.stop });
    this.#text = message.text;
    this.#emit({
      type: 'turn',
      index: this.#turns - 1,
      stop: turn.stop,
      ...(turn.detail !== undefined && { detail: turn.detail }),
      text: message.text,
      calls: message.calls.map(({ id, name }) => ({ id, name })),
    });
    this.#emit({ type: 'usage', turn: turn.usage, total: { ...this.#usage } });
    return message;
  }

  /** Tells the model what was wrong with an answer that even its API could not read. */
  #repair({ detail, stop }: Turn, words: string): void {
    this.#repairs += 1;
    this.#warn(`The model's answer could not be read (${detail ?? stop}); it is told so and asked again.`);
    this.#append({ role: 'user', content: `[midspan] ${words}` });
  }

  /** Runs the calls of a turn and puts their results into the transcript; what a limit forbids is answered, not run. */
  async #answer(
    message: AssistantMessage,
    compiled: Compiled,
    tools: readonly RunTool[],
  ): Promise<End | undefined> {
    const left = this.#limits.calls - this.#count();
    const requests = message.approvals ?? [];
    const spent = this.#spent();
    const tooMany: End | undefined =
      message.calls.length + requests.length > left
        ? { reason: 'max-calls', detail: `the limit of ${this.#limits.calls} calls was reached` }
        : undefined;
    const end = spent ?? tooMany;
    const results = await answerCalls(message.calls, {
      host: this.#host,
      compiled,
      shown: new Map(tools.map((tool) => [tool.name, tool])),
      permits: (name) => permits(name, this.#options),
      answered: this.#options.resumption?.answered ?? NOTHING_ANSWERED,
      concurrent: this.#options.parallel === false ? 1 : CONCURRENT_CALLS,
      stop: this.#stop,
      limit: end && { from: spent === undefined ? left : 0, reason: end.detail ?? end.reason },
      emit: this.#emit,
    });
    this.#calls += message.calls.length;
    const approvals = await this.#served.answer(requests, {
      limit: (this.#stop.cause ?? end)?.detail,
      signal: this.#stop.signal,
    });
    const { tell, end: circles } = this.#guard(results);
    const near = this.#watchLimits({
      turns: this.#turns,
      calls: this.#count(),
      milliseconds: performance.now() - this.#started,
      tokens: tokensOf(this.#usage),
    });
    const notes = [tell, near].filter((note) => note !== undefined);
    for (const note of notes) this.#warn(note);
    this.#append({
      role: 'tool',
      results: withNotes(results, notes),
      ...(approvals.length > 0 && { approvals }),
    });
    return (
      this.#stop.cause ?? end ?? (circles === undefined ? undefined : { reason: 'loop', detail: circles })
    );
  }

  #spent(): End | undefined {
    if (this.#count() > this.#limits.calls)
      return { reason: 'max-calls', detail: `the limit of ${this.#limits.calls} calls was reached` };
    if (tokensOf(this.#usage) < this.#limits.tokens) return undefined;
    return { reason: 'tokens', detail: `the budget of ${this.#limits.tokens} tokens is spent` };
  }

  /** Our own calls and those of the provider. */
  #count(): number {
    return this.#calls + this.#served.count;
  }

  #append(message: Message, turn?: TurnRecord): void {
    this.#messages.push(message);
    this.#options.journal?.appended(message, this.#counts(), turn);
  }

  #counts(): Counts {
    return { usage: { ...this.#usage }, turns: this.#turns, calls: this.#count() };
  }

  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#emit({ type: 'warning', message });
  }
}

const NOTHING_ANSWERED: ReadonlyMap<string, ToolResult> = new Map();

const NO_DELEGATION: Delegation = { servers: [], labels: new Map(), warnings: [] };
