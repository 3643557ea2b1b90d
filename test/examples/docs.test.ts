import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DEFAULT_MODELS, MODEL_FORMS, MODEL_VARIABLES } from '../../src/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`),
];

/** Files and folders of the repository that a document names in code, and what its links lead to. */
function named(document: string): string[] {
  const text = read(document);
  const inCode = [...text.matchAll(/`((?:docs|examples|src|test|bench|scripts|bin)\/[\w./-]+)`/g)];
  const links = [...text.matchAll(/\]\(([\w./-]+)\)/g)];
  return [
    ...inCode.map(([, file = '']) => file),
    ...links.map(([, file = '']) => path.join(path.dirname(document), file)),
  ];
}

const help = (command: string): string =>
  execFileSync(process.execPath, [path.join(root, 'bin/midspan.js'), command, '--help'], {
    encoding: 'utf8',
  });

describe('the documents', () => {
  it('name only files that are there', () => {
    const all = documents.flatMap((document) => named(document).map((file) => ({ document, file })));
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter(({ file }) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  it.each([
    'servers',
    'tools',
    'cost',
    'call',
    'compare',
    'run',
    'policy',
    'asks',
    'answer',
    'runs',
    'audit',
  ])('tell every option of midspan %s', (command) => {
    const section = read('docs/cli.md')
      .split(/^## /m)
      .find((text) => text.startsWith(`\`midspan ${command}`));
    const options = [...help(command).matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name);
    const everywhere = ['--config', '--json', '--help'];
    expect(options).toEqual(expect.arrayContaining(everywhere));
    const own = options.filter((name) => name !== undefined && !everywhere.includes(name));
    expect(own.filter((name) => name !== undefined && section?.includes(name) !== true)).toEqual([]);
  });

  it('tell every form of a model and all that decides which is taken', () => {
    const text = read('docs/models.md');
    const wanted = [
      ...MODEL_FORMS.map(({ form }) => form),
      ...MODEL_VARIABLES,
      ...Object.values(DEFAULT_MODELS),
    ];
    expect(wanted.filter((word) => !text.includes(`\`${word}\``) && !text.includes(`:${word}\``))).toEqual(
      [],
    );
  });
});
