/** The corpus: one file per server, what it answered to `initialize` and to the lists. Only the tools are read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, ToolDefinition } from '../../src/types.ts';

export interface CapturedServer {
  label: string;
  tools: ToolDefinition[];
}

/** What an empty, cut or misread corpus does not have. */
const LEAST = { servers: 50, tools: 1_600, schemas: 1_300, properties: 6_000 };

/** @throws Error when the folder cannot be read, or holds less than a whole corpus. */
export function readCorpus(folder: string): CapturedServer[] {
  const benign = join(folder, 'benign');
  const servers = readdirSync(benign)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file): CapturedServer => {
      const { tools = [] } = JSON.parse(readFileSync(join(benign, file), 'utf8')) as {
        tools?: ToolDefinition[];
      };
      const broken = tools.find(
        (tool) => typeof tool.name !== 'string' || typeof tool.inputSchema !== 'object',
      );
      if (broken !== undefined)
        throw new Error(`${file}: a tool without a name or schema: ${JSON.stringify(broken)}`);
      return { label: file.slice(0, -'.json'.length), tools };
    });
  const tools = servers.flatMap((server) => server.tools);
  const found = {
    servers: servers.filter((server) => server.tools.length > 0).length,
    tools: tools.length,
    schemas: new Set(tools.map((tool) => JSON.stringify(tool.inputSchema))).size,
    properties: tools.reduce((sum, tool) => sum + propertiesOf(tool), 0),
  };
  for (const [what, least] of Object.entries(LEAST) as [keyof typeof LEAST, number][]) {
    if (found[what] < least)
      throw new Error(`${benign} has ${found[what]} ${what}, and a whole corpus has at least ${least}`);
  }
  return servers;
}

function propertiesOf(tool: ToolDefinition): number {
  return Object.keys((tool.inputSchema['properties'] as JsonObject | undefined) ?? {}).length;
}
