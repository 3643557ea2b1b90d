/**
 * The form of a lock file, version 1, as JSON Schemas for its parts: a check is bounded in its steps, and a file may hold
 * thousands of items.
 */
import type { JsonObject } from '../../types.ts';

const digest = { type: 'string', minLength: 51, maxLength: 51 };
const text = { type: 'string' };
const texts = { type: 'array', items: text };
const accepted = {
  type: 'array',
  items: {
    type: 'object',
    properties: { rule: text, pointer: text, reason: text, by: text },
    required: ['rule', 'pointer'],
    additionalProperties: false,
  },
};
export const ITEM_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    digest,
    facets: { type: 'object', additionalProperties: digest },
    definition: { type: 'object' },
    labels: { type: 'array', items: { enum: ['reads', 'untrusted', 'private', 'sends', 'destroys'] } },
    accepted,
    variants: { type: 'array', items: digest },
    volatile: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          pointer: text,
          placeholder: { enum: ['{os}', '{date}', '{datetime}', '{int}', '{semver}', '{uuid}'] },
        },
        required: ['pointer', 'placeholder'],
        additionalProperties: false,
      },
    },
  },
  required: ['digest', 'facets', 'definition'],
  additionalProperties: false,
};
const items = { type: 'object' };
const identity = {
  type: 'object',
  properties: {
    transport: { enum: ['stdio', 'http', 'sse'] },
    argv: texts,
    cwd: text,
    env: texts,
    url: text,
    headers: texts,
    issuer: text,
    package: {
      type: 'object',
      properties: { ecosystem: { const: 'npm' }, name: text, version: text, integrity: text },
      required: ['ecosystem', 'name'],
      additionalProperties: false,
    },
    digest,
  },
  required: ['transport', 'digest'],
  additionalProperties: false,
};

export const SERVER_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    identity,
    serverInfo: { type: 'object' },
    instructions: {
      type: 'object',
      properties: { text, digest, accepted },
      required: ['text', 'digest'],
      additionalProperties: false,
    },
    tools: items,
    prompts: items,
    resources: items,
    templates: items,
    reviewed: {
      type: 'object',
      properties: { at: text, how: { enum: ['review', 'yes'] }, by: text },
      required: ['at', 'how'],
      additionalProperties: false,
    },
  },
  required: ['identity', 'serverInfo', 'tools', 'prompts', 'resources', 'templates', 'reviewed'],
  additionalProperties: false,
};

export const LOCK_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    lockfileVersion: { const: 1 },
    pin: { const: 'midspan-pin/1' },
    ruleset: text,
    servers: { type: 'object' },
  },
  required: ['lockfileVersion', 'pin', 'ruleset', 'servers'],
  additionalProperties: false,
};
