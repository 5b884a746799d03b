// Asks the tool `aggregate` by hand, and goes on after a wrong answer:
//   npx tsx test/agent/analysis-oracle/run.ts <seed> <worlds> <questions> [sqlite,mariadb,postgres]
import { servers } from '../../databases.ts';
import { judgeAnalysis } from './judge.ts';
import { createTally, showTally } from './sides.ts';

const [seed = '1', worlds = '10', questions = '50', wanted = 'sqlite,mariadb,postgres'] = process.argv.slice(2);
const chosen = servers.filter(({ dialect }) => wanted.split(',').includes(dialect));
const tally = createTally();
for (let world = Number(seed); world < Number(seed) + Number(worlds); world++) {
  const said = await judgeAnalysis(world, Number(questions), chosen, tally).then(
    () => 'as expected',
    (cause: unknown) => `WRONG: ${cause instanceof Error ? cause.message.slice(0, 6000) : cause}`,
  );
  console.log(`world ${world}: ${said}`);
}
console.log(showTally(tally));
process.exit(0);
