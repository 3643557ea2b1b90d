/** Bounds on what a server may say in the protocol's terms. Bytes on the wire are bounded in limits.ts. */

/** Items kept of one list of a server (tools, prompts, resources, templates), in its own order. */
export const ITEMS_MAX = 1024;
/** Pages of one list. */
export const PAGES_MAX = 100;
/** JSON characters of one whole list. */
export const LIST_MAX = 8 * 1024 * 1024;
/** JSON characters of one definition. */
export const ITEM_MAX = 256 * 1024;
/** Characters of one description. */
export const DESCRIPTION_MAX = 64 * 1024;
/** Characters of a server's instructions. */
export const INSTRUCTIONS_MAX = 16 * 1024;
/** JSON characters of what a server says of itself, and of its capabilities. */
export const SERVER_INFO_MAX = 64 * 1024;
/** Nesting and count of values in one definition. */
export const DEFINITION_DEPTH_MAX = 64;
export const DEFINITION_NODES_MAX = 20_000;
/** Content blocks of one result. */
export const RESULT_BLOCKS_MAX = 10_000;
/** Characters of text in one result, structured content included. */
export const RESULT_TEXT_MAX = 8 * 1024 * 1024;
/** Decoded bytes of one image or audio block. */
export const MEDIA_MAX = 10 * 1024 * 1024;
/** A server's cache hint counts for at most a day. Milliseconds. */
export const TTL_MAX = 24 * 60 * 60 * 1000;

/** Requests of ours that one server works on at a time; more wait. */
export const IN_FLIGHT_MAX = 64;
/** Requests that wait for a place. */
export const QUEUE_MAX = 1024;
/** Requests of one server to us that we work on at a time, for each of our requests. */
export const SERVER_REQUESTS_MAX = 8;
/** Answers of ours to one server that are on their way at a time; to more of its requests it gets none. */
export const REPLIES_MAX = 64;
/** Warnings about one server in a second. */
export const WARNINGS_PER_SECOND = 20;
/** Notes about one call. */
export const NOTES_PER_CALL = 20;
/** Log and progress notifications of one server in a second, for each request in flight. */
export const NOTIFICATIONS_PER_SECOND = 50;
/** Characters of one log or progress message. */
export const NOTIFICATION_TEXT_MAX = 4096;
/** Characters that we show of a peer's error message. */
export const ERROR_TEXT_MAX = 1000;
/** JSON characters that we keep of a peer's error data. */
export const ERROR_DATA_MAX = 64 * 1024;

/** `input_required` rounds of one call. */
export const INPUT_ROUNDS_MAX = 8;
/** Characters of an opaque `requestState`. */
export const REQUEST_STATE_MAX = 64 * 1024;
/** Questions that one call may put to a person, and one server in an hour. */
export const ELICITATIONS_PER_CALL = 3;
export const ELICITATIONS_PER_HOUR = 20;
/** Questions that one request of a client may put to that client, whose own bounds count beside this. */
export const ELICITATIONS_PER_RELAY = 100;

/** Milliseconds in which several list_changed count as one, and how many are passed on in a minute. */
export const LIST_CHANGED_DEBOUNCE = 500;
export const LIST_CHANGED_PER_MINUTE = 6;
