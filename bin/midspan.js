#!/usr/bin/env node
import { existsSync } from 'node:fs';
import process from 'node:process';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (!existsSync(main)) {
  process.stderr.write('midspan is not built yet. Run `npm run setup` in its folder.\n');
  process.exit(1);
}
const { start } = await import(main.href);
await start(process);
