/**
 * One negotiated connection: requests in the agreed revision, with the repairs that its era asks for. An expired session is
 * opened again once for everybody; a request is sent a second time only when the server certainly did not run it.
 */
import { MidspanError } from '../errors.ts';
import { codecFor } from '../mcp/codec.ts';
import { sessionExpired } from '../mcp/legacy.ts';
import { UNSUPPORTED_VERSION, isObject } from '../mcp/message.ts';
import { commonVersion } from '../mcp/versions.ts';
import { safeText } from '../mcp/text.ts';
import { untilAbort } from './abort.ts';
import { broken, cancelled, failure } from './failure.ts';
import { readInfo, readOpening } from './info.ts';
import { LEVELS, isAtLeast } from './log-level.ts';
import type { Connected } from './connect.ts';
import type { Peer } from './peer.ts';
import type { RequestOptions } from './request.ts';
import type { ServerInfo } from './server.ts';
import type { Answer, Identity, Opening } from '../mcp/codec.ts';
import type { JsonObject } from '../types.ts';

export interface ConnectionOptions {
  identity: Identity;
  /** Milliseconds for opening a session again. */
  timeout: number;
  /** The session is a new one: what was listed or subscribed in the old one is gone. */
  renewed: () => void;
  warning: (message: string) => void;
}

export class Connection {
  readonly peer: Peer;
  info: ServerInfo;
  readonly #options: ConnectionOptions;
  #session = 0;
  #renewal: Promise<void> | undefined;
  /** From which level on the server was told to log in this session; undefined: it was not. */
  #level: string | undefined;

  constructor({ peer, info }: Connected, options: ConnectionOptions) {
    this.peer = peer;
    this.info = info;
    this.#options = options;
  }

  /** True when tool arguments may have to go as headers. */
  get mirrors(): boolean {
    return this.peer.codec.mirrorsArguments && this.peer.channel.kind === 'http';
  }

  /** Whether the server logs, as it says. */
  get logs(): boolean {
    return isObject(this.info.capabilities.logging);
  }

  /**
   * Whether a server of the older era has yet to be told to log from that level on. One level holds for everybody, so it is the
   * lowest that somebody listens from, and at least `info`.
   */
  logsLess(level: string): boolean {
    if (this.peer.codec.logsOnRequest || !LEVELS.includes(level) || !this.logs) return false;
    return this.#level === undefined || !isAtLeast(level, this.#level);
  }

  /** Never rejects. */
  async logFrom(level: string): Promise<void> {
    const { peer } = this;
    this.#level = lowest(level);
    try {
      await this.request('logging/setLevel', { level: this.#level }, { timeout: this.#options.timeout });
    } catch (error) {
      this.#options.warning(`does not take a log level: ${safeText(failure(peer.label, error).what, 300)}`);
    }
  }

  async request(method: string, params: JsonObject, options: RequestOptions): Promise<Answer> {
    const { peer } = this;
    if (!peer.codec.clientRequests.has(method)) {
      throw new MidspanError({
        code: 'usage',
        label: peer.label,
        what: `${method} does not exist in revision ${peer.codec.version}`,
        data: { sent: false },
      });
    }
    const session = this.#session;
    try {
      return await peer.request(method, params, options);
    } catch (error) {
      const { signal } = options;
      // It says whether the server has seen the request.
      if (error instanceof MidspanError && error.code === 'cancelled') throw error;
      // The repair serves others too, and goes on.
      await untilAbort(this.recover(error, session), signal, () => cancelled(peer.label, method, false));
      return peer.request(method, params, options);
    }
  }

  get session(): number {
    return this.#session;
  }

  /** Repairs what made a request fail in `session`; throws the error again when that is not for us to repair. */
  async recover(error: unknown, session: number): Promise<void> {
    const known = failure(this.peer.label, error);
    if (this.#otherVersion(known)) return;
    if (
      this.peer.codec.sessions &&
      (this.peer.sessionId !== undefined || session !== this.#session || this.#renewal !== undefined) &&
      sessionExpired(known)
    ) {
      if (session === this.#session) await (this.#renewal ??= this.#renew());
      return;
    }
    throw known;
  }

  /** A server that was replaced behind its address may have dropped our revision. */
  #otherVersion({ code, data: facts }: MidspanError): boolean {
    const { peer } = this;
    if (code !== 'rpc' || facts.code !== UNSUPPORTED_VERSION || !isObject(facts.data)) return false;
    const version = commonVersion(facts.data.supported, 'modern');
    if (version === undefined || version === peer.codec.version) return false;
    peer.codec = codecFor(version, this.#options.identity);
    this.info = { ...this.info, protocolVersion: version };
    return true;
  }

  /** Asks anew what the server says of itself, where the era lets us: a modern server may be replaced behind its address. */
  async refresh(): Promise<void> {
    const { peer } = this;
    if (peer.codec.sessions) return;
    const read = await this.#ask();
    if (read === undefined)
      throw broken(peer.label, `it answered ${peer.codec.opening.method} with something else`);
    this.info = readInfo(read, peer, this.#options.warning);
  }

  async #ask(): Promise<Opening | undefined> {
    const { label, codec } = this.peer;
    const { method, params } = codec.opening;
    let frame = '';
    const answer = await this.peer.request(method, params, {
      timeout: this.#options.timeout,
      uncancellable: true,
      frame: (text) => (frame = text),
    });
    return readOpening(label, codec, answer, frame, this.#options.warning);
  }

  async #renew(): Promise<void> {
    const { peer } = this;
    try {
      peer.sessionId = undefined;
      const { opened, version } = peer.codec;
      const read = await this.#ask();
      if (read === undefined || read.versions[0] !== version) {
        throw new MidspanError({
          code: 'protocol',
          label: peer.label,
          what: 'the server forgot the session and did not open a new one in the same revision',
          next: 'Restart it',
        });
      }
      if (opened !== undefined) await peer.notify(opened, {});
      this.info = readInfo(read, peer, this.#options.warning);
      this.#session += 1;
      this.#level = undefined;
      this.#options.renewed();
    } finally {
      this.#renewal = undefined;
    }
  }

  /** Ends the session and the channel. Never rejects. */
  async close(reason: MidspanError): Promise<void> {
    const { peer } = this;
    peer.end(reason);
    if (peer.sessionId !== undefined) {
      await peer.channel.endSession?.(peer.sendOptions('', {})?.headers ?? {});
    }
    await peer.close(reason);
  }
}

function lowest(level: string): string {
  return isAtLeast(level, 'info') ? 'info' : level;
}
