// npm run ledger: writes docs/spec-coverage.md. With --check it writes nothing, and prints what is wrong as a JSON array.
import { readFileSync, writeFileSync } from 'node:fs';
import { documentPath, makeDocument } from './document.ts';
import { judgeLedger } from './judge.ts';
import { openRunner } from './runner.ts';

const runner = await openRunner();
const text = makeDocument(runner.tests);
const isCheck = process.argv.includes('--check');
if (!isCheck) writeFileSync(documentPath, text);
const offences = judgeLedger(runner.tests);
if (readFileSync(documentPath, 'utf8') !== text) offences.push(`${documentPath} is old: npm run ledger`);
console.log(isCheck ? JSON.stringify(offences) : offences.join('\n'));
await runner.close();
