/**
 * JSON Schema for providers: lowering with its inverse, and guarded validation. Pure: no `node:` module, no network.
 */
export type { Lowered, Profile } from './lower.ts';
export { lower } from './lower.ts';
export type { Verdict } from './validate.ts';
export { validate } from './validate.ts';
