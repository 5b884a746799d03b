// Files share the process and the modules of their worker: loading the house anew for each costs a second a file, a third of
// the whole. Those that change modules for themselves, or measure the process, have one of their own.
import { defineConfig } from 'vitest/config';

const alone = [
  // It replaces node:async_hooks.
  'test/sql/watched-statements.test.ts',
];
const never = ['test/**/*.long.test.ts', 'node_modules/**'];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: [...never, ...alone], isolate: false },
      },
      { extends: true, test: { name: 'alone', include: alone, exclude: never, isolate: true } },
    ],
  },
});
