/** Labels of a tool: which count, where they come from, and which to suggest at review. */
import { isObject } from '../../schema/keywords.ts';
import { TOOL_LABELS } from '../../config/trust.ts';
import type { Json, JsonObject, Policy, ToolLabel } from '../../types.ts';
import { glob } from './globs.ts';
import { SUGGESTIONS } from './suggestions.ts';

/** Where one label of a tool comes from: the lock, or a glob of `policy.labels`. */
export interface LabelSource {
  label: ToolLabel;
  from: 'lock' | { glob: string };
}

/** Every label that counts for a tool with its sources, in the order of the type. */
export function labelSources(
  policy: Policy,
  call: { label: string; tool: string; labels: readonly ToolLabel[] },
): LabelSource[] {
  const name = `${call.label}/${call.tool}`;
  const assigned = policy.labels.filter(({ tools }) => glob(tools)(name));
  return TOOL_LABELS.flatMap((label): LabelSource[] => [
    ...(call.labels.includes(label) ? [{ label, from: 'lock' as const }] : []),
    ...assigned
      .filter(({ labels }) => labels.includes(label))
      .map(({ tools }) => ({ label, from: { glob: tools } })),
  ]);
}

/** Every label that counts for a tool: those of the lock and of the policy. What `saw` of a taint is given, too. */
export function labelsOf(
  policy: Policy,
  call: { label: string; tool: string; labels: readonly ToolLabel[] },
): ToolLabel[] {
  const name = `${call.label}/${call.tool}`;
  const found = new Set(call.labels);
  for (const { tools, labels } of policy.labels)
    if (glob(tools)(name)) for (const label of labels) found.add(label);
  return TOOL_LABELS.filter((label) => found.has(label));
}

/** Whether the server itself says that the tool is no mere reading. Silence says nothing. */
export function admitsWriting(hints: JsonObject | undefined): boolean {
  return hints !== undefined && (hints['readOnlyHint'] === false || hints['destructiveHint'] === true);
}

/**
 * Labels to suggest at review, from hints and the words of the name; a person confirms them by approving the lock.
 * Labels that make a tool ask are suggested on the first sign; `reads` only when the server says that the tool is
 * read-only, its name begins with a reading verb, and nothing speaks against it. Deterministic.
 */
export function suggestLabels(tool: JsonObject): ToolLabel[] {
  const name = typeof tool['name'] === 'string' ? tool['name'] : '';
  const words = wordsOf(name.slice(0, 200));
  const hints = isObject(tool['annotations']) ? tool['annotations'] : {};
  const has = (list: ReadonlySet<string>): boolean => words.some((word) => list.has(word));
  const suggested = new Set<ToolLabel>();
  if (hints['destructiveHint'] === true || has(SUGGESTIONS.destroys)) suggested.add('destroys');
  if (has(SUGGESTIONS.sends) || (has(SUGGESTIONS.fetches) && hasAddress(tool['inputSchema'])))
    suggested.add('sends');
  if (hints['openWorldHint'] === true || has(SUGGESTIONS.untrusted)) suggested.add('untrusted');
  if (has(SUGGESTIONS.private)) suggested.add('private');
  const isReading =
    hints['readOnlyHint'] === true &&
    !admitsWriting(hints) &&
    SUGGESTIONS.reads.has(words[0] ?? '') &&
    !has(SUGGESTIONS.writes) &&
    !suggested.has('destroys') &&
    !suggested.has('sends');
  if (isReading) suggested.add('reads');
  return TOOL_LABELS.filter((label) => suggested.has(label));
}

/** `createIssue`, `create-issue` and `CREATE_ISSUE` are the same two words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** Whether an argument takes an address: what is asked of a stranger's server tells it something. */
function hasAddress(schema: Json | undefined): boolean {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties)
    .slice(0, 1000)
    .some(([key, value]) => {
      const isNamed = wordsOf(key.slice(0, 200)).some((word) =>
        ['url', 'urls', 'uri', 'href', 'endpoint'].includes(word),
      );
      return isNamed || (isObject(value) && (value['format'] === 'uri' || value['format'] === 'url'));
    });
}
