import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RULES } from '../../../src/trust/scan/scan.ts';

it('lists the rules in docs/trust.md as they are', () => {
  const text = readFileSync(new URL('../../../docs/trust.md', import.meta.url), 'utf8');
  const table = text.split('<!-- rules -->')[1]?.split('<!-- /rules -->')[0]?.trim();
  const rows = RULES.map(({ rule, tier, title }) => `| ${rule} | ${tier} | ${title} |`);
  expect(table?.split('\n')).toEqual(['| rule | tier | finds |', '|---|---|---|', ...rows]);
});
