/**
 * Plain types that every room may use: JSON, what MCP servers define and answer, how a server is reached.
 * Definitions and results are kept as the server sent them: members that we do not know survive.
 */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json | undefined;
}

export type Era = 'legacy' | 'modern';

/** A tool as its server listed it (MCP `Tool`), raw. */
export interface ToolDefinition extends JsonObject {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject | boolean;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

/** One content block of a result or message (MCP `ContentBlock`); `type` may be one we do not know. */
export interface ContentBlock extends JsonObject {
  type: string;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

/** What a tool answered (MCP `CallToolResult`), in neutral form: no era's members in it. */
export interface ToolResult extends JsonObject {
  content: ContentBlock[];
  structuredContent?: Json;
  isError?: boolean;
  _meta?: JsonObject;
}

/** `notifications/progress` of one call. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** How one server is reached, and what of it is shown. Made by config/, used by servers/ and host/. */
export interface ServerSpec {
  label: string;
  transport: StdioTransport | HttpTransport;
  /** `auto` probes; an era forces it; a revision such as `2025-06-18` pins it. Default `auto`. */
  era?: 'auto' | Era | (string & {});
  /** Milliseconds. */
  timeouts?: { start?: number; call?: number; callMax?: number };
  tools?: ToolSelection;
  /** Who connects for a run: this host, or the model's provider where its API can. Default `host`. */
  via?: 'host' | 'provider';
  /** Beside `via: "provider"`: whether a person is asked before each call of a model. Default `always`. */
  approval?: 'always' | 'never';
  disabled?: boolean;
}

export interface StdioTransport {
  type: 'stdio';
  command: string;
  args: string[];
  /** Added to a small safe part of our own environment. */
  env: Record<string, string>;
  cwd?: string;
}

export interface HttpTransport {
  /** `http` is Streamable HTTP and falls back to HTTP+SSE by the decision table; `sse` is HTTP+SSE only. */
  type: 'http' | 'sse';
  url: string;
  headers: Record<string, string>;
}

export interface ToolSelection {
  /** Globs over the server's own tool names. Absent: all. */
  allow?: string[];
  deny?: string[];
  /** Globs over the server's own tool names whose definitions ask for the API's schema-enforced mode, where they can have it. */
  strict?: string[];
  /** The server's own tool name to the exposed name, verbatim. */
  alias?: Record<string, string>;
}
