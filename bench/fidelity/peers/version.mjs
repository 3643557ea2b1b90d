import { readFileSync } from 'node:fs';

/** The version of an installed library. */
export function packageVersion(name) {
  return JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version;
}
