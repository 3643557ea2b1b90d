import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { project } from './midspan.ts';

it('stores a secret from standard input, lists it by name, and gives it to a server', async () => {
  const { midspan, folder } = await project();
  const stored = await midspan(['secret', 'set', 'TOKEN'], { input: 'hunter2\n' });
  expect(stored.code).toBe(0);
  expect(stored.out).toMatch(
    /^Stored TOKEN in the (?:file|keychain)\. Refer to it as \$\{secret:TOKEN\}\.\n$/,
  );
  const server = `require('fs').writeFileSync('seen', process.env.TOKEN)`;
  const mcpServers = {
    s: { command: process.execPath, args: ['-e', server], env: { TOKEN: '${secret:TOKEN}' }, cwd: folder },
  };
  await writeFile(path.join(folder, 'midspan.json'), JSON.stringify({ mcpServers }));
  const servers = await midspan(['servers']);
  expect(await readFile(path.join(folder, 'seen'), 'utf8')).toBe('hunter2');
  const listed = await midspan(['secret', 'list', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject({ secrets: [{ name: 'TOKEN' }] });
  expect((await midspan(['secret', 'delete', 'TOKEN'])).code).toBe(0);
  const missing = await midspan(['servers']);
  expect(missing.code).toBe(2);
  expect(missing.err).toContain('no secret is stored as TOKEN; `midspan secret set TOKEN` stores it');
  expect((await midspan(['secret', 'delete', 'TOKEN'])).code).toBe(2);
  for (const { out, err } of [stored, servers, listed, missing]) expect(out + err).not.toContain('hunter2');
});

it('reads a secret from the terminal without showing it', async () => {
  const { terminal, midspan, folder } = await project();
  const typed = terminal(['secret', 'set', 'TOKEN']);
  await typed.shows('Type the secret TOKEN');
  typed.type('hunterX\u007F2\r');
  const { code, screen } = await typed.ended;
  expect(code).toBe(0);
  expect(screen).toContain('Stored TOKEN');
  expect(screen).not.toContain('hunter');
  const { out } = await midspan(['secret', 'list', '--json']);
  const [{ place } = { place: '' }] = (JSON.parse(out) as { secrets: { place: string }[] }).secrets;
  const file = path.join(folder, '.local', 'state', 'midspan', 'secrets.json');
  if (place === 'file') expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ TOKEN: 'hunter2' });
});

it('takes no secret from the command line and none that is empty', async () => {
  const { midspan } = await project();
  expect((await midspan(['secret', 'set', 'TOKEN', 'hunter2'])).code).toBe(2);
  expect((await midspan(['secret', 'set', 'TOKEN'], { input: '\n' })).code).toBe(2);
  expect(await midspan(['secret', 'list'])).toMatchObject({
    code: 0,
    out: '',
    err: 'No secret is stored.\n',
  });
});
