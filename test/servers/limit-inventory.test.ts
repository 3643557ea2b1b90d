/**
 * Every limit on what one server may cost: its constants, at the value that is documented here, and the test in which a hostile
 * server meets it. A limit without a test, or a test that was renamed away, fails.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as wire from '../../src/mcp/limits.ts';
import * as protocol from '../../src/mcp/protocol-limits.ts';
import { RESTARTS_MAX, TIMING } from '../../src/servers/timing.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const MINUTE = 60_000;

interface Limit {
  limit: string;
  /** What the code says, and what it has to say. */
  values: [actual: number, documented: number][];
  /** Test files under test/, and the beginning of a title in each. */
  met: [file: string, title: string][];
}

const LIMITS: Limit[] = [
  {
    limit: 'items of one list',
    values: [[protocol.ITEMS_MAX, 1024]],
    met: [
      ['servers/peer-stdio', 'of more than 1,024 tools the first 1,024 are kept'],
      ['servers/surface', 'is read from all pages, bounded in number, and without what is malformed'],
    ],
  },
  {
    limit: 'pages of one list, and cursors that lead back',
    values: [[protocol.PAGES_MAX, 100]],
    met: [
      ['servers/peer-stdio', 'every list of distinct cursors, the empty one too, is read to its end'],
      ['servers/peer-stdio', "['endless pages'"],
      ['servers/peer-stdio', "['repeated cursor'"],
    ],
  },
  {
    limit: 'size of one list',
    values: [[protocol.LIST_MAX, 8 * MiB]],
    met: [['servers/hostile-http', 'a list is read no further than it is kept']],
  },
  {
    limit: 'time for one list, all pages',
    values: [[TIMING.listing, 2 * MINUTE]],
    met: [['servers/surface', 'a list whose pages each come in time, but never all of them, is given up']],
  },
  {
    limit: 'one definition: characters, description, nesting, values',
    values: [
      [protocol.ITEM_MAX, 256 * KiB],
      [protocol.DESCRIPTION_MAX, 64 * KiB],
      [protocol.DEFINITION_DEPTH_MAX, 64],
      [protocol.DEFINITION_NODES_MAX, 20_000],
    ],
    met: [
      ['mcp/limits', 'is kept with as many %s as allowed (%i), and left out with one more'],
      ['servers/peer-stdio', 'defects 21 and 22: one bad tool is left out and named, the others stay'],
    ],
  },
  {
    limit: 'instructions, and what a server says of itself',
    values: [
      [protocol.INSTRUCTIONS_MAX, 16 * KiB],
      [protocol.SERVER_INFO_MAX, 64 * KiB],
    ],
    met: [
      ['servers/peer-stdio', 'long instructions are cut with a warning'],
      ['servers/hostile-stdio', 'is cut down when it says too much of itself'],
      ['servers/hostile-http', 'what a server says of itself in a new session is bounded as in the first'],
    ],
  },
  {
    limit: 'definitions that can be read in two ways',
    values: [],
    met: [
      ['servers/ambiguous', 'a tool that can be read in two ways is left out alone, and named'],
      ['servers/ambiguous', 'a list with %s is refused, and missing in the surface'],
      ['mcp/strict', 'more faults than anybody reads are one'],
    ],
  },
  {
    limit: 'one message: nesting and values',
    values: [
      [wire.MESSAGE_DEPTH, 1024],
      [wire.MESSAGE_VALUES, 1_000_000],
    ],
    met: [
      ['servers/hostile-stdio', 'is not parsed when its %s are nested too deeply'],
      ['servers/hostile-stdio', 'is not parsed when it has too many values'],
      ['channels/hostile-http', 'JSON nested too deeply ends the exchange, in a body, an event and an error'],
    ],
  },
  {
    limit: 'one line, UTF-8 without NUL',
    values: [[wire.LINE_BYTES, 16 * MiB]],
    met: [
      ['channels/stdio', 'stops a server whose line does not end'],
      ['channels/line-reader', 'refuses a line over the limit, finished or not, and no other'],
    ],
  },
  {
    limit: 'lines that are no messages',
    values: [[wire.NOISE_LINES, 100]],
    met: [['channels/stdio', 'tolerates noise, then says once that there is too much']],
  },
  {
    limit: 'stderr',
    values: [[wire.STDERR_BYTES, 256 * KiB]],
    met: [['channels/stdio', 'is kept within its bound, the end of it, safe for a terminal']],
  },
  {
    limit: 'what waits for a server that does not read',
    values: [[wire.WRITE_QUEUE_BYTES, 64 * MiB]],
    met: [['channels/stdio', 'refuses to queue without bound for a server that does not read']],
  },
  {
    limit: 'text of one result, blocks, and one image or sound',
    values: [
      [protocol.RESULT_TEXT_MAX, 8 * MiB],
      [protocol.RESULT_BLOCKS_MAX, 10_000],
      [protocol.MEDIA_MAX, 10 * MiB],
    ],
    met: [
      ['servers/peer-stdio', 'more than 8 MiB of text becomes an error result that says so'],
      ['mcp/codec', 'are bounded in text, structured content included, and in number of blocks'],
    ],
  },
  {
    limit: 'HTTP: body, compression, headers, event, events, silence, time',
    values: [
      [wire.BODY_BYTES, 32 * MiB],
      [wire.COMPRESSION_RATIO, 100],
      [wire.HEADER_BYTES, 64 * KiB],
      [wire.EVENT_BYTES, 16 * MiB],
      [wire.EVENTS_PER_REQUEST, 10_000],
      [wire.BODY_IDLE_MS, MINUTE],
      [wire.EXCHANGE_MS, 10 * MINUTE],
    ],
    met: [
      ['channels/hostile-http', 'of a JSON body'],
      ['channels/hostile-http', 'a %s bomb of %j is stopped by its ratio'],
      ['channels/hostile-http', 'of headers'],
      ['channels/hostile-http', 'of an event that does not end: %s'],
      ['channels/hostile-http', 'of events'],
      ['channels/hostile-http', 'a body that stops in the middle'],
      ['channels/hostile-http', 'headers or a body that trickle without end'],
    ],
  },
  {
    limit: 'requests in flight and waiting, in both directions',
    values: [
      [protocol.IN_FLIGHT_MAX, 64],
      [protocol.QUEUE_MAX, 1024],
      [protocol.SERVER_REQUESTS_MAX, 8],
      [protocol.REPLIES_MAX, 64],
    ],
    met: [
      ['servers/peer-stdio', 'no more than 64 requests are in flight; the rest waits its turn'],
      ['servers/peer-stdio', 'no more than 1,024 requests wait; the next is refused at once'],
      ['servers/peer-stdio', 'no more than eight are worked on at once'],
      ['servers/hostile-http', 'a flood of requests whose answers are not taken gathers nothing here'],
    ],
  },
  {
    limit: 'answers that nobody asked for, and ids that come again',
    values: [],
    met: [
      ['servers/peer-stdio', 'an answer to a request that never was is a warning'],
      ['servers/peer-stdio', 'a late answer to a cancelled call is swallowed'],
      ['servers/hostile-stdio', 'answers twice, before and after: each call gets its own'],
    ],
  },
  {
    limit: 'news of changed lists',
    values: [
      [protocol.LIST_CHANGED_DEBOUNCE, 500],
      [protocol.LIST_CHANGED_PER_MINUTE, 6],
    ],
    met: [
      ['servers/peer-stdio', 'a storm of changes is passed on as one, and no more than six times a minute'],
      ['servers/change-notices', 'a storm of ten minutes is passed on six times a minute'],
    ],
  },
  {
    limit: 'rounds of input, and the state between them',
    values: [
      [protocol.INPUT_ROUNDS_MAX, 8],
      [protocol.REQUEST_STATE_MAX, 64 * KiB],
    ],
    met: [
      ['servers/peer-stdio', 'end after eight'],
      ['servers/peer-stdio', 'with a state over 64 KiB end the call'],
    ],
  },
  {
    limit: 'questions to a person, by call and by hour',
    values: [
      [protocol.ELICITATIONS_PER_CALL, 3],
      [protocol.ELICITATIONS_PER_HOUR, 20],
    ],
    met: [
      ['servers/peer-stdio', 'are put to a person three times per call'],
      ['servers/peer-stdio', 'are put to a person twenty times an hour'],
    ],
  },
  {
    limit: 'log and progress messages, warnings and notes',
    values: [
      [protocol.NOTIFICATIONS_PER_SECOND, 50],
      [protocol.NOTIFICATION_TEXT_MAX, 4 * KiB],
      [protocol.WARNINGS_PER_SECOND, 20],
      [protocol.NOTES_PER_CALL, 20],
    ],
    met: [
      [
        'servers/peer-stdio',
        'a flood of notifications is cut to its rate and length, and the call still ends',
      ],
      ['servers/hostile-stdio', 'to warn of is cut to a rate'],
      ['servers/hostile-stdio', 'to note about one call is cut, and said to be'],
    ],
  },
  {
    limit: 'how long a list may be kept',
    values: [[protocol.TTL_MAX, 24 * 60 * MINUTE]],
    met: [['servers/http', 'without a hint is stale at once, and a hint counts for a day at most']],
  },
  {
    limit: 'restarts in a row',
    values: [[RESTARTS_MAX, 5]],
    met: [
      [
        'servers/hostile-stdio',
        'a server that ends whenever it is ready is started a bounded number of times',
      ],
    ],
  },
];

describe.each(LIMITS)('$limit', ({ values, met }) => {
  test('is what is documented, and met by a hostile server', () => {
    for (const [actual, documented] of values) expect(actual).toBe(documented);
    expect(met.length).toBeGreaterThan(0);
    for (const [file, title] of met) {
      const path = fileURLToPath(new URL(`../${file}.test.ts`, import.meta.url));
      expect(existsSync(path), `${file} is there`).toBe(true);
      const text = readFileSync(path, 'utf8');
      expect(text.includes(title), `${file}: ${title}`).toBe(true);
      expect(text).not.toMatch(/\b(?:test|it|describe)\.(?:skip|todo|only)\b/);
    }
  });
});
