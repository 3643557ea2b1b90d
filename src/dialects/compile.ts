/** Definitions for one API, with the report of what was changed, and the way back for arguments. */
import { messageOf } from '../errors.ts';
import { lower } from '../schema/index.ts';
import type { Lowered, Profile } from '../schema/index.ts';
import type { JsonObject } from '../types.ts';
import type { Compiled, CompileEntry, DialectId, ExposedTool } from './dialect.ts';
import { asText } from './json.ts';
import { estimateTokens } from './tokens.ts';

/** A tool in the API's vocabulary, before it takes the API's shape. */
export interface Definition {
  name: string;
  description: string;
  schema: JsonObject;
  strict: boolean;
}

/** What one API accepts in its list of tools. */
export interface DefinitionRules {
  dialect: DialectId;
  profile: Profile;
  /** Absent: the API has no schema-enforced mode per tool. */
  strictProfile?: Profile;
  names: RegExp;
  /** Tools in one request; the rest is left out. */
  maxTools?: number;
  /** The API refuses a function without a description. */
  describe?: boolean;
  /** Characters of a function's description; the rest goes to the schema's own description, which has no limit. */
  maxDescription?: number;
  /** Why a strict definition would break a limit that the whole request shares; called in order, once per strict tool. */
  strictBudget?: () => (schema: JsonObject) => string | undefined;
  /** How much more than the usual vocabulary the API's tokenizer needs. */
  tokenFactor: number;
  entry(definition: Definition): JsonObject;
  /** How the entries stand in the request's list; absent: as they are. */
  list?: (entries: JsonObject[]) => JsonObject[];
}

/** Same input, same bytes: the order is the one given, and nothing but the input counts. */
export function compile(tools: readonly ExposedTool[], rules: DefinitionRules): Compiled {
  const compiled: JsonObject[] = [];
  const report: CompileEntry[] = [];
  const loweredOf = new Map<string, Lowered>();
  const overStrictBudget = rules.strictBudget?.();

  for (const { name, definition, strict = false } of tools) {
    const leftOut = (reason: string): void => {
      report.push({ name, status: 'left out', changes: [reason], tokens: 0, renamed: {} });
    };
    if (!rules.names.test(name)) {
      leftOut(
        `the API does not accept the name ${JSON.stringify(name)} (it must match ${rules.names.source})`,
      );
      continue;
    }
    if (loweredOf.has(name)) {
      leftOut('another tool before it has the same name');
      continue;
    }
    if (rules.maxTools !== undefined && compiled.length >= rules.maxTools) {
      leftOut(`the API takes at most ${rules.maxTools} tools in one request`);
      continue;
    }
    const changes: string[] = [];
    let lowered = strict
      ? lowerStrictly(definition.inputSchema, rules, overStrictBudget, changes)
      : undefined;
    const enforced = lowered !== undefined;
    if (lowered === undefined) {
      const usual = lowerOnce(definition.inputSchema, rules.profile);
      if ('failed' in usual) {
        leftOut(usual.failed);
        continue;
      }
      lowered = usual;
    }
    changes.push(...lowered.changes);
    const described = describe(definition, lowered.schema, rules, changes);
    const entry = rules.entry({ name, ...described, strict: enforced });
    compiled.push(entry);
    loweredOf.set(name, lowered);
    report.push({
      name,
      status: changes.length === 0 ? 'exact' : 'adapted',
      changes,
      tokens: Math.ceil(estimateTokens(JSON.stringify(entry)) * rules.tokenFactor),
      renamed: lowered.renamed,
    });
  }
  return {
    dialect: rules.dialect,
    tools: compiled.length === 0 || rules.list === undefined ? compiled : rules.list(compiled),
    report,
    restore: (name, args) => loweredOf.get(name)?.restore(args) ?? args,
  };
}

/** The names that the model can call. */
export function callable(tools: Compiled): Set<string> {
  return new Set(tools.report.filter(({ status }) => status !== 'left out').map(({ name }) => name));
}

function lowerStrictly(
  schema: JsonObject,
  rules: DefinitionRules,
  overBudget: ((schema: JsonObject) => string | undefined) | undefined,
  changes: string[],
): Lowered | undefined {
  if (rules.strictProfile === undefined) {
    changes.push('strict mode was asked for, and the API has none per tool');
    return undefined;
  }
  const lowered = lowerOnce(schema, rules.strictProfile);
  const reason = 'failed' in lowered ? lowered.failed : overBudget?.(lowered.schema);
  if (reason !== undefined) changes.push(`strict mode was asked for and cannot be used: ${reason}`);
  return 'failed' in lowered || reason !== undefined ? undefined : lowered;
}

/** A missing description takes the title's place; one that is too long goes on in the schema. */
function describe(
  definition: ExposedTool['definition'],
  schema: JsonObject,
  rules: DefinitionRules,
  changes: string[],
): { description: string; schema: JsonObject } {
  let description = asText(definition.description);
  if (description.trim() === '') {
    description = asText(definition.title);
    if (description.trim() === '' && rules.describe === true) description = `Calls ${definition.name}.`;
    if (description !== '') changes.push('the description was empty and was made from the title or name');
  }
  const most = rules.maxDescription;
  if (most === undefined || description.length <= most) return { description, schema };
  const space = description.lastIndexOf(' ', most);
  const whole = /[\uD800-\uDBFF]/.test(description.charAt(most - 1)) ? most - 1 : most;
  const end = space > most / 2 ? space : whole;
  changes.push(`the description goes on in the schema after ${end} characters`);
  const rest = [description.slice(end).trim(), asText(schema['description'])]
    .filter((part) => part !== '')
    .join('\n\n');
  return { description: description.slice(0, end), schema: { ...schema, description: rest } };
}

type Lowering = Lowered | { failed: string };

/** By the schema object, which must not be changed, and by its content, for a server that lists its tools again. */
const byObject = new WeakMap<JsonObject, Map<Profile, Lowering>>();
const byContent = new Map<string, Lowering>();
/** Characters of schemas together. */
const mostRemembered = 16_000_000;
let rememberedSize = 0;

/** Lowering depends on nothing but the schema, so it is done once for each content. */
function lowerOnce(schema: JsonObject, profile: Profile): Lowering {
  try {
    let ofObject = byObject.get(schema);
    if (ofObject === undefined) byObject.set(schema, (ofObject = new Map()));
    let lowering = ofObject.get(profile);
    if (lowering === undefined) ofObject.set(profile, (lowering = lowerContent(schema, profile)));
    return lowering;
  } catch (error) {
    // One hostile schema (cyclic, or deeper than the stack) may not take the other tools with it.
    return { failed: `its schema cannot be read: ${messageOf(error)}` };
  }
}

function lowerContent(schema: JsonObject, profile: Profile): Lowering {
  const key = `${profile} ${JSON.stringify(schema)}`;
  const known = byContent.get(key);
  if (known !== undefined) return known;
  const made = lower(schema, profile);
  rememberedSize += key.length;
  if (rememberedSize > mostRemembered) {
    byContent.clear();
    rememberedSize = key.length;
  }
  byContent.set(key, made);
  return made;
}
