import type { Serving } from './serving.ts';

export function servingLegacy(_version: string): Serving {
  throw new Error('CONTRACT');
}
