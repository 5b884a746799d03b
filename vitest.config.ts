// All tests, for `npm run test:all` and for single files. `npm test` uses vitest.quick.config.ts.
//
// Files share the process and the modules of their worker: loading everything again for each file takes a third of the time.
// Files that replace modules have a process of their own. Files that depend on the load of the machine run after the
// others, one at a time.
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const alone = [
  // It replaces node:async_hooks.
  'test/sql/watched-statements.test.ts',
];
const timed = [
  'test/app/{faults-at-commit,leaving,lost-database}.test.ts',
  'test/app/stall/stall.test.ts',
  'test/sql/stopping.test.ts',
];
const never = ['test/**/*.long.test.ts', 'node_modules/**'];

/** The file that takes minutes starts first. Without durations of an earlier run, Vitest starts with the largest file. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/test/spec/ledger.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** The suites of statements (agent, sql, defects) and of the storage use every database. These are above both. */
const above = [
  'test/app/**/!(databases).test.ts',
  'test/{api,attack,cli,clients,conformance,console,examples,hosts,mcp,oauth,platform,policy,rest,site,testing,workflow}/**/*.test.ts',
  // Not the ledger: some mutations of it are wrong on one database only.
  'test/spec/*-*.test.ts',
  'test/*.test.ts',
];

export interface Suite {
  readonly leftOut?: readonly string[] | undefined;
  /** The databases of the files in `above`, separated by commas; all by default. TEST_DATABASES overrides it. */
  readonly databasesAbove?: string | undefined;
}

export function configure({ leftOut = [], databasesAbove }: Suite): ViteUserConfig {
  const exclude = [...never, ...leftOut];
  const databases = process.env.TEST_DATABASES || databasesAbove || undefined;
  return defineConfig({
    test: {
      sequence: { sequencer: LongestFirst },
      globalSetup: 'test/run.ts',
      // Files of a worker share their globals.
      restoreMocks: true,
      unstubEnvs: true,
      unstubGlobals: true,
      // These limits are for hanging tests. Beside other work a machine can take ten times as long.
      testTimeout: 90_000,
      hookTimeout: 120_000,
      // The default of a second is too short on a busy machine.
      expect: { poll: { timeout: 20_000 } },
      pool: 'forks',
      // Three files at a time keep two cores busy to 97 %.
      maxWorkers: 3,
      projects: [
        {
          extends: true,
          test: {
            name: 'together',
            include: ['test/**/*.test.ts'],
            exclude: [...exclude, ...alone, ...timed, ...above],
            isolate: false,
          },
        },
        {
          extends: true,
          test: {
            name: 'above',
            include: above,
            exclude: [...exclude, ...timed],
            isolate: false,
            ...(databases !== undefined && { env: { TEST_DATABASES: databases } }),
          },
        },
        { extends: true, test: { name: 'alone', include: alone, exclude, isolate: true } },
        {
          extends: true,
          test: {
            name: 'timed',
            include: timed,
            exclude,
            isolate: false,
            maxWorkers: 1,
            sequence: { groupOrder: 1 },
          },
        },
      ],
    },
  });
}

export default configure({
  databasesAbove: process.env.TEST_DATABASES_ABOVE,
  // Globs, separated by spaces.
  leftOut: process.env.TEST_LEFT_OUT?.split(' '),
});
