// `npm run eval`: runs the forty tasks of the demo shop, with tokens counted by o200k_base.
import { readFileSync } from 'node:fs';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { loadConfig } from '../src/core/config.ts';
import { evaluate } from './kit/command.ts';
import { composeReport, hasFailed } from './kit/report.ts';
import { evaluation } from './shop.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const report = await evaluate(loadConfig(), evaluation, { version, count: countTokens });
process.stdout.write(composeReport(report, 'o200k'));
process.exit(hasFailed(report) ? 1 : 0);
