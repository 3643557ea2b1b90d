/** The inverse of lowering: what a model sent for the lowered schema becomes a value for the original one. */
import type { Json, JsonObject } from '../types.ts';
import type { Budget } from './evaluate.ts';
import { MAX_STEPS } from './limits.ts';

/** How a value of one lowered schema is turned back. Plans of recursive schemas are cyclic. */
export interface Plan {
  /** The plan of a definition, which is made later and may lead back here. */
  reference?: Plan;
  /** By the name that the model sees. */
  members?: Map<string, MemberPlan>;
  /** Members that are not named. */
  others?: Plan;
  prefix?: Plan[];
  items?: Plan;
  /** The branches of a union: the one whose result fits best is taken. */
  branches?: BranchPlan[];
}

export interface MemberPlan {
  name: string;
  plan: Plan;
  /** Null stands for "not given": the member is optional and the original schema allows no null. */
  dropNull: boolean;
}

export interface BranchPlan {
  plan: Plan;
  /** How many things the original branch finds wrong with a restored value. */
  misfit(value: Json, budget: Budget): number;
}

/** Members visited before restoring gives up and leaves the rest as it is. */
const MAX_VISITS = 100_000;
const MAX_LEVELS = 200;

/** Never throws, and never loses a member that the schema does not know. */
export function restoreValue(plan: Plan, value: Json): Json {
  let visits = 0;
  let renames = 0;
  const budget: Budget = { steps: MAX_STEPS };

  function restore(plan: Plan, value: Json, level: number): Json {
    if (typeof value !== 'object' || value === null || ++visits > MAX_VISITS || level > MAX_LEVELS)
      return value;
    if (plan.reference !== undefined) return restore(plan.reference, value, level + 1);
    if (plan.branches !== undefined) return bestBranch(plan.branches, value, level);
    if (Array.isArray(value)) {
      if (plan.items === undefined && plan.prefix === undefined) return value;
      return value.map((item, index) => {
        const rule = plan.prefix?.[index] ?? plan.items;
        return rule === undefined ? item : restore(rule, item, level + 1);
      });
    }
    if (plan.members === undefined && plan.others === undefined) return value;
    return restoreObject(plan, value, level);
  }

  function restoreObject({ members, others }: Plan, value: JsonObject, level: number): JsonObject {
    const byOriginal = new Map([...(members?.values() ?? [])].map((member) => [member.name, member]));
    const restored: [string, Json][] = [];
    for (const [sent, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const renamed = members?.get(sent);
      const known = renamed ?? byOriginal.get(sent);
      if (known?.dropNull === true && item === null) continue;
      const taken = renamed !== undefined && renamed.name !== sent && Object.hasOwn(value, renamed.name);
      const name = renamed === undefined || taken ? sent : renamed.name;
      if (name !== sent) renames++;
      const plan = known?.plan ?? others;
      restored.push([name, plan === undefined ? item : restore(plan, item, level + 1)]);
    }
    return Object.fromEntries(restored);
  }

  /** The branch whose result is valid, or nearest to it; among equals the one that knows most of the names. */
  function bestBranch(branches: readonly BranchPlan[], value: Json, level: number): Json {
    let best = { value, wrong: Infinity, known: 0 };
    for (const branch of branches) {
      const before = renames;
      const candidate = restore(branch.plan, value, level + 1);
      const known = renames - before;
      const wrong = branch.misfit(candidate, budget);
      if (wrong < best.wrong || (wrong === best.wrong && known > best.known))
        best = { value: candidate, wrong, known };
      if (visits > MAX_VISITS || budget.steps < 0) break;
    }
    return best.value;
  }

  return restore(plan, value, 0);
}
