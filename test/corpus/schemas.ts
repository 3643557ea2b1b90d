/** Lowers every tool of a folder of captured server answers for every profile, and counts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lower } from '../../src/schema/index.ts';
import type { Profile } from '../../src/schema/index.ts';
import type { ToolDefinition } from '../../src/types.ts';
import { check } from '../schema/profiles.ts';

export const ALL_PROFILES: Profile[] = [
  'anthropic',
  'anthropic-strict',
  'openai',
  'openai-strict',
  'gemini-json-schema',
  'gemini-openapi',
];

export interface SchemaCounts {
  tools: number;
  /** Taken as they are. */
  exact: number;
  /** Changed, and accepted by the profile's reader. */
  adapted: number;
  /** Not carried: server, tool and reason. */
  failed: string[];
  /** Lowered to something that the profile's reader refuses: server, tool and objection. */
  refused: string[];
  /** Lowered again to something else. */
  unstable: string[];
}

/** @param folder files with a `tools` array each, as `tools/list` answered. */
export function lowerFolder(folder: string): Record<Profile, SchemaCounts> {
  const counts = Object.fromEntries(
    ALL_PROFILES.map((profile) => [
      profile,
      { tools: 0, exact: 0, adapted: 0, failed: [], refused: [], unstable: [] },
    ]),
  ) as unknown as Record<Profile, SchemaCounts>;
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()) {
    const { tools = [] } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      tools?: ToolDefinition[];
    };
    for (const tool of tools) {
      for (const profile of ALL_PROFILES) {
        const count = counts[profile];
        const name = `${file} ${tool.name}`;
        count.tools++;
        const lowered = lower(tool.inputSchema, profile);
        if ('failed' in lowered) {
          count.failed.push(`${name}: ${lowered.failed}`);
          continue;
        }
        if (lowered.changes.length === 0) count.exact++;
        else count.adapted++;
        count.refused.push(...check(profile, lowered.schema).map((objection) => `${name}: ${objection}`));
        const again = lower(lowered.schema, profile);
        if ('failed' in again || JSON.stringify(again.schema) !== JSON.stringify(lowered.schema))
          count.unstable.push(name);
      }
    }
  }
  return counts;
}
