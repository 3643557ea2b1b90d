/** Calls that the model's provider makes itself, told like our own: each starts once and finishes once. */
import type { ApprovalAnswer, ApprovalRequest, AssistantMessage, ServedCall } from '../dialects/dialect.ts';
import type { Delegation } from '../host/delegation.ts';
import { exposedName } from '../host/names.ts';
import type { ToolResult } from '../types.ts';
import type { CallIdentity, RunEvent } from './events.ts';
import type { RunHost } from './options.ts';
import { errorResult } from './transcript.ts';

interface Open {
  identity: CallIdentity;
  since: number;
}

export class ProviderCalls {
  readonly #delegation: Delegation;
  readonly #host: RunHost;
  readonly #emit: (event: RunEvent) => void;
  /** Started and not finished. A call may finish in a later turn than it started in. */
  readonly #open = new Map<string, Open>();
  /** Finished in this turn: a call is told while it streams and stands in the whole turn again. */
  readonly #told = new Set<string>();
  #started = 0;

  constructor(delegation: Delegation, host: RunHost, emit: (event: RunEvent) => void) {
    this.#delegation = delegation;
    this.#host = host;
    this.#emit = emit;
  }

  /** How many have started. */
  get count(): number {
    return this.#started;
  }

  isDelegated(label: string | undefined): boolean {
    return label !== undefined && [...this.#delegation.labels.values()].includes(label);
  }

  tell(call: ServedCall): void {
    if (this.#told.has(call.id)) return;
    if (!this.#open.has(call.id)) {
      if (call.tool === '') return; // the result of a call that this run did not see
      this.#start(call);
    }
    if (call.result !== undefined)
      this.#finish(call.id, call.failed === true ? 'failed' : 'done', call.result);
  }

  /** What has not been told of a whole turn. */
  tellTurn({ served = [] }: AssistantMessage): void {
    for (const call of served) this.tell(call);
    this.#told.clear();
  }

  /** At the end of the run. */
  close(reason: string): void {
    for (const id of this.#open.keys()) {
      this.#finish(id, 'unknown', errorResult(`Whether the call ran is not known: ${reason}.`));
    }
  }

  /**
   * A person's word on each call that the provider waits with, one after the other.
   * @param limit why nothing is asked and all of it declined.
   */
  async answer(
    requests: readonly ApprovalRequest[],
    { limit, signal }: { limit: string | undefined; signal: AbortSignal },
  ): Promise<ApprovalAnswer[]> {
    const answers: ApprovalAnswer[] = [];
    for (const request of requests) {
      const refused = limit ?? (await this.#refusal(request, signal));
      answers.push({ id: request.id, approve: refused === undefined, ...(refused && { reason: refused }) });
      if (refused === undefined) continue;
      this.#start(request);
      this.#finish(request.id, 'refused', errorResult(`The call was not run: ${refused}.`));
    }
    return answers;
  }

  async #refusal({ server, tool, arguments: args, problem }: ApprovalRequest, signal: AbortSignal) {
    const label = this.#delegation.labels.get(server);
    const known = this.#delegation.servers.find(({ name }) => name === server);
    if (label === undefined || known === undefined) return `this run has no server ${JSON.stringify(server)}`;
    if (known.allowed?.includes(tool) === false || known.denied?.includes(tool) === true)
      return `${JSON.stringify(tool)} is not among the tools of this run`;
    if (problem !== undefined) return problem.replace(/\.$/, '');
    if (signal.aborted) return 'the run ended';
    const answer = await this.#host.approve?.({ label, tool, arguments: args }, { signal });
    if (answer === undefined) return 'nobody can be asked in this run';
    if (answer.action === 'accept') return undefined;
    return answer.reason ?? 'the call was not approved';
  }

  #start({ id, server, tool, arguments: args }: ServedCall | ApprovalRequest): void {
    const label = this.#delegation.labels.get(server) ?? server;
    const identity: CallIdentity = { id, name: exposedName(label, tool), label, tool, via: 'provider' };
    this.#started += 1;
    this.#open.set(id, { identity, since: performance.now() });
    this.#emit({ type: 'call.started', ...identity, arguments: args });
  }

  #finish(id: string, status: 'done' | 'failed' | 'refused' | 'unknown', result: ToolResult): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    this.#told.add(id);
    const { label, tool } = open.identity;
    if (label !== undefined && tool !== undefined && status !== 'refused')
      this.#host.saw?.({ label, tool }, result);
    this.#emit({
      type: 'call.finished',
      ...open.identity,
      isError: result.isError === true,
      status,
      milliseconds: Math.round(performance.now() - open.since),
      result,
    });
  }
}
