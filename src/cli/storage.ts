import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createLogListener, createObserver } from '../core/observe.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** Opens the storage for one command. A server can use it at the same time. */
export async function withStore(config: Config, run: (store: Store) => Promise<void>): Promise<void> {
  // The local storage is not the one that the server uses.
  if (config.serverUrl !== null)
    fail('CONFIGURATION', {
      problem: `SERVICE_SERVER_URL: ${config.serverUrl} keeps users, permissions and logs. Run this command there.`,
    });
  const observer = createObserver();
  observer.listen(createLogListener(config.logLevel));
  const store = await openStore({ config, observe: observer.observe, clock: systemClock });
  try {
    await run(store);
  } finally {
    await store.close();
  }
}
