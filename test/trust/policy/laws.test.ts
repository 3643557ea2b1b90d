import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_POLICY,
  decide,
  type Decided,
  labelSources,
  newTaint,
  type PolicyCall,
  type Remembered,
  suggestLabels,
  type Taint,
} from '../../../src/trust/policy/policy.ts';
import type { Action, JsonObject, Policy, PolicyRule, ToolLabel } from '../../../src/types.ts';

const RANK: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };
const LABELS: readonly ToolLabel[] = ['reads', 'untrusted', 'private', 'sends', 'destroys'];

const labels = fc.uniqueArray(fc.constantFrom(...LABELS), { maxLength: 5 });
const action = fc.constantFrom<Action>('allow', 'ask', 'deny');
const tools = fc.uniqueArray(fc.constantFrom('a/*', 'a/read', '*/send', '*', 'b/*', '*/{read,write}'), {
  minLength: 1,
  maxLength: 3,
});
const schema = fc.constantFrom<JsonObject>(
  { required: ['path'] },
  { properties: { path: { pattern: '^notes/' } } },
  { properties: { path: { pattern: '(?=x)(?<y>z)\\k<y>' } } },
  { maxProperties: 0 },
);
const rule: fc.Arbitrary<PolicyRule> = fc
  .record({ tools, labels, arguments: schema, action, tainted: fc.boolean() }, { requiredKeys: ['action'] })
  .map(({ tainted, ...rest }) => ({
    ...rest,
    ...(tainted === true && rest.action === 'allow' && { tainted: 'allow' as const }),
  }));
