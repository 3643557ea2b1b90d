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

/**
 * Everything of one server that can reach a model or a person's screen, as the server sent it. An absent list was not asked
 * for, or the server does not offer it, or it could not be had: it says nothing, least of all that things were removed.
 */
export interface Surface {
  /** `serverInfo` of `initialize` or `server/discover`. */
  serverInfo: JsonObject;
  instructions?: string;
  tools?: readonly JsonObject[];
  prompts?: readonly JsonObject[];
  resources?: readonly JsonObject[];
  templates?: readonly JsonObject[];
}

export type ItemKind = 'tool' | 'prompt' | 'resource' | 'template' | 'instructions' | 'server';

/** One thing of a surface. `key`: the name; the uri of a resource; the uriTemplate of a template; '' for the two others. */
export interface Item {
  kind: ItemKind;
  key: string;
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
  /**
   * Who shares a connection, and with it a process: everybody (`shared`, the default), one principal of the gateway
   * (`principal`), or one of its clients (`client`), for servers that keep state between calls.
   */
  isolation?: 'shared' | 'principal' | 'client';
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

/**
 * Assigned by the host (configuration, or the lock at review), never by the server.
 * reads: changes nothing anywhere. untrusted: brings in text that strangers wrote. private: reads private data.
 * sends: lets data leave. destroys: cannot be undone.
 */
export type ToolLabel = 'reads' | 'untrusted' | 'private' | 'sends' | 'destroys';
export type Action = 'allow' | 'ask' | 'deny';

/** As written in midspan.json under `policy.rules`; the first rule that matches decides. */
export interface PolicyRule {
  /** Globs over `<label>/<tool>`, by the server's own names. Absent: every tool. */
  tools?: string[];
  /** All of these labels. */
  labels?: ToolLabel[];
  /** JSON Schema that the arguments must fit for the rule to match. */
  arguments?: JsonObject;
  action: Action;
  /** Beside `allow`: it holds for a sink, too, when the run has seen untrusted text and private data, and for what it carries. */
  tainted?: 'allow';
  /** Shown in results and the audit. */
  reason?: string;
}

export interface Policy {
  rules: PolicyRule[];
  /** Globs over `<label>/<tool>` to labels; all that match count. */
  labels: { tools: string; labels: ToolLabel[] }[];
  /** What happens when no rule matches. `reads`: tools labeled `reads` (and nothing worse) are allowed, everything else asks. */
  default: 'reads' | Action;
  /** Globs over paths that always ask when an argument names them, beside the built-in ones. */
  protectedPaths: string[];
}

/** `trust` of the configuration: where the lock is and how strictly it holds. */
export interface TrustSettings {
  /** Absolute path of the lock file; beside the configuration by default. Undefined for a configuration without a file. */
  lock: string | undefined;
  /**
   * auto: a lock file that exists holds; without one the first listing of a process counts, scanned. required: without a
   * lock nothing is shown. off: no lock, no scan.
   */
  mode: 'auto' | 'required' | 'off';
  profile: 'standard' | 'strict' | 'frozen';
}
