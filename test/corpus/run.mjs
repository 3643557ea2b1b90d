// `npm run test:corpus -- <folder>`: every tool of every captured server through every dialect, and all definitions through
// the scan. The folder stays outside the repository. Vite reads the TypeScript, as it does for the other tests.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-') || others.length > 0) {
  console.error(
    'usage: npm run test:corpus -- <folder>   (a folder with benign/*.json, what servers listed, and poisoned/*.json)',
  );
  process.exit(2);
}
const root = fileURLToPath(new URL('../../', import.meta.url));
const { module } = await runnerImport(fileURLToPath(new URL('main.ts', import.meta.url)), {
  root,
  configFile: false,
  logLevel: 'error',
});
process.exitCode = await module.main(folder);
