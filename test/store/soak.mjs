// Several processes write to one store at once and are killed at random moments. Whatever they noted as acknowledged must be
// there, whole, and the audit must be one chain.
//   node test/store/soak.mjs [seconds] [processes]
import { spawn } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../dist/store/schema.js';
import { sqlite } from '../../dist/store/sqlite.js';
import { openStore } from '../../dist/store/store.js';

const seconds = Number(process.argv[2] ?? 20);
const processes = Number(process.argv[3] ?? 8);
const writer = fileURLToPath(new URL('writer.mjs', import.meta.url));
const home = mkdtempSync(path.join(tmpdir(), 'midspan-soak-'));
const folder = path.join(home, '.midspan');
const problems = [];
let [writers, kills] = [0, 0];

/** One place of a writer: whoever is killed is followed by another. */
async function keepWriting(deadline) {
  while (Date.now() < deadline) {
    const name = `w${(writers += 1)}`;
    const log = path.join(home, `${name}.log`);
    const child = spawn(process.execPath, [writer, folder, log, name], { stdio: ['ignore', 'pipe', 'pipe'] });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (words += text));
    const ended = new Promise((resolve) => {
      child.on('close', (_, signal) => resolve(signal));
    });
    const isWriting = new Promise((resolve) => child.stdout.once('data', resolve));
    await Promise.race([isWriting, ended]);
    await Promise.race([pause(Math.max(0, Math.min(deadline - Date.now(), randomInt(1_500)))), ended]);
    child.kill('SIGKILL');
    if ((await ended) === 'SIGKILL') kills += 1;
    else problems.push(`${name} ended by itself: ${words.slice(0, 1_000)}`);
  }
}

const digest = (text) => createHash('sha256').update(text).digest('hex');

/** What one line of a writer's log says must be there. @returns what is wrong. */
function check(db, kind, [id, ...rest]) {
  const row = (sql, ...values) => db.get(sql, ...values) ?? {};
  switch (kind) {
    case 'message': {
      const { message } = row(
        'SELECT message FROM messages WHERE run = ? AND position = ?',
        id,
        Number(rest[0]),
      );
      const { content, text } = JSON.parse(message ?? '{}');
      return digest(content ?? text ?? '') === rest[1];
    }
    case 'started':
      return row('SELECT tool FROM calls WHERE call = ?', id).tool === 't';
    case 'ended': {
      // Its result went into the message that holds it, where there is one.
      const { status, result } = row('SELECT status, result FROM calls WHERE call = ?', id);
      return status === 'done' && (result === null || digest(JSON.parse(result).content[0].text) === rest[0]);
    }
    case 'answered': {
      const { run } = row('SELECT run FROM calls WHERE call = ? AND result IS NULL', id);
      const { message } = row('SELECT message FROM messages WHERE run = ? AND position = 2', run ?? '');
      return JSON.parse(message ?? '{}').results?.[0].call.id === id;
    }
    case 'ask':
      return digest(row('SELECT ask FROM asks WHERE id = ?', id).ask ?? '') === rest[0];
    case 'answer':
      return digest(row('SELECT answer FROM asks WHERE id = ?', id).answer ?? '') === rest[0];
    case 'remembered':
      return row('SELECT action FROM remembered WHERE digest = ?', id).action === 'allow';
    case 'audit':
      return row("SELECT count(*) AS n FROM audit WHERE json_extract(body, '$.item') = ?", id).n === 1;
    case 'finished':
      return row('SELECT reason FROM runs WHERE id = ?', id).reason === 'complete';
    default:
      return false;
  }
}

const deadline = Date.now() + seconds * 1_000;
await Promise.all(Array.from({ length: processes }, () => keepWriting(deadline)));

const store = openStore(folder);
const audit = store.audit.verify();
store.close();
const db = sqlite(path.join(folder, 'midspan.db'), migrate);
// For looking things up; a store has no need of them.
db.run('CREATE INDEX temp_call ON calls (call)');
db.run('CREATE INDEX temp_remembered ON remembered (digest)');
db.run("CREATE INDEX temp_item ON audit (json_extract(body, '$.item'))");
const integrity = db.get('PRAGMA integrity_check').integrity_check;
let acknowledged = 0;
for (const file of readdirSync(home).filter((name) => name.endsWith('.log'))) {
  // The last line may be torn: it was being written.
  for (const line of readFileSync(path.join(home, file), 'utf8').split('\n').slice(0, -1)) {
    acknowledged += 1;
    const [kind, ...fields] = line.split(' ');
    if (!check(db, kind, fields)) problems.push(`lost or torn: ${line}`);
  }
}
db.close();
if (integrity !== 'ok') problems.push(`integrity: ${integrity}`);
if (!audit.intact) problems.push(`audit: row ${audit.seq}: ${audit.problem}`);
process.stdout.write(
  `${JSON.stringify({ seconds, processes, writers, kills, acknowledged, auditRows: audit.rows, problems: problems.slice(0, 20) })}\n`,
);
rmSync(home, { recursive: true, force: true });
process.exitCode = problems.length === 0 && acknowledged > 0 ? 0 : 1;
