// npm run attack [-- --held | --switched-off] [--only part-of-an-id] [--on sqlite]: runs every attack against a started
// server, then again with its protection switched off. Exits with 1 if an attack succeeds, or if a switched-off
// protection makes no difference.
import { parseArgs } from 'node:util';
import { buildOnce } from '../cli/command.ts';
import { servers } from '../databases.ts';
import { attacks } from './all.ts';
import { isWrong, type Result, replayHeld, replaySwitchedOff } from './replay.ts';
import { notTried } from './web/all.ts';

const { values } = parseArgs({
  options: {
    held: { type: 'boolean' },
    'switched-off': { type: 'boolean' },
    only: { type: 'string', multiple: true },
    on: { type: 'string', multiple: true },
  },
});
const { only, on } = values;
const chosen = attacks.filter(({ id }) => !only || only.some((part) => id.includes(part)));
const makers = servers.filter(({ dialect }) => !on || on.includes(dialect));
const began = performance.now();
await buildOnce();

const results: Result[] = [];
async function show(title: string, made: AsyncGenerator<Result>): Promise<void> {
  console.log(`\n${title}`);
  for await (const one of made) {
    results.push(one);
    const { attack, dialect, state, evidence } = one;
    const mark = isWrong(one) ? '!' : ' ';
    console.log(`${mark} ${state.padEnd(11)} ${dialect.padEnd(8)} ${attack.finding.padEnd(10)} ${attack.id}`);
    console.log(`    ${evidence}`);
  }
}
if (!values['switched-off']) await show('The product as it is: held is expected.', replayHeld(chosen, makers));
if (!values.held)
  await show('One protection switched off at a time: open is expected.', replaySwitchedOff(chosen, makers));

const count = (state: string, dialect?: string) =>
  results.filter((one) => one.state === state && (!dialect || one.dialect === dialect)).length;
const states = [...new Set(results.map(({ state }) => state))];
console.log(`\n${chosen.length} attacks in ${Math.round((performance.now() - began) / 1000)} s`);
for (const { dialect } of makers)
  console.log(`  ${dialect.padEnd(8)} ${states.map((state) => `${count(state, dialect)} ${state}`).join(', ')}`);
for (const row of notTried) console.log(`not tried: ${row}`);
for (const { attack, dialect, state, evidence } of results.filter(isWrong))
  console.log(`WRONG: ${attack.id} on ${dialect}: ${state}: ${attack.title}. ${evidence}`);
process.exitCode = chosen.length === 0 || results.some(isWrong) ? 1 : 0;
