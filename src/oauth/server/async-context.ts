// oidc-provider runs each request in an AsyncLocalStorage. After the first run, Node before version 24 tracks every
// promise of the process. That costs a call of /mcp 5 to 10 % of its CPU time, even without any sign-ins
// (bench/RESULTS.md). So the storage is disabled, as Node documents, whenever no request runs in the provider. The next
// request enables it automatically. All providers of a process share the storage, so they also share the counter.
import type { AsyncLocalStorage } from 'node:async_hooks';

/** An internal path of the package. If a later version has no such file, the storage is never disabled. */
const ALS_MODULE = 'oidc-provider/lib/helpers/als.js';

let runningCount = 0;
let storage: Promise<AsyncLocalStorage<unknown> | undefined> | undefined;

/** Runs code that calls the provider. */
export async function withinProvider<T>(run: () => Promise<T>): Promise<T> {
  runningCount++;
  try {
    return await run();
  } finally {
    runningCount--;
    storage ??= import(ALS_MODULE).then(
      (loadedModule: { readonly default?: AsyncLocalStorage<unknown> }) => loadedModule.default,
      () => undefined,
    );
    const asyncStorage = await storage;
    if (runningCount === 0) asyncStorage?.disable();
  }
}
