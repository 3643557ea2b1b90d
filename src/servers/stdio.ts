/**
 * The stdio transport (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio): one JSON-RPC message per
 * line. The server runs in a process group of its own, and its whole tree ends with the channel.
 */
import { isUtf8 } from 'node:buffer';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { statSync } from 'node:fs';
import spawn from 'cross-spawn';
import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import { DRAIN_MS, NOISE_CHARACTERS, NOISE_LINES, STDERR_BYTES, WRITE_QUEUE_BYTES } from '../mcp/limits.ts';
import { JsonLimitError } from '../mcp/json.ts';
import type { JsonObject, StdioTransport } from '../types.ts';
import type { Channel, ChannelHandlers, Sent } from './channel.ts';
import { inheritedEnvironment } from './environment.ts';
import { LineReader, LineTooLongError } from './line-reader.ts';
import { messagesIn } from './messages.ts';
import { noiseOf, printable, Tail } from './printable.ts';
import { ProcessTree } from './process-tree.ts';
import { redactorOf } from './secrets.ts';
import { startFailure } from './start-failure.ts';

export interface StdioOptions {
  label: string;
  transport: StdioTransport;
  /** Our own environment, of which the server inherits a safe part. Default `process.env`. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/** Characters that JSON leaves as they are and that line readers of other programs take for the end of a line. */
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A channel to a server that is started as a child process by `open`. */
export function stdioChannel(options: StdioOptions): Channel {
  return new StdioChannel(options);
}

const SENT: Promise<Sent> = Promise.resolve({});
/** The trace of an exception, whole in most languages. */
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 3000;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

class StdioChannel implements Channel {
  readonly kind = 'stdio';
  readonly perRequestStream = false;
  readonly #label: string;
  readonly #transport: StdioTransport;
  readonly #environment: Record<string, string>;
  readonly #redact: (text: string) => string;
  readonly #lines = new LineReader();
  readonly #stderr = new Tail(STDERR_BYTES);
  #handlers: ChannelHandlers | undefined;
  #child: ChildProcessWithoutNullStreams | undefined;
  #tree: ProcessTree | undefined;
  /** Why nothing can be sent any more. */
  #ended: MidspanError | undefined;
  #noise = 0;
  #reads = 0;
  #firstLine = true;
  #queue: string[] = [];
  #queued = 0;
  #flushing = false;

  constructor({ label, transport, environment = process.env }: StdioOptions) {
    this.#label = label;
    this.#transport = transport;
    this.#environment = { ...inheritedEnvironment(environment), ...transport.env };
    this.#redact = redactorOf(transport);
  }

  async open(handlers: ChannelHandlers, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw this.#error('cancelled', 'the start was cancelled');
    const { command, args, cwd } = this.#transport;
    if (cwd !== undefined && !isDirectory(cwd)) {
      throw this.#error(
        'unreachable',
        `its working directory ${cwd} does not exist`,
        'Correct "cwd" in its configuration',
      );
    }
    const child = this.#spawn(command, args, cwd);
    await started(child).catch((error: unknown) => {
      throw this.#startError(error);
    });
    this.#handlers = handlers;
    this.#child = child;
    this.#tree = new ProcessTree(child as ChildProcess & { pid: number });
    this.#listen(child);
    if (signal?.aborted) {
      await this.close();
      throw this.#error('cancelled', 'the start was cancelled');
    }
  }

