import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, type ParseError } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const read = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${file}`, import.meta.url)), 'utf8');

/** Examples that hold `policy` or `trust`, as members of a configuration. */
function examples(file: string): object[] {
  const blocks = [...read(file).matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  return blocks
    .filter((text) => /^"(?:policy|trust)"/m.test(text))
    .map((text) => {
      const errors: ParseError[] = [];
      const value = parse(`{${text}}`, errors, { allowTrailingComma: true }) as object;
      expect(errors).toEqual([]);
      return value;
    });
}

describe('examples of the documents', () => {
  it.each(['trust.md', 'configuration.md'])(
    'of %s are policies and settings that are read as written',
    (file) => {
      const found = examples(file);
      expect(found.length).toBeGreaterThan(0);
      for (const example of found) {
        const config = readConfig({ mcpServers: {}, ...example }, { env: {}, base: '/srv' });
        if ('policy' in example) expect(config.policy).toMatchObject({ rules: expect.any(Array) });
      }
    },
  );
});
