/**
 * Limits on what one server may put on the wire. Bytes and milliseconds. A breach ends the process, the exchange or the
 * stream that it happened on, with an error of code `limit`; it never reaches another server.
 */
const KiB = 1024;
const MiB = 1024 * KiB;

/** Nesting of one message, and the arrays and objects in it: deeper or more, and parsing alone would stall the host. */
export const MESSAGE_DEPTH = 1024;
export const MESSAGE_VALUES = 1_000_000;

/** stdio: one line of a server's stdout. */
export const LINE_BYTES = 16 * MiB;
/** stdio: lines that are no messages, before the rest of them is dropped unseen. */
export const NOISE_LINES = 100;
/** Characters of one noise line that are shown. */
export const NOISE_CHARACTERS = 200;
/** stdio: the end of stderr that is kept. */
export const STDERR_BYTES = 256 * KiB;
/** stdio: lines queued for a server that does not read. */
export const WRITE_QUEUE_BYTES = 64 * MiB;

/** HTTP: a whole body, after decompression. */
export const BODY_BYTES = 32 * MiB;
/** HTTP: decompressed to compressed. Counts beyond COMPRESSION_FREE_BYTES only: short repetitive texts compress well. */
export const COMPRESSION_RATIO = 100;
export const COMPRESSION_FREE_BYTES = MiB;
/** HTTP: all headers of a response. */
export const HEADER_BYTES = 64 * KiB;
/** HTTP: the part of an error answer's body that is read. */
export const ERROR_BODY_BYTES = 64 * KiB;
/** One server-sent event. */
export const EVENT_BYTES = 16 * MiB;
/** Events of one request, over all streams that carried its answer. */
export const EVENTS_PER_REQUEST = 10_000;
/** Longest event id that is remembered and sent back as Last-Event-ID. */
export const EVENT_ID_CHARACTERS = 1024;
/** HTTP: sockets to one server. */
export const CONNECTIONS = 128;
/** HTTP: redirects followed within the origin. */
export const REDIRECTS = 5;
/** HTTP: silence within a body that is not an event stream. */
export const BODY_IDLE_MS = 60_000;
/** HTTP: from sending a request to the end of an answer that is not an event stream, unless the configuration allows more. */
export const EXCHANGE_MS = 600_000;
/** HTTP: how often the times above are checked. */
export const SWEEP_MS = 500;
/** HTTP: setting a connection up. */
export const CONNECT_MS = 10_000;
/** HTTP+SSE: from the start of the stream to its `endpoint` event. */
export const ENDPOINT_MS = 15_000;
/** HTTP: an event stream that is still open after it carried its answer. */
export const ANSWERED_STREAM_MS = 1_000;
/** HTTP: how long the answer to a notification or to an answer of ours may take. */
export const NOTICE_MS = 30_000;
/** HTTP: how long a DELETE of a session may take. */
export const END_SESSION_MS = 2_000;

/** Resuming an event stream: wait when the server names none, and the bounds of what it may name. */
export const RETRY_MS = 1_000;
export const RETRY_MIN_MS = 20;
export const RETRY_MAX_MS = 30_000;
/** Attempts in a row that bring no event. */
export const RESUME_ATTEMPTS = 5;

/** Ending a process tree: after end of stdin, after SIGTERM, and for the kernel to finish a SIGKILL. */
export const STDIN_GRACE_MS = 1_000;
export const TERMINATE_GRACE_MS = 1_000;
export const KILL_WAIT_MS = 2_000;
/** What the other processes of a tree get once the server itself has gone. */
export const ORPHAN_GRACE_MS = 200;
/** Reading what a dead server left in its pipes, while something else still holds them open. */
export const DRAIN_MS = 250;
