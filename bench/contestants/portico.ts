// Portico as it is shipped, with one user, over the database that is named; prints where it listens.
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/core/config.ts';
import { account } from '../client.ts';

const app = createApp(loadConfig({ env: process.env }), { version: '0.0.0-bench' });
const { address, store, engine } = await app.start();
if ((await store.identity.countUsers()) === 0) {
  const user = await store.identity.addUser({ ...account, level: 'admin' });
  const access = await store.permissions.accessOf(user.id);
  const plan = await engine.explain(access!, JSON.parse(process.env.BENCH_REQUEST!));
  console.log(`sql ${JSON.stringify(plan.slice(plan.indexOf('  sql\n') + 6).trim())}`);
}
console.log(`listening ${address}`);
process.once('SIGTERM', () => app.stop('SIGTERM').then(() => process.exit(0)));
