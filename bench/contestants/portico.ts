// Portico as shipped, with one user, over the given database; prints its address.

import { loadConfig } from '../../src/core/config.ts';
import { createApp } from '../../src/server/create-server.ts';
import { account } from '../account.ts';
import { tellUsage } from './usage.ts';

tellUsage();
const app = createApp(loadConfig({ env: process.env }), { version: '0.0.0-bench' });
const { address, store } = await app.start();
if ((await store.identity.countUsers()) === 0) await store.identity.addUser({ ...account, level: 'admin' });
console.log(`listening ${address}`);
process.once('SIGTERM', () => app.stop('SIGTERM').then(() => process.exit(0)));
