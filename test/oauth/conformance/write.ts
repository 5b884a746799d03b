// npm run conformance: prints the requirements of each standard with their tests, as Markdown. Fails if the tables have
// a case twice.
import { findOffences, makeDocument } from './document.ts';

console.log(makeDocument());
const offences = findOffences();
for (const offence of offences) console.error(offence);
process.exitCode = offences.length > 0 ? 1 : 0;
