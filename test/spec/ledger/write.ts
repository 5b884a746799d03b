// npm run ledger: writes docs/spec-coverage.md. With --check it only prints the problems as a JSON array.
import { writeFileSync } from 'node:fs';
import { documentPath, findOffences, makeDocument } from './document.ts';
import { openRunner } from './runner.ts';

const runner = await openRunner();
const text = makeDocument(runner.tests);
const isCheck = process.argv.includes('--check');
if (!isCheck) writeFileSync(documentPath, text);
const offences = findOffences(runner.tests);
console.log(isCheck ? JSON.stringify(offences) : offences.join('\n'));
await runner.close();
