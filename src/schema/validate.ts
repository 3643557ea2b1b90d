/** Validation of a value against a schema as its server wrote it, whatever the two hold. */
import type { Json, JsonObject } from '../types.ts';
import { readSchema } from './document.ts';
import type { Refusal, SchemaDocument } from './document.ts';
import { evaluate, Unfinished } from './evaluate.ts';
import { shown } from './notes.ts';
import { explain } from './problem.ts';

export type Verdict =
  | { ok: true }
  /** One line that a model can act on. */
  | { ok: false; problem: string }
  /** The check could not be made (limits, hostile pattern, unknown dialect): the caller decides, failing closed. */
  | { ok: 'unchecked'; reason: string };

const documents = new WeakMap<JsonObject, SchemaDocument | Refusal>();

/**
 * Validates a value against the original schema (2020-12 unless `$schema` says draft-07 or older). Bounded in depth, nodes and time.
 * `format` is an annotation, as in 2020-12. References are followed inside the schema only. What is read of a schema object is
 * remembered for as long as the object lives, so it must not be changed.
 */
export function validate(schema: JsonObject | boolean, value: Json): Verdict {
  const document = documentOf(schema);
  if ('refused' in document) return { ok: 'unchecked', reason: document.refused };
  if (document.foreignDialect !== undefined) {
    return {
      ok: 'unchecked',
      reason: `the schema is written in ${shown(document.foreignDialect, 100)}, which is not supported`,
    };
  }
  try {
    const { failures, assumed } = evaluate(document, document.root, value);
    const problem = failures.length === 0 ? undefined : explain(failures);
    const settled = assumed.length === 0 || agrees(document, value, failures.length === 0);
    if (!settled)
      return { ok: 'unchecked', reason: `the pattern ${shown(assumed[0], 100)} cannot be checked safely` };
    return problem === undefined ? { ok: true } : { ok: false, problem };
  } catch (error) {
    if (error instanceof Unfinished) return { ok: 'unchecked', reason: error.message };
    throw error;
  }
}

/** Whether the verdict is the same when the patterns that cannot be checked are taken not to match. */
function agrees(document: SchemaDocument, value: Json, valid: boolean): boolean {
  return (evaluate(document, document.root, value, { assume: false }).failures.length === 0) === valid;
}

function documentOf(schema: JsonObject | boolean): SchemaDocument | Refusal {
  if (typeof schema === 'boolean') return readSchema(schema);
  let document = documents.get(schema);
  if (document === undefined) documents.set(schema, (document = readSchema(schema)));
  return document;
}
