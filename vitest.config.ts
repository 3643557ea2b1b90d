import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A guard against hanging, far above what anything takes on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 10_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
