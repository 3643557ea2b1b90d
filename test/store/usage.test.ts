import {
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { MAX_TOOLS, usageFile } from '../../src/store/usage.ts';

const place = (): string => join(mkdtempSync(join(tmpdir(), 'midspan-')), '.midspan', 'usage.json');

it('adds up what several processes count, for the owner alone', async () => {
  const path = place();
  const [one, two] = [usageFile(path, () => 5_000), usageFile(path, () => 7_000)];
  one.add('files', 'read');
  two.add('files', 'read');
  two.add('files', '__proto__');
  expect([one.read().calls('files', 'read'), two.read().calls('files', 'read')]).toEqual([1, 1]);
  await Promise.all([one.close(), two.close()]);
  const counted = usageFile(path).read();
  expect(counted.since).toBe(5_000);
  expect(['read', '__proto__', 'write'].map((tool) => counted.calls('files', tool))).toEqual([2, 1, 0]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual(['usage.json']);
});

it('leaves nothing behind when nothing was called', async () => {
  const path = place();
  const usage = usageFile(path);
  await usage.close();
  expect(usage.read().since).toBeUndefined();
  expect(() => statSync(dirname(path))).toThrow('ENOENT');
});

it('waits for the draft of another process, and takes over one that was left behind', async () => {
  const path = place();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.draft`, '');
  const usage = usageFile(path);
  usage.add('a', 'b');
  await usage.close();
  expect(readdirSync(dirname(path))).toEqual(['usage.json.draft']);
  expect(usage.read().calls('a', 'b')).toBe(1); // still remembered
  utimesSync(`${path}.draft`, 1, 1);
  await usage.close();
  expect(readdirSync(dirname(path))).toEqual(['usage.json']);
  expect(usageFile(path).read().calls('a', 'b')).toBe(1);
});

it('keeps the tools that were called last when there are too many', async () => {
  const path = place();
  let now = 0;
  const usage = usageFile(path, () => (now += 1));
  for (let index = 0; index <= MAX_TOOLS; index += 1) usage.add('a', `tool ${index}`);
  await usage.close();
  const counted = usageFile(path).read();
  expect([counted.calls('a', 'tool 0'), counted.calls('a', `tool ${MAX_TOOLS}`)]).toEqual([0, 1]);
});

it('takes a torn or hostile file for an empty one', async () => {
  const path = place();
  mkdirSync(dirname(path), { recursive: true });
  for (const text of [
    '',
    '[]',
    'null',
    '{"since":"x","tools":[]}',
    '{"since":1,"tools":{}}',
    '{"since":1,"tools":[null,{"label":"a","tool":"b","calls":-1,"last":1},{"label":"a","tool":"b","calls":"9","last":1}]}',
  ]) {
    writeFileSync(path, text);
    expect(usageFile(path).read().calls('a', 'b')).toBe(0);
  }
  const usage = usageFile(path);
  usage.add('a', 'b');
  await usage.close();
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    tools: [{ label: 'a', tool: 'b', calls: 1 }],
  });
});

it('does not fail where nothing can be written', async () => {
  const blocked = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'file');
  writeFileSync(blocked, ''); // a file stands where a folder would have to
  const usage = usageFile(join(blocked, 'usage.json'));
  usage.add('a', 'b');
  await usage.close();
  expect(usage.read().calls('a', 'b')).toBe(1);
});
