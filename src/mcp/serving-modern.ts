import type { Serving } from './serving.ts';

export function servingModern(_version: string): Serving {
  throw new Error('CONTRACT');
}
