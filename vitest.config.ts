// Files share the process and the modules of their worker: to load everything for each of them costs a second a file, a third of
// the whole. Those that change modules for themselves have one of their own. Those that measure time run after the others,
// one at a time: what runs beside them would be measured as well.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const alone = [
  // It replaces node:async_hooks.
  'test/sql/watched-statements.test.ts',
];
const timed = [
  'test/api/promptness.test.ts',
  'test/app/{faults-at-commit,leaving,lost-database}.test.ts',
  'test/app/stall/stall.test.ts',
  'test/mcp/html-text.test.ts',
  'test/sql/{many-tables,stopping}.test.ts',
];
const never = ['test/**/*.long.test.ts', 'node_modules/**'];

/** What takes minutes by itself begins first; without figures of an earlier run Vitest begins with the largest file. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/test/spec/ledger.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/run.ts',
    // For what hangs, and not for what is slow: beside other work a machine takes ten times as long.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // What is waited for comes at once, and later where the machine is busy: a second, which is the default, is not enough.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // With three files at a time two cores are busy to 97 %.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...never, ...alone, ...timed],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone, exclude: never, isolate: true } },
      {
        extends: true,
        test: {
          name: 'timed',
          include: timed,
          exclude: never,
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
