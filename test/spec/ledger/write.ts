// npm run ledger: prints the rows with their tests, as Markdown, and the problems of the ledger.
import { makeDocument } from './document.ts';
import { judgeLedger } from './judge.ts';
import { openRunner } from './runner.ts';

const runner = await openRunner();
console.log(makeDocument(runner.tests));
for (const offence of judgeLedger(runner.tests)) console.error(offence);
await runner.close();