const policy: fc.Arbitrary<Policy> = fc.record({
  rules: fc.array(rule, { maxLength: 5 }),
  labels: fc.array(fc.record({ tools: fc.constantFrom('a/*', '*/read', 'b/send'), labels }), {
    maxLength: 3,
  }),
  default: fc.constantFrom<Policy['default']>('reads', 'allow', 'ask', 'deny'),
  protectedPaths: fc.constantFrom([], ['secret']),
});
const hints: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record(
    {
      readOnlyHint: fc.boolean(),
      destructiveHint: fc.boolean(),
      openWorldHint: fc.boolean(),
      idempotentHint: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>,
);
const call: fc.Arbitrary<PolicyCall> = fc.record({
  label: fc.constantFrom('a', 'b', 'a/x'),
  tool: fc.constantFrom('read', 'write', 'send'),
  arguments: fc.oneof(
    fc.record(
      {
        path: fc.constantFrom('notes/a', 'x', '.env', 'secret/y'),
        more: fc.jsonValue() as fc.Arbitrary<never>,
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>,
  ),
  digest: fc.constantFrom('d1', 'd2'),
  labels,
});
const remembered: fc.Arbitrary<Remembered | undefined> = fc.option(
  fc.record({
    label: fc.constantFrom('a', 'b'),
    tool: fc.constantFrom('read', 'write', 'send'),
    digest: fc.constantFrom('d1', 'd2'),
    action: fc.constantFrom('allow' as const, 'deny' as const),
  }),
  { nil: undefined },
);
const sightings = fc.array(fc.record({ tool: fc.constantFrom('x', 'y'), labels, suspicious: fc.boolean() }), {
  maxLength: 4,
});

function taintOf(seen: readonly { tool: string; labels: ToolLabel[]; suspicious: boolean }[]): Taint {
  const taint = newTaint();
  for (const { suspicious, ...one } of seen) taint.saw({ label: 's', ...one }, { content: [] }, suspicious);
  return taint;
}

function without(rule: PolicyRule): PolicyRule {
  const rest = { ...rule };
  delete rest.tainted;
  return rest;
}

const rankOf = ({ action }: Decided): number => RANK[action];

describe('laws of the policy', () => {
  it('no hint of a server ever loosens a decision', () => {
    fc.assert(
      fc.property(policy, call, hints, sightings, remembered, (rules, made, given, seen, word) => {
        const context = { taint: taintOf(seen), remembered: () => word };
        const without = decide(rules, made, context);
        const withHints = decide(rules, { ...made, hints: given }, context);
        expect(rankOf(withHints)).toBeGreaterThanOrEqual(rankOf(without));
      }),
    );
  });

  it('seeing more never loosens a decision', () => {
    fc.assert(
      fc.property(policy, call, sightings, sightings, remembered, (rules, made, before, after, word) => {
        const at = (seen: typeof before): number =>
          rankOf(decide(rules, made, { taint: taintOf(seen), remembered: () => word }));
        expect(at([...before, ...after])).toBeGreaterThanOrEqual(at(before));
      }),
    );
  });

  it('a tool without labels is never allowed by the default policy', () => {
    fc.assert(
      fc.property(call, hints, sightings, (made, given, seen) => {
        const context = { taint: taintOf(seen), remembered: () => undefined };
        expect(decide(DEFAULT_POLICY, { ...made, labels: [], hints: given }, context).action).toBe('ask');
      }),
    );
  });

  it('the first rule that denies is final, whatever was said, hinted or seen', () => {
    fc.assert(
      fc.property(policy, call, hints, sightings, remembered, (rules, made, given, seen, word) => {
        const denying: Policy = { ...rules, rules: [{ action: 'deny' }, ...rules.rules] };
        const context = { taint: taintOf(seen), remembered: () => word };
        expect(decide(denying, { ...made, hints: given }, context)).toMatchObject({
          action: 'deny',
          rule: 'rules[0]',
        });
      }),
    );
  });

  it('a protected path is never touched unasked', () => {
    fc.assert(
      fc.property(policy, call, sightings, remembered, (rules, made, seen, word) => {
        const touching = { ...made, arguments: { ...made.arguments, at: 'x/../.ssh/id_rsa' } };
        const context = { taint: taintOf(seen), remembered: () => word };
        expect(decide(rules, touching, context).action).not.toBe('allow');
      }),
    );
  });

  it('a sink is never reached unasked after strangers and private data, unless a rule says so', () => {
    fc.assert(
      fc.property(policy, call, remembered, (rules, made, word) => {
        const taint = taintOf([{ tool: 'x', labels: ['untrusted', 'private'], suspicious: false }]);
        const strict = { ...rules, rules: rules.rules.map(without) };
        const found = decide(strict, made, { taint, remembered: () => word });
        const isSink =
          found.labels.length === 0 || found.labels.includes('sends') || found.labels.includes('destroys');
        if (isSink) expect(found.action).not.toBe('allow');
      }),
    );
  });

  it('a word that was given for another definition changes nothing', () => {
    fc.assert(
      fc.property(policy, call, sightings, remembered, (rules, made, seen, word) => {
        const taint = taintOf(seen);
        const other = word && { ...word, digest: `${made.digest}x` };
        expect(decide(rules, made, { taint, remembered: () => other })).toEqual(
          decide(rules, made, { taint, remembered: () => undefined }),
        );
      }),
    );
  });

  it('the same question has the same answer, with a rule and one sentence', () => {
    fc.assert(
      fc.property(policy, call, hints, sightings, remembered, (rules, made, given, seen, word) => {
        const again = (): Decided =>
          decide(structuredClone(rules), structuredClone({ ...made, hints: given }), {
            taint: taintOf(seen),
            remembered: () => word,
          });
        const found = again();
        expect(again()).toEqual(found);
        expect(found.rule).toMatch(/^(?:rules\[\d+\]|default|taint|leak|protected-path|remembered|hints)$/);
        expect(found.why).toMatch(/^\S.*[.!?]$/);
        expect(found.labels).toEqual(
          LABELS.filter((label) => labelSources(rules, made).some((source) => source.label === label)),
        );
      }),
    );
  });
});

describe('suggested labels', () => {
  const tool = fc.record(
    {
      name: fc.oneof(
        fc.string(),
        fc
          .array(fc.constantFrom('get', 'delete', 'send', 'mail', 'file', 'Issue', '_', '-'), {
            maxLength: 5,
          })
          .map((words) => words.join('_')),
      ),
      annotations: hints,
      inputSchema: fc.object() as fc.Arbitrary<JsonObject>,
    },
    { requiredKeys: ['name'] },
  );

  it('are the same each time, in order, and never fail', () => {
    fc.assert(
      fc.property(tool, (definition) => {
        const found = suggestLabels(definition);
        expect(suggestLabels(structuredClone(definition))).toEqual(found);
        expect(found).toEqual(LABELS.filter((label) => found.includes(label)));
      }),
    );
  });

  it('never say that a tool reads unless its server says so, too, nor with anything that speaks against it', () => {
    fc.assert(
      fc.property(tool, (definition) => {
        const found = suggestLabels(definition);
        if (!found.includes('reads')) return;
        expect(definition.annotations?.['readOnlyHint']).toBe(true);
        expect(definition.annotations?.['destructiveHint']).not.toBe(true);
        expect(found).not.toContain('destroys');
      }),
    );
  });
});
