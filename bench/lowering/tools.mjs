// Tools in size, shape and keywords like 1,700 of public servers (on average 1.1 kB, three to four members, seven schemas):
// the same ones on every run, no two schemas alike.

const WORDS =
  'account branch channel client comment device document event file folder group invoice issue item label message order page project query record report space task team ticket user version'.split(
    ' ',
  );

/** As they come in from a server: parsed from JSON text. */
export function generateTools(count) {
  return JSON.parse(JSON.stringify(Array.from({ length: count }, (_, at) => tool(at))));
}

function tool(at) {
  const random = numbers(at + 1);
  const name = `${WORDS[at % WORDS.length]}_${at}`;
  const size = 1 + random(4) + (random(6) === 0 ? random(18) : 0);
  return {
    name,
    definition: {
      name,
      description: sentence(random, 15 + random(60)),
      inputSchema: {
        ...object(random, size, 0),
        ...rarely(random, 67, () => ({ $defs: { node: node(random) }, required: [] })),
        ...rarely(random, 50, () => ({ oneOf: [{ required: ['id'] }, { required: ['url'] }] })),
        ...(random(3) === 0 ? { additionalProperties: false } : {}),
        ...(random(2) === 0 ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {}),
      },
    },
  };
}

/** Once in so many times. */
function rarely(random, times, make) {
  return random(times) === 0 ? make() : {};
}

function node(random) {
  return {
    type: 'object',
    properties: {
      name: { type: 'string' },
      size: leaf(random),
      children: { type: 'array', items: { $ref: '#/$defs/node' } },
    },
    required: ['name'],
  };
}

function object(random, size, level) {
  const names = Array.from({ length: size }, (_, at) => `${WORDS[random(WORDS.length)]}_${at}`);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, property(random, level)])),
    required: names.filter(() => random(2) === 0),
  };
}

function property(random, level) {
  const description = sentence(random, 4 + random(12));
  const kind = random(100);
  if (kind < 4 && level < 3) return { description, ...object(random, 1 + random(5), level + 1) };
  if (kind < 6 && level < 3)
    return { type: 'array', items: object(random, 1 + random(5), level + 1), description };
  if (kind < 9) return { type: 'array', items: leaf(random), description };
  if (kind < 11) return { anyOf: [leaf(random), { type: 'null' }], description };
  if (kind < 12) return { type: 'object', additionalProperties: leaf(random), description };
  return { ...leaf(random), description };
}

/** How often a keyword stands in a schema is as in real ones. */
function leaf(random) {
  const kind = random(100);
  if (kind < 6) return { type: 'string', enum: WORDS.slice(random(10), 12 + random(10)) };
  if (kind < 8) return { type: 'integer', minimum: 1, maximum: 100, default: 10 };
  if (kind < 10) return { type: 'boolean', default: false };
  if (kind < 12) return { type: 'string', minLength: 1, maxLength: 64 };
  if (kind < 13) return { type: 'string', format: 'date-time' };
  if (kind < 14) return { type: 'string', pattern: '^[a-z]+$' };
  if (kind < 15) return { const: 'fixed' };
  if (kind < 16) return { type: 'integer', exclusiveMinimum: 0 };
  return { type: ['string', 'string', 'string', 'integer', 'number', 'boolean'][random(6)] };
}

function sentence(random, length) {
  return Array.from({ length }, () => WORDS[random(WORDS.length)]).join(' ') + '.';
}

/** Numbers below a bound, from a seed. */
function numbers(seed) {
  let state = (seed * 2654435761) >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
