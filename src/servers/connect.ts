/**
 * Reaching a server: opens its channel, finds its era by what it answers, and agrees on a revision. The decisions are
 * mcp/detect.ts; here is what carries them out over real channels.
 */
import { MidspanError } from '../errors.ts';
import { codecFor } from '../mcp/codec.ts';
import { afterDiscover, afterInitialize } from '../mcp/detect.ts';
import { isObject } from '../mcp/message.ts';
import { eraOf, latestVersion, versionsOf } from '../mcp/versions.ts';
import { onAbort, untilAbort } from './abort.ts';
import { failure, listed } from './failure.ts';
import { readInfo, readOpening } from './info.ts';
import { Peer } from './peer.ts';
import type { Channel } from './channel.ts';
import type { Known } from './verdict.ts';
import type { PeerEvents } from './peer.ts';
import type { ServerInfo } from './server.ts';
import type { Timing } from './timing.ts';
import type { Identity, Opening } from '../mcp/codec.ts';
import type { Decision, Observation } from '../mcp/detect.ts';
import type { Json, ServerSpec } from '../types.ts';

export interface ConnectSetup {
  spec: ServerSpec;
  identity: Identity;
  timing: Timing;
  events: PeerEvents;
  /** A fresh channel of the configured transport, or the HTTP+SSE one to the same address. */
  channel: (sse: boolean) => Channel;
}

export interface Connected {
  peer: Peer;
  info: ServerInfo;
}

/**
 * @throws MidspanError `unreachable`, `sign-in`, `protocol` (no revision in common), `rpc`; everything opened is closed then.
 */
export async function connect(setup: ConnectSetup, known: Known, signal: AbortSignal): Promise<Connected> {
  const attempt = new Attempt(setup, known, signal);
  try {
    return await attempt.run();
  } catch (error) {
    await attempt.discard();
    throw error;
  }
}

/** One more than any honest server needs; a server that sends us round in circles is refused. */
const STEPS_MAX = 8;
/** How long a server may take to answer a ping, before it is used without. Milliseconds. */
const GREETED_WITHIN = 2_000;
/** The first, one in another revision, and one after an error that asks for a repair. */
const PROBES_MAX = 3;

type Step = Decision | { to: 'done'; opening: Opening; version: string };

class Attempt {
  readonly #setup: ConnectSetup;
  readonly #known: Known;
  readonly #signal: AbortSignal;
  #peer: Peer | undefined;
  /** Ends a probe that nobody waits for any more, without a word to the server. */
  #probe = new AbortController();
  /** The unanswered `server/discover` of the present process. */
  #late: Promise<Decision & { opening?: Opening | undefined }> | undefined;
  readonly #stopListening: () => void;
  #respawned = false;
  #probes = 0;
  #opening: Opening | undefined;
  #error: MidspanError | undefined;

  constructor(setup: ConnectSetup, known: Known, signal: AbortSignal) {
    this.#setup = setup;
    this.#known = known;
    this.#signal = signal;
    this.#stopListening = onAbort(signal, () => this.#probe.abort());
  }

  async discard(): Promise<void> {
    this.#probe.abort();
    await this.#peer?.close(this.#givenUp());
  }

  async run(): Promise<Connected> {
    try {
      return await this.#steps();
    } finally {
      this.#stopListening();
    }
  }

