// npm run conformance: writes docs/conformance.md. With --check it only compares, and fails if the page is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { documentPath, findOffences, makeDocument } from './document.ts';

const offences = findOffences();
if (!process.argv.includes('--check')) writeFileSync(documentPath, makeDocument());
else if (readFileSync(documentPath, 'utf8') !== makeDocument())
  offences.push(`${documentPath} is old: npm run conformance`);
for (const offence of offences) console.error(offence);
process.exitCode = offences.length > 0 ? 1 : 0;
