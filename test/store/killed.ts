// A process that fills the activity log until it is killed: it records reads at a steady rate,
// and begins and completes writes. It reports each step to its parent in order: a recorded read,
// a write with its mark stored, a completed write. A message sent before the kill still arrives.
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createActivityLog } from '../../src/store/audit/activity.ts';
import { createActivityRows } from '../../src/store/audit/activity-rows.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { openStore } from '../../src/store/open.ts';
import { type KilledTold, type KilledWish, TICK_MS } from './killed-words.ts';

const { env, clientId, reads, writes } = JSON.parse(process.argv[2]!) as KilledWish;
const tell = (told: KilledTold): void => void process.send?.(told);
const observe = (one: Observation): void => {
  if (one.type === 'warning') tell({ warning: `${one.message} ${one.cause ?? ''}` });
};
const config = loadConfig({ env });
const store = await openStore({ config, observe, clock: systemClock });
const { environmentId } = await store.identity.place();
const database = openDatabase({ url: config.storageUrl, dataDir: config.dataDir, sqlite: 'auto' });
const rows = createActivityRows(database, async () => ({ environmentId }));
const timed = {
  ...rows,
  async insertAll(entries: readonly ActivityEntry[]) {
    tell({ batch: 'begins', at: Date.now() });
    await rows.insertAll(entries);
    tell({ batch: 'ends', at: Date.now() });
  },
};
const log = createActivityLog(timed, observe, systemClock);
const common = { userId: 1, renderingId: 1, clientId, clientName: 'Claude', collection: 'orders' } as const;

async function write(n: number): Promise<void> {
  const intent = await log.begin({ ...common, action: `write ${n}`, type: 'write', startedAt: Date.now() });
  tell({ begun: n });
  await intent.complete({ outcome: 'completed', recordIds: [`${n}`] });
  tell({ completed: n });
}

tell({ ready: true });
const began = performance.now();
let [read, written] = [0, 0];
setInterval(() => {
  const [first, seconds] = [read, (performance.now() - began) / 1000];
  const at = Date.now();
  for (; read < seconds * reads; read++) {
    log.record({
      ...{ ...common, action: `read ${read}`, type: 'read', outcome: 'completed', startedAt: at, durationMs: 1 },
      ...(read % 5 === 0 && { recordIds: [`${read}`] }),
    });
  }
  if (read > first) tell({ reads: [first, read - 1], at });
  for (; written < seconds * writes; written++) void write(written);
}, TICK_MS);
