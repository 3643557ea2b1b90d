// Runs a stdio server and writes every message between it and its client into a file: `tap.mjs <file> <command> [args]`.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [file, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.on('data', (chunk) => {
  appendFileSync(file, chunk);
  server.stdin.write(chunk);
});
process.stdin.on('end', () => server.stdin.end());
server.stdout.on('data', (chunk) => {
  appendFileSync(file, chunk);
  process.stdout.write(chunk);
});
server.on('exit', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => server.kill());
