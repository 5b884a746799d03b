// An agent in its own process that restarts every 200 ms until it is asked to stop, and reports the resources it holds.
// Arguments: the served database, and a folder with the storage. Messages: `restart`, and `measure`, which ends the
// restarts.
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/core/clock.ts';
import { createAgent, createSqlDataSource } from '../../src/index.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { secrets } from './agent.ts';

const PERIOD_MS = 200;
/** A replaced engine closes after its last call. No calls run when this wait begins. */
const SETTLE_MS = 500;
/** Keep-alive connections of clients, such as those of the sign-in, are closed by then. */
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