  async #steps(): Promise<Connected> {
    const known = this.#known;
    if (this.#signal.aborted) throw this.#givenUp();
    await this.#open(known.era !== 'auto' && known.sse);
    let step: Step =
      known.era === 'legacy'
        ? { to: 'initialize', version: known.version }
        : {
            to: 'modern',
            version: known.era === 'auto' ? latestVersion('modern') : known.version,
            again: true,
          };
    for (let count = 0; count < STEPS_MAX; count += 1) {
      switch (step.to) {
        case 'modern':
          if (known.era === 'legacy' && known.from !== 'memory') throw this.#lastError();
          step = step.again
            ? await this.#discover(step.version)
            : { to: 'done', opening: this.#opening as Opening, version: step.version };
          break;
        case 'initialize':
          if (this.#modernOnly)
            throw this.#refusal('does not speak the modern era, which its configuration asks for');
          step = await this.#initialize(step.version);
          break;
        case 'respawn':
          step = await this.#respawn();
          break;
        case 'sse':
          if (this.#setup.spec.transport.type !== 'http' || this.#channel.kind === 'sse')
            throw this.#lastError();
          await this.discard();
          await this.#open(true);
          step = await this.#initialize(latestVersion('legacy'));
          break;
        case 'done':
          return await this.#done(step.opening, step.version);
        case 'sign-in':
          throw this.#signIn();
        case 'outage':
          throw this.#outage();
        case 'refuse':
          throw step.offered === undefined
            ? this.#lastError()
            : this.#refusal(`speaks ${listed(step.offered)}`);
      }
    }
    throw this.#refusal('did not settle on a revision');
  }

  // ---- steps ----

  async #open(sse: boolean): Promise<void> {
    const { spec, identity, events } = this.#setup;
    this.#probe = new AbortController();
    this.#late = undefined;
    this.#peer = new Peer(
      spec.label,
      this.#setup.channel(sse),
      codecFor(latestVersion('modern'), identity),
      events,
    );
    try {
      await this.#peer.open(this.#signal);
    } catch (error) {
      this.#error ??= failure(this.#label, error, 'unreachable');
      const seen = observed(failure(this.#label, error, 'unreachable'), this.#channel.kind);
      if (seen?.saw === 'status' && (seen.status === 401 || seen.status === 403)) throw this.#signIn();
      throw error;
    }
  }

  async #respawn(): Promise<Step> {
    if (this.#respawned || this.#modernOnly) throw this.#outage();
    this.#respawned = true;
    await this.discard();
    await this.#open(false);
    return this.#initialize(latestVersion('legacy'));
  }

  async #discover(version: string): Promise<Step> {
    if (++this.#probes > PROBES_MAX) throw this.#lastError();
    this.#peer!.codec = codecFor(version, this.#setup.identity);
    const answer = this.#ask().then((seen) => {
      const opening = seen.saw === 'result' ? seen.opening : undefined;
      const decision = afterDiscover(
        seen.saw === 'result' ? { saw: 'result', versions: opening?.versions } : seen,
        version,
      );
      return { ...decision, opening };
    });
    const patient = this.#channel.kind !== 'stdio' || this.#modernOnly;
    const decision = patient
      ? await answer
      : await Promise.race([answer, this.#wait(this.#setup.timing.probe)]);
    if (decision === undefined) {
      this.#late = answer;
      answer.catch(() => undefined);
      return afterDiscover({ saw: 'silence' }, version);
    }
    this.#opening = decision.opening;
    return decision;
  }

  async #initialize(version: string): Promise<Step> {
    const peer = this.#peer!;
    const late = this.#late;
    peer.codec = codecFor(version, this.#setup.identity);
    peer.sessionId = undefined;
    const answer = this.#ask().then((seen): Step => {
      if (seen.saw !== 'result') return afterInitialize(seen, version);
      if (seen.opening === undefined) throw this.#refusal('answered initialize with something else');
      return { to: 'done', opening: seen.opening, version };
    });
    if (late === undefined) return answer;
    // The probe is still open on this process: its late answer counts when `initialize` is refused or not answered.
    let modern: Decision | undefined;
    const probed = late.then(async (decision) => {
      if (decision.to !== 'modern' || decision.again) return await answer;
      this.#opening = decision.opening;
      modern = decision;
      await this.#wait(this.#setup.timing.late);
      return decision;
    });
    probed.catch(() => undefined);
    answer.catch(() => undefined);
    const step = await Promise.race([answer, probed]);
    if (step.to === 'done') return step;
    if (modern !== undefined) return modern;
    // A process that ended because of the probe deserves a start without one.
    return step.to === 'outage' && this.#channel.kind === 'stdio' ? { to: 'respawn' } : step;
  }

  async #done(opening: Opening, version: string): Promise<Connected> {
    this.#probe.abort();
    const { identity, events } = this.#setup;
    const peer = this.#peer!;
    const known = this.#known;
    // A modern server offers a list, of which we chose; a legacy one answers with the revision that it chose.
    const agreed = eraOf(version) === 'modern' ? version : (opening.versions[0] as string);
    if (eraOf(agreed) !== eraOf(version)) throw this.#refusal(`speaks ${listed([agreed])}`);
    if (known.era !== 'auto' && known.from === 'revision' && agreed !== known.version) {
      throw this.#refusal(`answered with ${agreed}, and its configuration asks for ${known.version}`);
    }
    const codec = codecFor(agreed, identity);
    peer.codec = codec;
    if (codec.opened !== undefined) {
      await untilAbort(peer.notify(codec.opened, {}), this.#signal, () => this.#givenUp());
      if (isObject(identity.capabilities.roots)) await this.#greeted(peer);
    }
    return { peer, info: readInfo(opening, peer, events.warning) };
  }

  /**
   * Servers ask for roots as soon as they are told of them. What they ask before they answer a ping is about no call, and is not
   * to be taken for a question about the first one.
   */
  async #greeted(peer: Peer): Promise<void> {
    try {
      await peer.request('ping', {}, { timeout: GREETED_WITHIN, signal: this.#signal, uncancellable: true });
    } catch {
      // It is as good as an answer, or the attempt fails with what comes next.
    }
  }

  /** Sends the present codec's opening request and says what was seen. */
  async #ask(): Promise<
    Exclude<Observation, { saw: 'result' }> | { saw: 'result'; opening: Opening | undefined }
  > {
    const peer = this.#peer!;
    const { codec } = peer;
    const { method, params } = codec.opening;
    let frame = '';
    try {
      // Time is bounded by the start as a whole; neither request may be cancelled towards a server of unknown era.
      const answer = await peer.request(method, params, {
        timeout: 0,
        signal: codec.era === 'modern' ? this.#probe.signal : this.#signal,
        uncancellable: true,
        frame: (text) => (frame = text),
      });
      const opening = readOpening(peer.label, codec, answer, frame, this.#setup.events.warning);
      return { saw: 'result', opening };
    } catch (error) {
      const known = failure(this.#label, error);
      if (this.#signal.aborted) throw known;
      this.#error = known;
      // To a probe any nonsense is the answer of a server that does not know it.
      if (known.code === 'protocol' && known.data.status === undefined && codec.era === 'modern')
        return { saw: 'result', opening: undefined };
      const seen = observed(known, this.#channel.kind);
      if (seen === undefined) throw known;
      return seen;
    }
  }

  #wait(milliseconds: number): Promise<undefined> {
    return new Promise((resolve) => {
      setTimeout(resolve, milliseconds, undefined).unref();
    });
  }

  // ---- what went wrong ----

  #givenUp(): MidspanError {
    return new MidspanError({
      code: 'closed',
      label: this.#label,
      what: 'the attempt to reach the server was given up',
    });
  }

  get #modernOnly(): boolean {
    return this.#known.era === 'modern' && this.#known.from !== 'memory';
  }

  get #label(): string {
    return this.#setup.spec.label;
  }

  get #channel(): Channel {
    return this.#peer!.channel;
  }

  #lastError(): MidspanError {
    return this.#error ?? this.#refusal('gave no usable answer');
  }

