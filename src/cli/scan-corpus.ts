/**
 * A folder of definitions to measure the scan with: `benign/*.json`, one file for each server, and `poisoned/*.json`, sets of
 * labeled entries. It is a stranger's data: read within bounds, and what has another shape is left aside and named.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { MidspanError, messageOf } from '../errors.ts';
import { isObject } from '../schema/keywords.ts';
import type { Asked } from '../trust/scan/ask.ts';
import type { Scanned } from '../trust/scan/scan.ts';
import type { Json, JsonObject, Surface } from '../types.ts';

export interface Entry {
  id: string;
  /** `malicious`, `benign`; every other one is not scored. */
  label: string;
  category: string;
  /** `definition`, `cross_server`, `result`, `behaviour`. */
  from: string;
  /** The server that says it, what it says in a result, or what it asks of a person. */
  content: { server: Scanned } | { text: string } | { ask: Asked };
  /** Other servers that it is made for. */
  peers: Scanned[];
}

export interface CorpusSet {
  name: string;
  entries: Entry[];
  /** Entries of shapes that no scan of definitions reads. */
  unread: number;
}

export interface ScanCorpus {
  benign: Scanned[];
  sets: CorpusSet[];
  /** Files left aside, with the reason. */
  skipped: { file: string; reason: string }[];
}

const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 20_000;

/** @throws MidspanError `usage` when the folder holds neither kind of file. */
export async function readScanCorpus(folder: string): Promise<ScanCorpus> {
  const skipped: ScanCorpus['skipped'] = [];
  const benign: Scanned[] = [];
  const sets: CorpusSet[] = [];
  for await (const { name, value } of jsonFiles(path.join(folder, 'benign'), skipped))
    benign.push({ label: name, surface: capturedSurface(value) });
  for await (const { name, value } of jsonFiles(path.join(folder, 'poisoned'), skipped))
    sets.push(setOf(name, value));
  if (benign.length === 0 && sets.length === 0) {
    throw new MidspanError({
      code: 'usage',
      what: `${folder} holds no definitions to scan${skipped.length > 0 ? `: ${skipped[0]!.file}: ${skipped[0]!.reason}` : ''}`,
      next: 'Give a folder with benign/*.json, poisoned/*.json or both',
    });
  }
  return { benign, sets, skipped };
}

async function* jsonFiles(
  folder: string,
  skipped: ScanCorpus['skipped'],
): AsyncGenerator<{ name: string; value: JsonObject }> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.json')).sort();
  for (const [index, file] of files.entries()) {
    const at = path.join(folder, file);
    try {
      if (index >= MAX_FILES) throw new Error(`more than ${MAX_FILES} files`);
      if ((await stat(at)).size > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`);
      const value = JSON.parse(await readFile(at, 'utf8')) as Json;
      if (!isObject(value)) throw new Error('not a JSON object');
      yield { name: file.slice(0, -'.json'.length), value };
    } catch (error) {
      skipped.push({ file: at, reason: messageOf(error) });
    }
  }
}

/** What a server answered to `initialize` and to the lists. */
function capturedSurface(value: JsonObject): Surface {
  const { initialize, tools, prompts, resources, resourceTemplates } = value;
  const said = isObject(initialize) ? initialize : {};
  return {
    serverInfo: isObject(said['serverInfo']) ? said['serverInfo'] : {},
    ...(typeof said['instructions'] === 'string' && { instructions: said['instructions'] }),
    tools: objects(tools),
    prompts: objects(prompts),
    resources: objects(resources),
    templates: objects(resourceTemplates),
  };
}

function setOf(name: string, { entries }: JsonObject): CorpusSet {
  const read = objects(entries)
    .slice(0, MAX_ENTRIES)
    .map((entry, at) => entryOf(entry, `${name}/${at}`));
  const known = read.filter((entry) => entry !== undefined);
  return { name, entries: known, unread: read.length - known.length };
}

function entryOf(entry: JsonObject, fallback: string): Entry | undefined {
  const id = text(entry['id']) ?? fallback;
  const label = text(entry['server']) ?? 'scanned';
  const content = contentOf(entry, label);
  if (content === undefined) return undefined;
  return {
    id,
    label: text(entry['label']) ?? '',
    category: text(entry['category']) ?? '',
    from: 'text' in content ? 'result' : (text(entry['detectableFrom']) ?? 'definition'),
    content,
    peers: objects(entry['peers']).flatMap((peer, at) =>
      isObject(peer['tool']) ? [one(text(peer['server']) ?? `peer-${at}`, { tools: [peer['tool']] })] : [],
    ),
  };
}

const one = (label: string, surface: Partial<Surface>): Scanned => ({
  label,
  surface: { serverInfo: {}, ...surface },
});

function contentOf(entry: JsonObject, label: string): Entry['content'] | undefined {
  const { tool, prompt, resource, resourceTemplate, server, frame } = entry;
  if (isObject(tool)) return { server: one(label, { tools: [tool] }) };
  if (isObject(prompt)) return { server: one(label, { prompts: [prompt] }) };
  if (isObject(resource)) return { server: one(label, { resources: [resource] }) };
  if (isObject(resourceTemplate)) return { server: one(label, { templates: [resourceTemplate] }) };
  if (isObject(server))
    return { server: { label: 'scanned', surface: capturedSurface({ ...server, initialize: server }) } };
  if (typeof entry['text'] === 'string') return { text: entry['text'] };
  return isObject(frame) ? frameContent(frame, label) : undefined;
}

/** A JSON-RPC message: a list of definitions, a handshake, a question to a person, or a result or error with text. */
function frameContent(
  { method, params, result, error }: JsonObject,
  label: string,
): Entry['content'] | undefined {
  if (isObject(error)) return typeof error['message'] === 'string' ? { text: error['message'] } : undefined;
  if (method === 'elicitation/create' && isObject(params)) return askContent(params);
  if (!isObject(result)) return undefined;
  const { tools, prompts, resources, resourceTemplates, content, contents, messages, serverInfo } = result;
  if ([tools, prompts, resources, resourceTemplates].some(Array.isArray) || isObject(serverInfo))
    return { server: { label, surface: capturedSurface({ ...result, initialize: result }) } };
  const said = objects(messages).flatMap((message) =>
    isObject(message['content']) ? [message['content']] : [],
  );
  const blocks = [...objects(content), ...objects(contents), ...said];
  const texts = blocks.flatMap((block) => text(block['text']) ?? []);
  return texts.length > 0 ? { text: texts.join('\n') } : undefined;
}

function askContent({ message, url, requestedSchema }: JsonObject): Entry['content'] | undefined {
  const words = text(message) ?? '';
  if (typeof url === 'string') return { ask: { kind: 'url', message: words, url } };
  return isObject(requestedSchema)
    ? { ask: { kind: 'form', message: words, schema: requestedSchema } }
    : undefined;
}

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
