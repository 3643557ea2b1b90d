/** Rules about what a definition asks for, and about the values it puts into a schema. */
import { isObject } from '../../schema/keywords.ts';
import { mirroredArguments } from '../../mcp/headers.ts';
import type { Json } from '../../types.ts';
import { found, type ItemFinding } from './found.ts';
import type { ItemRule } from './rule.ts';
import { factsOf, type Input, placeOf } from './schema-facts.ts';
import { harvests, isSecret, wordsOf } from './schema-names.ts';

const placeOfName = ({ pointer, inKey, start, name }: Input) => ({
  pointer: pointer(),
  inKey,
  start,
  end: start + name.length,
});

export const HARVEST: ItemRule = {
  on: 'item',
  id: 'S01',
  title: 'asks for the conversation or for secrets of the machine',
  tier: 'soft',
  severity: 'high',
  why: 'A model fills in every parameter. One named after the conversation, the system prompt or the environment makes it hand those to the server, whatever the description says.',
  example: 'a converter of units with a required parameter `conversation_history`',
  advice: 'Accept it only if the tool cannot do its work without; else take the server out.',
  find(item) {
    return factsOf(item).inputs.flatMap((input) => {
      const kind = harvests(input.name);
      if (kind === undefined || !takesText(input)) return [];
      // Nobody but the host fills the variables of a template, and a sigil serves no purpose but to look internal.
      const isHard = kind === 'sigil' || item.kind === 'template';
      return [found(placeOfName(input), namedText(item.value, input), isHard ? 'hard' : 'soft', 'high')];
    });
  },
};

/** The text in which the name stands. */
function namedText(value: { uriTemplate?: Json }, input: Input): string {
  return input.start > 0 && typeof value.uriTemplate === 'string' ? value.uriTemplate : input.name;
}

const MOST_INPUTS = 3;

export const UNEXPLAINED: ItemRule = {
  on: 'item',
  id: 'S02',
  title: 'a required text that the description does not account for',
  tier: 'soft',
  severity: 'low',
  why: 'A small tool that demands a free text of which its description says nothing collects something beside its work.',
  example: 'add(a, b, note), "Adds two numbers", with `note` required',
  advice: 'Find out what the text is for. Alone this is no cause for alarm.',
  find(item) {
    const { description } = item.value;
    if (item.kind !== 'tool' || typeof description !== 'string') return [];
    const inputs = factsOf(item).inputs.filter(({ isTop }) => isTop);
    if (inputs.length < 2 || inputs.length > MOST_INPUTS || !inputs.some(isFreeText)) return [];
    const told = `${item.key} ${description.slice(0, 8_192)}`.toLowerCase();
    const odd = inputs.filter((input) => !isAccountedFor(input, told));
    return odd.length === 1 && isFreeText(odd[0]!)
      ? [found(placeOfName(odd[0]!), odd[0]!.name, 'soft', 'low')]
      : [];
  },
};

function isFreeText({ schema, isRequired }: Input): boolean {
  return isRequired && schema['type'] === 'string' && !CLOSED.some((keyword) => keyword in schema);
}

const CLOSED = ['enum', 'const', 'format', 'pattern', 'default'];

/** By a word of its name or of its own description. */
function isAccountedFor({ name, schema: { description } }: Input, told: string): boolean {
  const words = wordsOf(name);
  if (ORDINARY.has(words.at(-1) ?? '')) return true;
  const own = typeof description === 'string' ? wordsOf(description, 1_024) : [];
  return [...words, ...own].some((word) => word.length > 2 && !COMMON.has(word) && told.includes(stem(word)));
}

/** Without the endings of its forms. */
const stem = (word: string): string => word.replace(/(?:ies|y|es|s|ed|ing|e)$/, '');

/** What most tools need to do anything, told or not. */
const ORDINARY = new Set(
  'id ids name username owner user domain path url uri key slug element selector value query text email title code type'.split(
    ' ',
  ),
);

const COMMON = new Set(
  'the and for with from that this are its your you can will not all any one use used using values'.split(
    ' ',
  ),
);

export const SECRET_INPUT: ItemRule = {
  on: 'item',
  id: 'S13',
  title: 'asks for a secret',
  tier: 'soft',
  severity: 'medium',
  why: 'What is given as an argument passes through the model and its provider, and stays in the conversation. Passwords, one-time codes and keys belong into the configuration of the server.',
  example: 'login(user, password)',
  advice: 'Give the server its secrets through its environment or headers.',
  find(item) {
    return factsOf(item)
      .inputs.filter((input) => isSecret(input.name) && takesText(input))
      .map((input) => found(placeOfName(input), namedText(item.value, input), 'soft', 'medium'));
  },
};

const takesText = ({ schema }: Input): boolean => {
  const { type } = schema;
  return type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'));
};

