/** What is compiled: each dialect as it is used, and once more with strict asked for where the API has it. */
import { dialectOf } from '../../src/dialects/index.ts';
import type { Compiled, Dialect, DialectId, ExposedTool } from '../../src/dialects/index.ts';
import type { Profile } from '../../src/schema/index.ts';
import type { JsonObject } from '../../src/types.ts';

export interface Subject {
  /** For reports: `openai-chat`, `openai-chat strict`. */
  name: string;
  dialect: Dialect;
  strict: boolean;
  /** The rules that a compiled definition must keep. */
  profileOf(definition: JsonObject): Profile;
  /** Tools in one request. */
  maxTools: number;
}

const RULES: Record<DialectId, { profile: Profile; strict?: Profile; maxTools: number }> = {
  anthropic: { profile: 'anthropic', strict: 'anthropic-strict', maxTools: Infinity },
  'openai-responses': { profile: 'openai', strict: 'openai-strict', maxTools: Infinity },
  'openai-chat': { profile: 'openai', strict: 'openai-strict', maxTools: 128 },
  gemini: { profile: 'gemini-json-schema', maxTools: 512 },
  'gemini-interactions': { profile: 'gemini-json-schema', maxTools: 512 },
};

export const SUBJECTS: Subject[] = (Object.keys(RULES) as DialectId[]).flatMap((id) => {
  const { profile, strict, maxTools } = RULES[id];
  const dialect = dialectOf(id);
  const usual: Subject = { name: id, dialect, strict: false, profileOf: () => profile, maxTools };
  if (strict === undefined) return [usual];
  const profileOf = (definition: JsonObject): Profile => (isStrict(definition) ? strict : profile);
  return [usual, { ...usual, name: `${id} strict`, strict: true, profileOf }];
});

export function compileFor({ dialect, strict }: Subject, tools: readonly ExposedTool[]): Compiled {
  return dialect.definitions(strict ? tools.map((tool) => ({ ...tool, strict })) : tools);
}

/** The single definitions of a compiled list, out of the groups that some APIs put them in. */
export function definitionsIn(compiled: Compiled): JsonObject[] {
  const definitions: JsonObject[] = [];
  for (const entry of compiled.tools) {
    const group = entry['functionDeclarations'] ?? entry['tools'];
    if (Array.isArray(group)) definitions.push(...(group as JsonObject[]));
    else definitions.push((entry['function'] ?? entry) as JsonObject);
  }
  return definitions;
}

export function schemaIn(definition: JsonObject): JsonObject {
  const members = ['input_schema', 'parameters', 'parametersJsonSchema'].filter(
    (name) => definition[name] !== undefined,
  );
  const [only, ...others] = members;
  if (only === undefined || others.length > 0)
    throw new Error(`a definition with the schemas ${members.join(', ')}`);
  return definition[only] as JsonObject;
}

export function isStrict(definition: JsonObject): boolean {
  return definition['strict'] === true;
}
