// Another process with the same storage. It loads everything, sends 'ready', and runs the actions it receives.
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { randomToken } from '../../src/core/secret.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import type { ChildAnswer, ChildRequest } from './stores.ts';

const config = loadConfig({ env: JSON.parse(process.argv[2]!) });
const migrations: string[] = [];
let opened: Promise<OpenedStore> | undefined;

function open(): Promise<OpenedStore> {
  opened ??= openStore({
    config,
    clock: systemClock,
    observe: (one) => {
      if (one.type === 'store.migrated') migrations.push(...one.migrations);
    },
  });
  return opened;
}

const actions: Record<ChildRequest['do'], () => Promise<ChildAnswer>> = {
  async open() {
    await open();
    return { migrations };
  },
  async key() {
    const keys = await (await open()).keys.of('test', () => randomToken());
    return { keys: keys.map(({ id, value }) => `${id} ${value}`) };
  },
  async begin() {
    const store = await open();
    await store.activity.begin({
      userId: 1,
      renderingId: 1,
      clientId: 'c',
      clientName: 'C',
      action: 'update',
      type: 'write',
      startedAt: 1,
    });
    return {};
  },
  async claim() {
    const store = await open();
    const { state } = await store.idempotency.claim({
      userId: 1,
      clientId: 'c',
      tool: 'create',
      key: 'k',
      args: '{}',
      rights: '[]',
    });
    return { keys: [state] };
  },
};

process.on('message', async (request: ChildRequest) => {
  try {
    process.send!(await actions[request.do]());
  } catch (error) {
    process.send!({ error: (error as Error).message } satisfies ChildAnswer);
  }
});
process.send!('ready');
