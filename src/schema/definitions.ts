/** Where referenced schemas are written: left where they stand if the reference still finds them there, else in `$defs`. */
import type { JsonObject } from '../types.ts';
import type { SchemaDocument } from './document.ts';
import { isObject, member, setMember, subschemas } from './keywords.ts';
import type { Schema } from './keywords.ts';
import type { Notes } from './notes.ts';
import type { Rules } from './profiles.ts';
import { follow, pointerTokens } from './reference.ts';
import type { Plan } from './restore.ts';
import type { Definitions, Written } from './writer.ts';

interface Definition {
  name: string;
  target: JsonObject;
  level: number;
  plan: Plan;
  schema?: Schema;
}

type Write = (schema: Schema, place: string[], level: number) => Written;

export function createDefinitions(
  document: SchemaDocument,
  rules: Rules,
  notes: Notes,
  root: JsonObject,
  write: Write,
): Definitions {
  const byTarget = new Map<JsonObject, Map<number, Definition>>();
  const queue: Definition[] = [];
  const names = new Set<string>();
  const standing = new Map<JsonObject, JsonObject>();
  const open: { source: JsonObject; written: JsonObject; place: string[] }[] = [];
  const recursive = new Map<JsonObject, boolean>();

  function define(ref: string, target: JsonObject, level: number): Definition {
    let levels = byTarget.get(target);
    if (levels === undefined) byTarget.set(target, (levels = new Map()));
    let definition = levels.get(level);
    if (definition === undefined) {
      definition = { name: unusedName(ref), target, level, plan: {} };
      levels.set(level, definition);
      queue.push(definition);
    }
    return definition;
  }

  function unusedName(ref: string): string {
    const last = ref.startsWith('#/') ? (pointerTokens(ref.slice(1)).at(-1) ?? '') : ref.replace(/^.*#/, '');
    const base = last.replace(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, 48) || 'root';
    let name = base;
    for (let count = 2; names.has(name); count++) name = `${base}_${count}`;
    names.add(name);
    return name;
  }

  function writeQueued(into: JsonObject): void {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { schema, plan } = write(next.target, ['$defs', next.name], next.level);
      Object.assign(next.plan, plan);
      setMember(into, next.name, schema);
      settle();
    }
  }

  const rootPlan: Plan = {};
  let whole: JsonObject = {};
  /** References of schemas written where they stand: left alone when they find their target, else pointed into `$defs`. */
  function settle(): void {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const ref = next.source['$ref'];
      if (typeof ref !== 'string') continue;
      const target = document.target(ref);
      if (typeof target === 'boolean') {
        if (follow(whole, ref.slice(1)) !== target) replaceReference(next.written, target);
        continue;
      }
      const found = ref === '#' || ref.startsWith('#/') ? follow(whole, ref.slice(1)) : undefined;
      if (found !== undefined && found === standing.get(target)) continue;
      const definition = define(ref, target, 0);
      next.written['$ref'] = `#/$defs/${definition.name}`;
      notes.add('$ref pointed into $defs', next.place);
    }
  }

  function replaceReference(written: JsonObject, target: boolean): void {
    delete written['$ref'];
    if (!target) written['not'] = {};
  }

  return {
    isRecursive(target) {
      let known = recursive.get(target);
      if (known === undefined) recursive.set(target, (known = reaches(document, target)));
      return known;
    },
    refer(ref, target, place, level) {
      if (ref === '#' && target === root && level === 0)
        return { schema: { $ref: '#' }, plan: { reference: rootPlan } };
      const definition = define(ref, target, level);
      const reference = `#/$defs/${definition.name}`;
      if (reference !== ref && level === 0) notes.add('$ref pointed into $defs', place);
      return { schema: { $ref: reference }, plan: { reference: definition.plan } };
    },
    stands(source, written, place) {
      if (!standing.has(source)) standing.set(source, written);
      open.push({ source, written, place });
    },
    finish(schema, plan) {
      if (!rules.flat)
        for (const name of Object.keys(isObject(schema['$defs']) ? schema['$defs'] : {})) names.add(name);
      const own = isObject(schema['$defs']) ? schema['$defs'] : {};
      whole = schema;
      Object.assign(rootPlan, plan);
      settle();
      const size = Object.keys(own).length;
      writeQueued(own);
      if (Object.keys(own).length > size) schema['$defs'] = own;
      return schema;
    },
  };
}

/** Whether a schema can be met again inside itself. */
function reaches(document: SchemaDocument, start: JsonObject): boolean {
  const seen = new Set<JsonObject>();
  const pending: Schema[] = [start];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node === 'boolean') continue;
    if (node === start && seen.has(start)) return true;
    if (seen.has(node)) continue;
    seen.add(node);
    const ref = member(node, '$ref');
    if (typeof ref === 'string') pending.push(document.target(ref));
    for (const [tokens, child] of subschemas(node)) {
      if (tokens[0] !== '$defs' && tokens[0] !== 'definitions') pending.push(child);
    }
  }
  return false;
}
