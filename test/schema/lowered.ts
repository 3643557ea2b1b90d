import { expect } from 'vitest';
import { lower } from '../../src/schema/index.ts';
import type { Lowered, Profile } from '../../src/schema/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { check } from './profiles.ts';

/** Lowers, and demands what holds for every schema: accepted, stable, repeatable, the input untouched. */
export function loweredBy(profile: Profile, schema: JsonObject): Lowered {
  const before = JSON.stringify(schema);
  const lowered = lower(schema, profile);
  if ('failed' in lowered) throw new Error(`${profile} failed: ${lowered.failed}`);
  expect(JSON.stringify(schema)).toBe(before);
  expect(check(profile, lowered.schema)).toEqual([]);
  const again = lower(lowered.schema, profile);
  if ('failed' in again) throw new Error(`${profile} failed the second time: ${again.failed}`);
  expect(JSON.stringify(again.schema)).toBe(JSON.stringify(lowered.schema));
  expect(JSON.stringify(lower(structuredClone(schema), profile))).toBe(JSON.stringify(lowered));
  return lowered;
}

/** Why a profile does not carry a schema. */
export function failureOf(profile: Profile, schema: JsonObject): string {
  const lowered = lower(schema, profile);
  if (!('failed' in lowered)) throw new Error(`${profile} carried it: ${JSON.stringify(lowered.schema)}`);
  return lowered.failed;
}
