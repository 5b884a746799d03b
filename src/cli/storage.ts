import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createLogListener, createObserver } from '../core/observe.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** The storage for the time of one command; a server may run on it meanwhile. */
export async function withStore(config: Config, run: (store: Store) => Promise<void>): Promise<void> {
  // What is there would be another storage than the one that is served.
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
