// Sums up the JSON reports of Vitest in a folder: prints the slowest files, the names of failed tests and
// `N passed, N failed`.
// A file that could not be loaded counts as one failure. The results in `NAME.again.json` replace those of the
// same files in `NAME.json`; the first failures are printed too. With `--failed` it prints the failed files of
// one report, if they are few enough for a second try.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const mostAgain = 3;
const slowest = 15;

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const isFailed = ({ status }) => status === 'failed';

const [first, second] = process.argv.slice(2);
if (first === '--failed') {
  const files = existsSync(second) ? read(second).testResults.filter(isFailed) : [];
  if (files.length <= mostAgain) for (const { name } of files) console.log(relative(process.cwd(), name));
} else {
  let passed = 0;
  let failed = 0;
  for (const name of readdirSync(first).filter((name) => !name.endsWith('.again.json'))) {
    const path = join(first, name.replace(/\.json$/, '.again.json'));
    const again = new Map(existsSync(path) ? read(path).testResults.map((file) => [file.name, file]) : []);
    const report = read(join(first, name)).testResults;
    printSlowest(name, report);
    for (const tried of report) {
      const file = again.get(tried.name) ?? tried;
      const tests = file.assertionResults;
      passed += tests.filter(({ status }) => status === 'passed').length;
      failed += Math.max(tests.filter(isFailed).length, isFailed(file) ? 1 : 0);
      if (file !== tried && !isFailed(file)) printTests('passed only at the second try in', name, tried);
      if (isFailed(file)) printTests('failed in', name, file);
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
}

function printSlowest(report, files) {
  const seconds = files.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }));
  const shown = seconds.sort((a, b) => b.seconds - a.seconds).slice(0, slowest);
  console.log(`slowest in ${report}:`);
  for (const { name, seconds } of shown) console.log(`  ${seconds.toFixed(1)} s ${relative(process.cwd(), name)}`);
}

function printTests(what, report, { name, assertionResults }) {
  console.log(`${what} ${report}: ${name}`);
  for (const test of assertionResults.filter(isFailed)) console.log(`  ${test.fullName}`);
}