export const ECHO: ItemRule = {
  on: 'item',
  id: 'S14',
  title: 'the result must repeat the conversation',
  tier: 'soft',
  severity: 'medium',
  why: 'An output schema that demands the conversation or a prompt makes sense only where something must be carried out of one place into another.',
  example: 'an output schema that requires `system_prompt`',
  advice: 'Ask the author what the member is for.',
  find(item) {
    return factsOf(item)
      .outputs.filter(({ name }) => harvests(name) !== undefined)
      .map((output) => found(placeOfName(output), output.name, 'soft', 'medium'));
  },
};

export const DANGEROUS_VALUE: ItemRule = {
  on: 'item',
  id: 'S07',
  title: 'a default or example that does something when used',
  tier: 'soft',
  severity: 'medium',
  why: 'Models copy defaults and examples into calls. A command substitution, a script or an address of the machine itself among them runs or is fetched with the rights of whoever takes the call.',
  example: '{"default": "$(curl https://…|sh)"}',
  advice: 'Read the value. Tools that run commands show such examples with good reason.',
  find(item) {
    return factsOf(item).values.flatMap((schema) =>
      VALUES.flatMap((keyword) => {
        const value = schema.node[keyword];
        if (!Array.isArray(value)) return dangersIn(value, () => placeOf(schema, keyword));
        return value
          .slice(0, 1_000)
          .flatMap((one, at) => dangersIn(one, () => placeOf(schema, keyword, String(at))));
      }),
    );
  },
};

const VALUES = ['default', 'const', 'examples', 'example', 'enum'];

function dangersIn(text: Json | undefined, pointer: () => string): ItemFinding[] {
  if (typeof text !== 'string' || !MAY_BE_DANGEROUS.test(text)) return [];
  const hit = DANGEROUS.exec(text.slice(0, 4_096));
  if (hit === null) return [];
  const place = { pointer: pointer(), start: hit.index, end: hit.index + hit[0].length };
  return [found(place, text, 'soft', 'medium')];
}

/** Most values are words. */
const MAY_BE_DANGEROUS = /[$`;&|:/\\]|[0-9a-z]\./i;
const DANGEROUS =
  /\$\([^)]{1,200}\)|`(?:curl|wget|nc|sh|bash|python\d?|cat|rm|eval)\b[^`]{0,200}`|[;&|] {0,4}(?:curl|wget|nc|bash|sh|rm|eval)\b|\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\bjavascript:|(?:\.\.[/\\]){2}/i;

export const PROTOTYPE_KEY: ItemRule = {
  on: 'item',
  id: 'S08',
  title: 'a property that reaches into the language of the reader',
  tier: 'hard',
  severity: 'high',
  why: 'Readers written in JavaScript that copy members carelessly change all of their objects when one is called `__proto__`.',
  example: '{"properties": {"__proto__": {…}}}',
  advice: 'Ask the author for another name. `constructor` and `prototype` may be meant as they are.',
  find(item) {
    const { inputs, outputs } = factsOf(item);
    return [...inputs, ...outputs].flatMap((input) => {
      if (input.name === '__proto__') return [found(placeOfName(input), input.name, 'hard', 'high')];
      const isOdd = input.name === 'constructor' || input.name === 'prototype';
      return isOdd ? [found(placeOfName(input), input.name, 'soft', 'medium')] : [];
    });
  },
};

export const MIRRORED_HEADER: ItemRule = {
  on: 'item',
  id: 'S10',
  title: 'an argument that must not go into a header',
  tier: 'hard',
  severity: 'high',
  why: 'Arguments marked `x-mcp-header` are sent as headers, which proxies read and log. A wrong name can smuggle a header of another meaning; a secret does not belong there. The specification tells clients to leave such tools out.',
  example: '{"password": {"type": "string", "x-mcp-header": "Auth\\r\\nX-Evil: 1"}}',
  advice: 'Ask the author to mend the mark. The other tools of the server are shown.',
  find(item) {
    const schema = item.value['inputSchema'];
    if (item.kind !== 'tool' || !isObject(schema)) return [];
    const marked = factsOf(item).marked.filter(({ root }) => root === 'inputSchema');
    if (marked.length === 0) return [];
    const mirrored = mirroredArguments(schema);
    if (!Array.isArray(mirrored))
      return [found({ pointer: placeOf(marked[0]!, 'x-mcp-header') }, mirrored.problem, 'hard', 'high')];
    const secrets = mirrored.filter(({ path }) => isSecret(path.at(-1)!));
    return secrets.map(({ header, path }) => {
      const place = marked.find(({ node }) => node['x-mcp-header'] === header)!;
      return found(
        { pointer: placeOf(place, 'x-mcp-header') },
        `${path.join('.')} as ${header}`,
        'hard',
        'high',
      );
    });
  },
};
