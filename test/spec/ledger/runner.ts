// Runs the tests of the specification in one Vitest, optionally with one text of a module of src/
// replaced by another. A Vite plugin swaps the module on load and writes no file. The files of
// one run share worker processes, which end with the run, so no run sees modules of another run.
import { basename, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { createVitest, type TestModule, type TestSpecification } from 'vitest/node';
import { quotes, type Row } from './rows.ts';

export interface SpecTest {
  readonly id: string;
  readonly section: string;
  /** Relative to the root of the package. */
  readonly file: string;
  /** Suites and title, joined by ' > '. */
  readonly title: string;
}

/** Switches a behavior off: `text` occurs exactly once in `file`. */
export interface Mutation {
  readonly file: string;
  readonly text: string;
  readonly into: string;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Title and first line of each failure. */
  readonly failures: readonly string[];
  /** Errors that prevented tests from running. */
  readonly errors: readonly string[];
  /** Whether the run loaded the swapped module; true without a mutation. */
  readonly isSwapped: boolean;
}

export interface SpecRunner {
  readonly tests: readonly SpecTest[];
  run(tests: readonly SpecTest[], mutation?: Mutation): Promise<Outcome>;
  close(): Promise<void>;
}

export const testsOf = (row: Row, tests: readonly SpecTest[]): SpecTest[] =>
  tests.filter(
    (test) =>
      (test.section === row.section && quotes(row, test.title)) ||
      row.proofs.some(
        ({ file, titles }) =>
          file === test.file && (titles.length === 0 || titles.some((title) => isOf(title, test.title))),
      ),
  );

/** Whether the name of a test ends with this title, which may be a template of `test.each`. */
function isOf(title: string, whole: string): boolean {
  const parts = title.split(/%[sdij]|\$\w+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(^| > | )${parts.join('.*')}$`).test(whole);
}

/** The number of occurrences of `text` in `whole`. */
export const timesIn = (whole: string, text: string): number => whole.split(text).length - 1;

const specFile = /^((?:api-)?[\d.]+)-[^/]*\.test\.ts$/;

/** `elsewhere`: test files outside test/spec. */
export async function openRunner(elsewhere: readonly string[] = []): Promise<SpecRunner> {
  const root = process.cwd();
  let current: (Mutation & { readonly path: string }) | undefined;
  let isSwapped = false;
  const vitest = await createVitest(
    'test',
    {
      root,
      // The config of npm test has several projects.
      config: false,
      pool: 'forks',
      // Vitest lists all files, and isolation would cost two seconds of CPU per file.
      isolate: false,
      maxWorkers: 2,
      testTimeout: 30_000,
      hookTimeout: 60_000,
      watch: false,
      reporters: [{}],
      include: ['test/spec/*-*.test.ts', ...elsewhere],
      update: 'none',
      bail: 0,
    },
    {
      plugins: [
        {
          name: 'swap-one-module',
          enforce: 'pre',
          transform(code, id) {
            const wanted = current;
            if (!wanted || id.split('?')[0] !== wanted.path || timesIn(code, wanted.text) !== 1) return null;
            isSwapped = true;
            return { code: code.replace(wanted.text, () => wanted.into), map: null };
          },
        },
      ],
    },
  );
  const { testModules, unhandledErrors } = await vitest.collect();
  const broken = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())];
  if (broken.length > 0) throw new Error(`The tests cannot be listed: ${messageOf(broken[0])}`);
  const modules = new Map<string, TestModule>();
  // Vitest orders files by its cache of earlier runs.
  const sorted = testModules.toSorted((a, b) => (a.relativeModuleId < b.relativeModuleId ? -1 : 1));
  const tests = sorted.flatMap((module) => {
    const [, section = 'elsewhere'] = specFile.exec(basename(module.moduleId)) ?? [];
    modules.set(module.relativeModuleId, module);
    return [...module.children.allTests()].map(
      ({ id, fullName }): SpecTest => ({
        id,
        section: section.replace('-', ' '),
        file: module.relativeModuleId,
        title: fullName,
      }),
    );
  });

  const specificationsOf = (asked: readonly SpecTest[]): TestSpecification[] =>
    [...new Set(asked.map(({ file }) => file))].map((file) => {
      const { project, moduleId } = modules.get(file)!;
      const testIds = asked.filter((test) => test.file === file).map(({ id }) => id);
      return project.createSpecification(moduleId, { testIds });
    });

  return {
    tests,
    async run(asked, mutation) {
      const path = mutation && resolve(root, mutation.file);
      current = path === undefined ? undefined : { ...mutation!, path };
      isSwapped = mutation === undefined;
      if (path !== undefined) vitest.invalidateFile(path);
      try {
        const result = await vitest.runTestSpecifications(specificationsOf(asked), false);
        const wanted = new Set(asked.map(({ id }) => id));
        // The result also contains modules of earlier runs.
        const files = new Set(asked.map(({ file }) => file));
        const ran = result.testModules.filter(({ relativeModuleId }) => files.has(relativeModuleId));
        const chosen = ran.flatMap((module) => [...module.children.allTests()]).filter(({ id }) => wanted.has(id));
        const states = chosen.map((test) => test.result().state);
        const broken = ran.flatMap((module) => [
          ...module.errors(),
          ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
        ]);
        return {
          passed: states.filter((state) => state === 'passed').length,
          failed: states.filter((state) => state === 'failed').length,
          failures: chosen
            .filter((test) => test.result().state === 'failed')
            .map((test) => `${test.fullName}: ${messageOf(test.result().errors?.[0])}`),
          errors: broken.map(messageOf),
          isSwapped,
        };
      } finally {
        current = undefined;
        if (path !== undefined) vitest.invalidateFile(path);
      }
    },
    close: () => vitest.close(),
  };
}

/** The first line, without colors. */
function messageOf(error: unknown): string {
  const text = error instanceof Object && 'message' in error ? String(error.message) : String(error);
  return stripVTControlCharacters(text).split('\n')[0]!;
}
