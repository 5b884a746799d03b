// oidc-provider runs each request within an AsyncLocalStorage of its own. From the first run on, Node before 24 follows
// every promise of the process, which costs a call of /mcp 5 to 10 % of its processor time though nobody signs in any more
// (bench/RESULTS.md). So the storage is disabled, as Node documents it, whenever no request is within the provider; the
// next request enables it by itself. All providers of a process share the storage, and so they share the count.
import type { AsyncLocalStorage } from 'node:async_hooks';

/** No public path leads to it. Where a later version of the package has none, nothing is disabled. */
const place = 'oidc-provider/lib/helpers/als.js';

let underWay = 0;
let storage: Promise<AsyncLocalStorage<unknown> | undefined> | undefined;

/** Runs what asks the provider. */
export async function withinProvider<T>(run: () => Promise<T>): Promise<T> {
  underWay++;
  try {
    return await run();
  } finally {
    underWay--;
    storage ??= import(place).then(
      (found: { readonly default?: AsyncLocalStorage<unknown> }) => found.default,
      () => undefined,
    );
    const found = await storage;
    if (underWay === 0) found?.disable();
  }
}
