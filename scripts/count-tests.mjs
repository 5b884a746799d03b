// Sums up the JSON reports of Vitest in a folder: prints `N passed, N failed`. A file that could not even be loaded has
// no tests to count, so it counts as one failure itself.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
let passed = 0;
let failed = 0;
for (const name of readdirSync(folder)) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  for (const { status, assertionResults } of report.testResults) {
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) failed += 1;
  }
}
console.log(`${passed} passed, ${failed} failed`);
