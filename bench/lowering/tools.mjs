// A thousand tools that look like those of real servers: the same ones on every run, no two schemas alike.

const WORDS =
  'account branch channel client comment device document event file folder group invoice issue item label message order page project query record report space task team ticket user version'.split(
    ' ',
  );

export function generateTools(count) {
  return Array.from({ length: count }, (_, at) => {
    const random = numbers(at + 1);
    const name = `${WORDS[at % WORDS.length]}_${at}`;
    return {
      name,
      definition: {
        name,
        description: sentence(random, 12 + random(30)),
        inputSchema: {
          $schema: 'http://json-schema.org/draft-07/schema#',
          ...object(random, 2 + random(8), 0),
          ...shapes[at % shapes.length](random),
        },
      },
    };
  });
}

/** What is beside the usual properties: one tool in ten each has a union at the root, definitions, or older idioms. */
const shapes = [
  () => ({ oneOf: [{ required: ['id'] }, { required: ['url'] }] }),
  (random) => ({ $defs: { node: node(random) }, required: [] }),
  () => ({ additionalProperties: false }),
  ...Array.from({ length: 7 }, () => () => ({})),
];

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
    required: names.filter(() => random(3) === 0),
  };
}

function property(random, level) {
  const kind = level > 2 ? 9 : random(12);
  if (kind === 0) return { description: sentence(random, 8), ...object(random, 1 + random(4), level + 1) };
  if (kind === 1)
    return {
      type: 'array',
      items: object(random, 1 + random(4), level + 1),
      description: sentence(random, 8),
    };
  if (kind === 2) return { type: 'array', items: leaf(random), minItems: 1 };
  if (kind === 3) return { anyOf: [leaf(random), { type: 'null' }], description: sentence(random, 6) };
  if (kind === 4) return { type: 'object', additionalProperties: leaf(random) };
  return { description: sentence(random, 4 + random(12)), ...leaf(random) };
}

function leaf(random) {
  return [
    { type: 'string' },
    { type: 'string', enum: WORDS.slice(random(10), 12 + random(10)) },
    { type: 'string', format: 'date-time' },
    { type: 'string', pattern: '^[a-z]+$', minLength: 1, maxLength: 64 },
    { type: 'integer', exclusiveMinimum: 0, maximum: 100, default: 10 },
    { type: 'number' },
    { type: 'boolean', default: false },
    { type: ['string', 'null'] },
    { const: 'fixed' },
  ][random(9)];
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
