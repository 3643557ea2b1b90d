/**
 * The endpoints of Anthropic, OpenAI and Gemini that count the tokens of a request, emulated on one address: a made-up
 * tokenizer of four characters a token, and a constant that comes with the first tool.
 */
import type { Json, JsonObject } from '../../src/types.ts';
import { check } from '../schema/profiles.ts';
import { openaiError } from './openai.ts';
import { type Emulator, isObject, Refusal, show, startEmulator } from './server.ts';

export const COUNTING_KEY = 'emulated-counting-key';
/** Tokens that come with the first tool, and of the rest of a request. */
export const OVERHEAD = 321;
const CONVERSATION = 8;

export const countOf = (tool: JsonObject): number => Math.ceil(JSON.stringify(tool).length / 4);

/** The tools of a request, one by one, after what each API checks of them. */
const APIS: Record<string, { members: string[]; tools(body: JsonObject): JsonObject[]; member: string }> = {
  '/v1/messages/count_tokens': {
    members: ['model', 'messages', 'tools'],
    member: 'input_tokens',
    tools: ({ tools }) => listOf(tools).map((tool) => checked(tool, 'anthropic', tool['input_schema'])),
  },
  '/v1/responses/input_tokens': {
    members: ['model', 'input', 'tools'],
    member: 'input_tokens',
    tools: ({ tools }) => listOf(tools).map((tool) => checked(tool, 'openai', tool['parameters'])),
  },
  countTokens: {
    members: ['generateContentRequest'],
    member: 'totalTokens',
    tools({ generateContentRequest: request }) {
      if (!isObject(request) || !show(request['model']).startsWith('models/'))
        return refuse('model is required');
      return listOf(request['tools'])
        .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
        .map((tool) => checked(tool, 'gemini-json-schema', tool['parametersJsonSchema']));
    },
  },
};

export function startCounting(options: { broken?: boolean } = {}): Promise<Emulator> {
  const apiOf = (path: string) =>
    APIS[path] ?? (path.endsWith(':countTokens') ? APIS['countTokens'] : undefined);
  return startEmulator(
    {
      key: COUNTING_KEY,
      maxBody: 32 * 1024 * 1024,
      serves: (method, path) => method === 'POST' && apiOf(path) !== undefined,
      authorize(headers, path) {
        const given = path.includes('countTokens')
          ? headers['x-goog-api-key']
          : /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
        if (given !== COUNTING_KEY) throw new Refusal(401, 'authentication_error', 'invalid key');
        if (path.includes('messages') && headers['anthropic-version'] === undefined) {
          refuse('anthropic-version: header is required');
        }
      },
      check({ path, body }) {
        const odd = Object.keys(body).find((name) => apiOf(path)?.members.includes(name) !== true);
        if (odd !== undefined) refuse(`${odd}: unknown member`);
        if (options.broken === true) throw new Refusal(404, 'not_found_error', 'there is no such endpoint');
      },
      streams: () => false,
      answer(_turn, { path, body }) {
        const api = apiOf(path);
        const tools = api?.tools(body) ?? [];
        const tokens = tools.reduce((sum, tool) => sum + countOf(tool), CONVERSATION);
        return { whole: { [api?.member ?? '']: tokens + (tools.length > 0 ? OVERHEAD : 0) }, events: [] };
      },
      errorBody: openaiError,
      errorEvent: (_type, message) => ({ data: message }),
      typeOfStatus: () => 'api_error',
    },
    () => ({}),
  );
}

function refuse(message: string): never {
  throw new Refusal(400, 'invalid_request_error', message);
}

const listOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

function checked(
  tool: JsonObject,
  profile: Parameters<typeof check>[0],
  schema: Json | undefined,
): JsonObject {
  const [problem] = isObject(schema) ? check(profile, schema) : ['there is no schema'];
  if (problem !== undefined) refuse(`${show(tool['name'])}: ${problem}`);
  return tool;
}
