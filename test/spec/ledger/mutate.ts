// npm run ledger:mutate [-- --sample 30 --seed 7] [row ...]: checks that the ledger is complete, and that the tests
// of each row pass, and fail with its behavior switched off. Prints a line for each failure, and then exits with 1.
// With --alone it switches nothing off, and runs each test without the others of its file, as a sample may do.
import { parseArgs } from 'node:util';
import { createRandom } from '../../agent/oracle/random.ts';
import { decisions } from './decisions.ts';
import { judgeLedger } from './judge.ts';
import { mutations } from './mutations.ts';
import { type Row, rows } from './rows.ts';
import { type Mutation, type Outcome, openRunner, type SpecRunner, type SpecTest, testsOf } from './runner.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string' }, alone: { type: 'boolean' } },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const chosen = choose(
  rows.filter(
    ({ id }) => mutations.has(id) && (positionals.length === 0 || positionals.some((part) => id.includes(part))),
  ),
);

const elsewhere = chosen.flatMap(({ proofs }) => proofs.map(({ file }) => file));
const runner = await openRunner([...new Set(elsewhere)]);
const broken = [...judgeLedger(runner.tests), ...(await judgeItself(runner)), ...(await judgeGreen(runner))];
for (const offence of broken) console.log(offence);
const silent = new Set(values.alone ? await judgeAlone(runner) : await judgeRed(runner));
await runner.close();
const verb = values.alone ? 'pass alone' : 'notice when they are switched off';
console.log(`${chosen.length - silent.size} of ${chosen.length} rows ${verb}; seed ${seed}`);
process.exitCode = broken.length + silent.size === 0 && chosen.length > 0 ? 0 : 1;

function choose(all: readonly Row[]): readonly Row[] {
  if (values.sample === undefined) return all;
  const count = Number(values.sample);
  return createRandom(seed).some(all, count, count);
}

async function judgeGreen({ tests, run }: SpecRunner): Promise<string[]> {
  const needed = new Set(chosen.flatMap((row) => firstTestsOf(row, tests)));
  const { passed, failed, failures, errors } = await run([...needed]);
  if (passed === needed.size) return [];
  const reasons = [...failures, ...errors].join('; ');
  return [`${failed} of ${needed.size} tests fail before anything is switched off: ${reasons}`];
}

/** The rows with a test that fails when the other tests of its file do not run before it. */
async function judgeAlone({ tests, run }: SpecRunner): Promise<string[]> {
  const found: string[] = [];
  for (const row of chosen) {
    for (const test of firstTestsOf(row, tests)) {
      const { passed, failures, errors } = await run([test]);
      if (passed === 1) continue;
      console.log(`${row.id}: ${[...failures, ...errors].join('; ')}`);
      found.push(row.id);
    }
  }
  return found;
}

async function judgeRed(runner: SpecRunner): Promise<string[]> {
  const found: string[] = [];
  for (const row of chosen) {
    for (const mutation of mutations.get(row.id)!) {
      const problem = await judgeMutation(row, mutation, runner);
      if (!problem) continue;
      // Printed at once, because a whole run takes minutes.
      console.log(`${row.id}: '${mutation.text}' into '${mutation.into}': ${problem}`);
      found.push(row.id);
    }
  }
  return found;
}

/** The tests of the section, or the titles of a decision, which notice nearly all mutations. */
function firstTestsOf(row: Row, tests: readonly SpecTest[]): SpecTest[] {
  return testsOf({ ...row, proofs: decisions.get(row.name) ?? [] }, tests);
}

/** Proofs of other files run only if the tests of the section notice nothing. */
async function judgeMutation(row: Row, mutation: Mutation, { tests, run }: SpecRunner): Promise<string | undefined> {
  const first = firstTestsOf(row, tests);
  const problem = problemOf(await run(first, mutation));
  const others = testsOf(row, tests).filter((test) => !first.includes(test));
  if (!problem || others.length === 0) return problem;
  const { failures, errors } = await run(others);
  const reasons = [...failures, ...errors];
  if (reasons.length > 0) return `its proofs fail before anything is switched off: ${reasons.join('; ')}`;
  return problemOf(await run(others, mutation));
}

function problemOf({ failed, errors, isSwapped }: Outcome): string | undefined {
  if (!isSwapped) return 'its tests never read the place, or it is not there';
  const unreadable = errors.find((error) => /^Error \[?TransformError|Transform failed|SyntaxError/.test(error));
  if (unreadable) return `its tests could not run: ${unreadable}`;
  // If the agent of a file no longer starts, all tests of the file fail.
  return failed + errors.length === 0 ? 'its tests do not notice' : undefined;
}

/** Checks that this tool detects mutations that are missing, change nothing or do not compile. */
async function judgeItself({ tests, run }: SpecRunner): Promise<string[]> {
  const row = rows.find(({ id }) => id === '2.3 · result builder · redirectTo')!;
  const { file, text, into } = mutations.get(row.id)![0]!;
  const tried: readonly (readonly [text: string, into: string, verdict: RegExp])[] = [
    [text, into, /^undefined$/],
    [`${text}, nowhere`, into, /never read/],
    [text, `${text} `, /do not notice/],
    [text, `${text}: oh`, /could not run/],
  ];
  const found: string[] = [];
  for (const [text, into, verdict] of tried) {
    const problem = String(problemOf(await run(testsOf(row, tests), { file, text, into })));
    if (!verdict.test(problem)) found.push(`This tool is broken: '${into}' gave '${problem}'`);
  }
  return found;
}
