/**
 * What an endpoint shows and under which names: all servers side by side, or one as it is. Names lead back to their owner by the
 * catalog's tables.
 */
import type { CatalogItem } from '../../host/catalog.ts';
import type { CoreHost } from '../../host/host.ts';
import { unwrapUri, wrapUri } from '../../host/uris.ts';
import { INSTRUCTIONS_MAX } from '../../mcp/protocol-limits.ts';
import type { ListKind } from '../../mcp/serving.ts';
import { TASKS } from '../../mcp/tasks.ts';
import type { JsonObject, ToolDefinition } from '../../types.ts';
import { VERSION } from '../../version.ts';
import type { Principal } from '../access/principal.ts';

/** A tool by its owner's names; `label` undefined: a native function. */
export interface ToolOwner {
  label: string | undefined;
  tool: string;
  definition: ToolDefinition;
}

export interface ItemOwner {
  label: string;
  /** The server's own name or URI. */
  key: string;
}

export interface View {
  readonly label: string | undefined;
  /** Definitions as they are shown to a principal, in the order of the catalog. */
  list(kind: ListKind, principal: Principal): JsonObject[];
  tool(name: string, principal: Principal): ToolOwner | undefined;
  /** Any prompt name and any URI of a server that the principal reaches, whether it is shown or not: the host's gate decides. */
  prompt(name: string, principal: Principal): ItemOwner | undefined;
  resource(uri: string, principal: Principal): ItemOwner | undefined;
  /** The URI that clients of this endpoint know a resource by. */
  shownUri(label: string, uri: string): string;
  /** A server's words to a person or program, under its label where several servers speak. */
  attributed(label: string, text: string): string;
  about(): { serverInfo: JsonObject; capabilities: JsonObject; instructions: string };
}

const ITEMS = { prompts: 'prompts', resources: 'resources', resourceTemplates: 'templates' } as const;

/** One server: its names, URIs, words and order, and only trust in between. */
export function serverView(host: CoreHost, label: string): View {
  const status = () => host.servers().find((server) => server.label === label);
  return {
    label,
    list(kind, principal) {
      if (!principal.reaches(label)) return [];
      const catalog = host.catalog();
      if (kind === 'tools') {
        return catalog.entries
          .filter((entry) => entry.label === label && principal.allows(label, entry.tool))
          .map(({ definition }) => definition);
      }
      return catalog[ITEMS[kind]].filter((item) => item.label === label).map(({ definition }) => definition);
    },
    tool(name, principal) {
      const entry = principal.allows(label, name) ? host.catalog().owned(label, name) : undefined;
      return entry && { label, tool: entry.tool, definition: entry.definition };
    },
    prompt: (key, principal) => (principal.reaches(label) ? { label, key } : undefined),
    resource: (key, principal) => (principal.reaches(label) ? { label, key } : undefined),
    shownUri: (_label, uri) => uri,
    attributed: (_label, text) => text,
    about() {
      const info = status()?.info;
      const capabilities = info?.capabilities ?? {};
      return {
        serverInfo: info?.serverInfo ?? { name: label, version: VERSION },
        capabilities: {
          // Many servers have tools and do not say so.
          tools: CHANGES,
          ...(capabilities['prompts'] !== undefined && { prompts: CHANGES }),
          ...(capabilities['resources'] !== undefined && { resources: { subscribe: true, ...CHANGES } }),
          ...(capabilities['completions'] !== undefined && { completions: {} }),
          ...(capabilities['logging'] !== undefined && { logging: {} }),
          extensions: { [TASKS]: {} },
        },
        instructions: host.catalog().instructions.find((each) => each.label === label)?.text ?? '',
      };
    },
  };
}

const CHANGES = { listChanged: true };

/** Every server, under exposed names and wrapped URIs. */
export function allView(host: CoreHost): View {
  const shown = ({ definition, name, label }: CatalogItem, member: 'name' | 'uri' | 'uriTemplate') =>
    withShownUris({ ...definition, [member]: name }, label);
  return {
    label: undefined,
    list(kind, principal) {
      const catalog = host.catalog();
      if (kind === 'tools') {
        return catalog.entries
          .filter(({ label, tool }) => label === undefined || principal.allows(label, tool))
          .map(({ name, label, definition }) => {
            const renamed = { ...definition, name };
            return label === undefined ? renamed : withShownUris(renamed, label);
          });
      }
      const member = kind === 'prompts' ? 'name' : kind === 'resources' ? 'uri' : 'uriTemplate';
      return catalog[ITEMS[kind]]
        .filter(({ label }) => principal.reaches(label))
        .map((item) => shown(item, member));
    },
    tool(name, principal) {
      const entry = host.catalog().find(name);
      if (entry === undefined) return undefined;
      const { label, tool, definition } = entry;
      return label === undefined || principal.allows(label, tool) ? { label, tool, definition } : undefined;
    },
    prompt(name, principal) {
      const item = host.catalog().prompt(name);
      return item && principal.reaches(item.label) ? { label: item.label, key: item.key } : undefined;
    },
    resource(uri, principal) {
      const owner = unwrapUri(uri);
      return owner && principal.reaches(owner.label) ? { label: owner.label, key: owner.uri } : undefined;
    },
    shownUri: wrapUri,
    attributed: (label, text) => `${label}: ${text}`,
    about: () => ({
      serverInfo: { name: 'midspan', title: 'Midspan', version: VERSION },
      capabilities: {
        tools: CHANGES,
        prompts: CHANGES,
        resources: { subscribe: true, ...CHANGES },
        completions: {},
        logging: {},
        extensions: { [TASKS]: {} },
      },
      instructions: host
        .catalog()
        .instructions.map(({ label, text }) => `# ${label}\nIts tools are named ${label}__<tool>.\n${text}`)
        .join('\n\n')
        .slice(0, INSTRUCTIONS_MAX),
    }),
  };
}

/** The template that an MCP App is read from lies on the same server. */
function withShownUris(definition: JsonObject, label: string): JsonObject {
  const meta = definition['_meta'] as JsonObject | undefined;
  const ui = meta?.['ui'] as JsonObject | undefined;
  const uri = ui?.['resourceUri'];
  if (typeof uri !== 'string') return definition;
  return { ...definition, _meta: { ...meta, ui: { ...ui, resourceUri: wrapUri(label, uri) } } };
}
