/** What OpenAI's two APIs have in common: errors, keys, tools. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../../src/types.ts';
import type { Profile } from '../../src/schema/index.ts';
import { check } from '../schema/profiles.ts';
import { isObject, Refusal, show } from './server.ts';

export function refuse(message: string, code: string | null, param?: string): never {
  throw new Refusal(400, 'invalid_request_error', message, {
    ...(code !== null && { code }),
    ...(param !== undefined && { param }),
  });
}

export function openaiError({ message, type, param, code }: Refusal): JsonObject {
  return { error: { message, type, param, code } };
}

export function openaiTypeOfStatus(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

export function authorizeOpenai({ authorization }: IncomingHttpHeaders, key: string): void {
  if (authorization === undefined) {
    throw new Refusal(
      401,
      'invalid_request_error',
      "You didn't provide an API key. You need to provide your API key in an Authorization header.",
    );
  }
  const given = /^Bearer (.+)$/.exec(authorization)?.[1] ?? '';
  if (given !== key) {
    throw new Refusal(
      401,
      'invalid_request_error',
      `Incorrect API key provided: ${given}. You can find your API key at https://platform.openai.com/account/api-keys.`,
      {
        code: 'invalid_api_key',
      },
    );
  }
}

export function onlyKnown(value: JsonObject, path: string, members: readonly string[]): void {
  for (const name of Object.keys(value)) {
    const param = path === '' ? name : `${path}.${name}`;
    if (!members.includes(name)) refuse(`Unknown parameter: '${param}'.`, 'unknown_parameter', param);
  }
}

export function checkName(name: Json | undefined, param: string): string {
  if (name === undefined)
    return refuse(`Missing required parameter: '${param}'.`, 'missing_required_parameter', param);
  if (typeof name !== 'string' || name === '')
    return refuse(`Invalid '${param}': empty string.`, 'empty_string', param);
  if (name.length > 64) {
    refuse(
      `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
      'string_above_max_length',
      param,
    );
  }
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    refuse(
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      'invalid_value',
      param,
    );
  }
  return name;
}

/** The parameters of a function, by the rules of its mode. */
export function checkParameters(
  name: string,
  parameters: Json | undefined,
  strict: boolean,
  param: string,
): void {
  if (parameters === undefined || parameters === null) return;
  const wrong = (problem: string): never =>
    refuse(`Invalid schema for function '${name}': ${problem}`, 'invalid_function_parameters', param);
  if (!isObject(parameters)) return wrong(`${JSON.stringify(parameters)} is not of type 'object'.`);
  if (parameters.type !== 'object') {
    wrong(
      `schema must be a JSON Schema of 'type: "object"', got 'type: "${show(parameters.type ?? 'None')}"'.`,
    );
  }
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'not']) {
    if (parameters[keyword] !== undefined) {
      wrong(
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
      );
    }
  }
  if (!isObject(parameters.properties)) wrong('In context=(), object schema missing properties.');
  const profile: Profile = strict ? 'openai-strict' : 'openai';
  const [problem] = check(profile, parameters);
  if (problem !== undefined) wrong(problem);
}

export function checkCount(tools: readonly Json[], most: number): void {
  if (tools.length > most) {
    refuse(
      `Invalid 'tools': array too long. Expected an array with maximum length ${most}, but got an array with length ${tools.length} instead.`,
      'array_above_max_length',
      'tools',
    );
  }
}
