// npx tsx bench/start.ts: the time from the start of the process (`portico start`, as built into dist) to its first
// response to a call, on an existing data folder and with the demo shop to seed, beside a bare handler over the same
// shop. Minimum, median and maximum of ten starts. bench/large.ts measures it on a large shop.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileContestants } from './driver.ts';
import { measureStarts, prepareBare, preparePortico } from './starts.ts';

const ROUNDS = 10;
const dataDir = mkdtempSync(join(tmpdir(), 'portico-start-'));
const demo = join(dataDir, 'demo.sqlite');

compileContestants();
const existing = await preparePortico(dataDir);
const seeding = { ...existing, name: 'Portico, seeding the demo shop', prepare: () => rmSync(demo) };
await measureStarts([prepareBare(`sqlite:${demo}`), existing, seeding], ROUNDS);
rmSync(dataDir, { recursive: true, force: true });
