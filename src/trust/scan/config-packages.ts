import { distance } from 'fastest-levenshtein';
import type { ServerSpec } from '../../types.ts';
import { packageAt, programName } from './config-command.ts';
import { found, type ItemFinding } from './found.ts';
import { foldLookalikes } from './across-names.ts';
import type { Explained } from './rule.ts';

export const FAMILIAR_PACKAGE: Explained = {
  id: 'X04',
  title: 'a name that is almost another one',
  tier: 'soft',
  severity: 'high',
  why: 'Packages and servers with names a letter away from known ones live on typing errors and on readers in a hurry.',
  example: '@modelcontextprotoco1/server-filesystem',
  advice: 'Compare the name with the one in the documentation of the author, letter by letter.',
};

/** Packages that many configurations name, and their scopes. */
const FAMILIAR = [
  '@modelcontextprotocol/server-everything',
  '@modelcontextprotocol/server-filesystem',
  '@modelcontextprotocol/server-memory',
  '@modelcontextprotocol/server-github',
  '@modelcontextprotocol/server-gitlab',
  '@modelcontextprotocol/server-postgres',
  '@modelcontextprotocol/server-puppeteer',
  '@modelcontextprotocol/server-sequential-thinking',
  '@modelcontextprotocol/server-slack',
  '@modelcontextprotocol/server-brave-search',
  '@modelcontextprotocol/server-google-maps',
  '@playwright/mcp',
  '@upstash/context7-mcp',
  '@notionhq/notion-mcp-server',
  '@sentry/mcp-server',
  '@supabase/mcp-server-supabase',
  '@stripe/mcp',
  '@cloudflare/mcp-server-cloudflare',
  '@elastic/mcp-server-elasticsearch',
  '@browsermcp/mcp',
  'chrome-devtools-mcp',
  'firecrawl-mcp',
  'tavily-mcp',
  'exa-mcp-server',
  'figma-developer-mcp',
  'mongodb-mcp-server',
  'mcp-server-kubernetes',
  'mcp-remote',
  'mcp-server-fetch',
  'mcp-server-git',
  'mcp-server-time',
];

export function findPackages({ transport }: ServerSpec): ItemFinding[] {
  if (transport.type !== 'stdio') return [];
  const words = [transport.command, ...transport.args];
  const runner = words.findIndex((word) => /^(?:npx|bunx|pnpx|uvx|pipx)$/.test(programName(word)));
  if (runner === -1) return [];
  const at = packageAt(words.slice(runner + 1));
  if (at === -1) return [];
  const written = words[runner + 1 + at]!;
  const name = written.replace(/(.)(?:@|==).*$/s, '$1').slice(0, 214);
  const near = FAMILIAR.find((familiar) => isNear(name, familiar));
  return near === undefined || FAMILIAR.includes(name)
    ? []
    : [
        {
          ...found({ pointer: `/args/${runner + at}` }, `${name} (known: ${near})`, 'soft', 'high'),
          end: written.length,
        },
      ];
}

/** A letter or two away, or the same to the eye; or the same name under a scope that is almost the same. */
function isNear(name: string, familiar: string): boolean {
  if (name === familiar || name === '') return false;
  if (foldLookalikes(name) === foldLookalikes(familiar)) return true;
  const [scope, own] = split(name);
  const [knownScope, knownOwn] = split(familiar);
  if (scope !== '' && knownScope !== '' && scope !== knownScope)
    return own === knownOwn && knownScope.length >= 8 && distance(scope, knownScope) <= 2;
  return scope === knownScope && own.length >= 8 && distance(own, knownOwn) === 1 && !/\d$/.test(own);
}

function split(name: string): [string, string] {
  const [, scope = '', own = name] = /^@([^/]*)\/(.*)$/s.exec(name) ?? [];
  return [scope, own];
}
