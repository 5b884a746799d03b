// An agent in a process of its own that restarts every 200 ms for as long as it is told to, and tells what it holds.
// Arguments: the served database, and a folder with the storage. Messages: `restart`, and `measure`, which ends that.
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/core/clock.ts';
import { createAgent, createSqlDataSource } from '../../src/index.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { secrets } from './agent.ts';

const PERIOD_MS = 200;
/** What was replaced is closed after the last call on it; nobody calls when this begins. */
const SETTLE_MS = 500;
/** Connections that clients keep for a next request are closed by then; those of the sign-in were theirs. */
const KEPT_MS = 8000;
const [, , database, folder] = process.argv;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let generation = 0;
const agent = createAgent({
  ...secrets,
  schemaPath: join(folder!, 'schema.json'),
  loggerLevel: 'Error',
  settings: { dataDir: folder!, agentOrigins: [frontOrigin], requestsPerMinute: 0 },
})
  .addDataSource(createSqlDataSource(database!))
  .customizeCollection('customers', (customers) => {
    customers
      .addField(`generation${generation++}`, {
        columnType: 'Number',
        dependencies: ['id'],
        getValues: (all) => all.map(() => 1),
      })
      .addHook('Before', 'List', () => systemClock.sleep(1))
      .addAction('Greet', { scope: 'Global', execute: (_context, result) => result.success('Hello') })
      .addSegment('All', async ({ collection }) => {
        const [first] = await collection('customers').list({}, ['id']);
        return { field: 'id', operator: 'Equal', value: first?.id };
      });
  })
  .mountAiMcpServer()
  .mountOnStandaloneServer(0);
const { server } = await agent.start();

let isRestarting = false;
let work: Promise<unknown> = Promise.resolve();
async function keepRestarting(): Promise<void> {
  while (isRestarting) {
    const from = systemClock.monotonic();
    await agent.restart();
    await systemClock.sleep(Math.max(0, PERIOD_MS - (systemClock.monotonic() - from)));
  }
}

async function measure(): Promise<void> {
  isRestarting = false;
  await work;
  await systemClock.sleep(SETTLE_MS);
  const until = systemClock.monotonic() + KEPT_MS;
  while (process.getActiveResourcesInfo().includes('TCPSocketWrap') && systemClock.monotonic() < until)
    await systemClock.sleep(50);
  for (let round = 0; round < 3; round++) {
    collect();
    await systemClock.sleep(20);
  }
  const handles = process.getActiveResourcesInfo().sort();
  process.send!({ heapBytes: process.memoryUsage().heapUsed, handles, restarts: generation - 1 });
}

process.on('message', (what) => {
  if (what === 'measure') void measure();
  else {
    isRestarting = true;
    work = keepRestarting();
  }
});
process.send!(server);