  send(message: JsonObject): Promise<Sent> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#child === undefined) return Promise.reject(this.#error('closed', 'the server is not running'));
    const line = `${JSON.stringify(message).replace(LINE_BREAKS, escaped)}\n`;
    if (this.#queued + this.#child.stdin.writableLength + line.length > WRITE_QUEUE_BYTES) {
      return Promise.reject(
        this.#error(
          'limit',
          `it does not read its input: ${WRITE_QUEUE_BYTES} bytes are waiting`,
          'Restart it or send less',
        ),
      );
    }
    this.#queue.push(line);
    this.#queued += line.length;
    if (!this.#flushing) {
      this.#flushing = true;
      // After all microtasks: whatever is sent in this turn of the event loop leaves in one write.
      process.nextTick(this.#flush);
    }
    return SENT;
  }

  stderrTail(): string {
    return this.#redact(printable(this.#stderr.text()));
  }

  async close(): Promise<void> {
    this.#ended ??= this.#error('closed', 'the connection was closed');
    this.#handlers = undefined;
    await this.#tree?.end();
    this.#child?.stdout.destroy();
    this.#child?.stderr.destroy();
  }

  #spawn(command: string, args: string[], cwd: string | undefined): ChildProcessWithoutNullStreams {
    try {
      return spawn(command, args, {
        ...(cwd === undefined ? {} : { cwd }),
        env: this.#environment,
        stdio: 'pipe',
        detached: process.platform !== 'win32',
        windowsHide: true,
      }) as ChildProcessWithoutNullStreams;
    } catch (error) {
      throw this.#startError(error);
    }
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    child.stdout.on('data', (chunk: Buffer) => {
      this.#reads += 1;
      this.#read(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#reads += 1;
      this.#stderr.push(chunk);
    });
    child.stdin.on('drain', this.#flush);
    // A broken pipe says less than the exit that it comes with.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    child.once('exit', (code, exitSignal) => {
      void this.#drained(child).then(() => this.#exited(code, exitSignal));
    });
    child.stdout.once('end', () => {
      // Normally the exit follows at once, or has come before. A server that lives on without its stdout is of no use.
      if (child.exitCode !== null || child.signalCode !== null) return;
      const timer = setTimeout(
        () => this.#fail('closed', 'it closed its output and went on running'),
        DRAIN_MS,
      );
      child.once('exit', () => clearTimeout(timer));
    });
  }

  #read(chunk: Buffer): void {
    if (this.#handlers === undefined) return;
    try {
      this.#lines.push(chunk, (line) => this.#line(line));
    } catch (error) {
      if (error instanceof MidspanError) this.#die(error);
      else if (error instanceof LineTooLongError || error instanceof JsonLimitError)
        this.#fail('limit', `it wrote ${error.message} and was stopped`);
      else
        this.#die(
          this.#error('internal', `a message could not be handled: ${messageOf(error)}`, undefined, error),
        );
    }
  }

  #line(bytes: Buffer): void {
    const handlers = this.#handlers;
    if (handlers === undefined) return;
    let line = bytes;
    if (this.#firstLine) {
      this.#firstLine = false;
      if (line.subarray(0, 3).equals(BYTE_ORDER_MARK)) line = line.subarray(3);
    }
    if (line.length === 0 || (line.length === 1 && line[0] === 13)) return;
    if (line.includes(0) || !isUtf8(line)) {
      const what = line.includes(0) ? 'a NUL byte' : 'bytes that are not UTF-8';
      throw this.#error('protocol', `it wrote ${what} to its stdout and was stopped`, STDOUT_ADVICE);
    }
    const text = line.toString('utf8');
    for (const message of messagesIn(text)) {
      if (message === undefined) this.#hear(line);
      else handlers.message(message, undefined, text);
    }
  }

  #hear(line: Buffer): void {
    this.#noise += 1;
    if (this.#noise < NOISE_LINES) {
      this.#handlers?.noise(this.#redact(noiseOf(line.toString('utf8', 0, 4 * NOISE_CHARACTERS))));
    } else if (this.#noise === NOISE_LINES) {
      this.#handlers?.noise(
        `it wrote ${NOISE_LINES} lines that are no messages; more are not shown. ${STDOUT_ADVICE}`,
      );
    }
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    const stdin = this.#child?.stdin;
    if (this.#queue.length === 0 || stdin === undefined || !stdin.writable) return;
    if (stdin.writableNeedDrain) return; // 'drain' calls again
    const text = this.#queue.length === 1 ? (this.#queue[0] ?? '') : this.#queue.join('');
    this.#queue = [];
    this.#queued = 0;
    stdin.write(text);
  };

  /**
   * Reads what the dead process left in its pipes. Their end is no sign: anything that inherited them holds them open. So
   * it is over when a whole turn of the event loop brings nothing.
   */
  async #drained(child: ChildProcessWithoutNullStreams): Promise<void> {
    const deadline = Date.now() + DRAIN_MS;
    for (let idle = 0; idle < 2 && Date.now() < deadline;) {
      if (child.stdout.readableEnded && child.stderr.readableEnded) break;
      const before = this.#reads;
      await new Promise((resolve) => setImmediate(resolve));
      idle = this.#reads === before ? idle + 1 : 0;
    }
    if (this.#handlers !== undefined) this.#read(Buffer.from('\n')); // a last line may lack its end
  }

  #exited(code: number | null, exitSignal: NodeJS.Signals | null): void {
    const how = exitSignal === null ? `with exit code ${code}` : `by ${exitSignal}`;
    const details = exitSignal === null ? { exitCode: code } : { signal: exitSignal };
    this.#fail('closed', `the server process ended ${how}`, undefined, details);
  }

  #fail(code: ErrorCode, what: string, next?: string, data?: Record<string, unknown>): void {
    const tail = lastLines(this.stderrTail());
    const said = tail === '' ? 'It wrote nothing to stderr' : `The end of its stderr:\n${tail}`;
    this.#die(
      this.#error(code, what, next === undefined ? said : `${next}. ${said}`, undefined, {
        ...data,
        stderr: tail,
      }),
    );
  }

  /** The channel ends by itself, once. */
  #die(reason: MidspanError): void {
    const handlers = this.#handlers;
    this.#handlers = undefined;
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#queue = [];
    void this.#tree?.end(true).then(() => {
      this.#child?.stdout.destroy();
      this.#child?.stderr.destroy();
    });
    handlers?.closed(reason);
  }

  #startError(cause: unknown): MidspanError {
    const { what, next } = startFailure(this.#transport.command, cause);
    return this.#error('unreachable', what, next, cause);
  }

  #error(
    code: ErrorCode,
    what: string,
    next?: string,
    cause?: unknown,
    data?: Record<string, unknown>,
  ): MidspanError {
    return new MidspanError({
      code,
      what,
      label: this.#label,
      ...(next === undefined ? {} : { next }),
      ...(cause === undefined ? {} : { cause }),
      ...(data === undefined ? {} : { data }),
    });
  }
}

const STDOUT_ADVICE = 'Its stdout must carry MCP messages only; a server logs to stderr';

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.removeListener('error', reject);
      child.on('error', () => {}); // a failed kill
      resolve();
    });
  });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function lastLines(text: string): string {
  return text.trimEnd().slice(-TAIL_CHARACTERS).split('\n').slice(-TAIL_LINES).join('\n');
}
