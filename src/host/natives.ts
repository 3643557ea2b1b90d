/** Native functions: tools written in the program that embeds the host. They stand beside MCP tools and win a name. */
import { MidspanError, messageOf } from '../errors.ts';
import type { Json, JsonObject, Progress, ToolDefinition, ToolResult } from '../types.ts';
import { isExposedName } from './names.ts';

export interface NativeFunction {
  /** The exposed name, verbatim: `^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$`. */
  name: string;
  title?: string;
  description?: string;
  /** JSON Schema 2020-12 of the arguments, an object. Default: no arguments. */
  inputSchema?: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  /**
   * Runs it with validated arguments. A string becomes text; an MCP result (an object with a `content` array) is taken as
   * it is; any other value becomes structured content and its JSON as text. Throwing makes an error result.
   */
  run(args: JsonObject, options: NativeOptions): Promise<Json | ToolResult> | Json | ToolResult;
}

export interface NativeOptions {
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/** @throws MidspanError `usage` for a bad or repeated name. */
export function checkNatives(natives: readonly NativeFunction[]): void {
  const seen = new Set<string>();
  for (const { name } of natives) {
    if (!isExposedName(name)) {
      throw new MidspanError({
        code: 'usage',
        what: `the native function ${JSON.stringify(name)} has a name that not every provider takes`,
        next: 'Use a letter or underscore, then at most 62 letters, digits, underscores or hyphens',
      });
    }
    if (seen.has(name)) {
      throw new MidspanError({
        code: 'usage',
        what: `two native functions are named ${name}`,
        next: 'Rename one',
      });
    }
    seen.add(name);
  }
}

export function nativeDefinition(native: NativeFunction): ToolDefinition {
  const { name, title, description, outputSchema, annotations } = native;
  const inputSchema = native.inputSchema ?? { type: 'object', properties: {} };
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

export async function runNative(
  native: NativeFunction,
  args: JsonObject,
  options: NativeOptions,
): Promise<ToolResult> {
  try {
    return asResult(await native.run(args, options));
  } catch (error) {
    if (options.signal.aborted) throw error;
    return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
  }
}

function asResult(value: Json | ToolResult | undefined): ToolResult {
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (value === undefined) return { content: [] };
  if (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Array.isArray(value['content'])
  ) {
    return value as ToolResult;
  }
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}