  #refusal(what: string): MidspanError {
    return new MidspanError({
      code: 'protocol',
      label: this.#label,
      what: `the server ${what}`,
      next: `We speak ${[...versionsOf('modern'), ...versionsOf('legacy')].join(', ')}. Update the server, or set "era" in its configuration`,
      cause: this.#error,
      data: { ...this.#error?.data },
    });
  }

  #signIn(): MidspanError {
    const status = this.#error?.data.status as number | undefined;
    return new MidspanError({
      code: 'sign-in',
      label: this.#label,
      what: `the server wants authorization${status === undefined ? '' : ` (HTTP ${status})`}`,
      next: 'Put an Authorization header into "headers" of its configuration',
      cause: this.#error,
      data: { ...this.#error?.data },
    });
  }

  #outage(): MidspanError {
    const { cause } = this.#lastError();
    const error = cause instanceof MidspanError ? cause : this.#lastError();
    if (error.code === 'unreachable') return error;
    return new MidspanError({
      code: 'unreachable',
      label: this.#label,
      what:
        this.#channel.kind === 'stdio'
          ? `it could not be started: ${error.what}`
          : `it cannot be reached: ${error.what}`,
      ...(error.next === undefined
        ? { next: 'Check that it runs and that its address is right' }
        : { next: error.next }),
      cause: error,
      data: error.data,
    });
  }
}

/** What an error says about the era; undefined when it says nothing and ends the attempt. */
function observed(
  error: MidspanError,
  kind: Channel['kind'],
): Exclude<Observation, { saw: 'result' }> | undefined {
  const { status, code, data } = error.data;
  const telling =
    typeof status !== 'number' ||
    (status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429);
  if (error.code === 'rpc' && telling)
    return { saw: 'error', code: code as number, data: data as Json | undefined };
  if (typeof status === 'number') return { saw: 'status', status };
  if (error.code === 'closed') return { saw: kind === 'stdio' ? 'exit' : 'outage' };
  if (error.code === 'unreachable' || error.code === 'timeout') return { saw: 'outage' };
  return undefined;
}
