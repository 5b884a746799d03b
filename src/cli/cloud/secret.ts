import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { openEnvironment } from '../../server/environment.ts';
import { withStore } from '../storage.ts';

/** Prints only the secret to standard output, for pipes. Throws CONFIGURATION if the storage has no copy of it. */
export async function printSecret(config: Config): Promise<void> {
  await withStore(config, async (store) => {
    const [secret] = await openEnvironment(store, config.envSecret ?? undefined).secrets();
    if (secret === undefined) {
      const problem =
        'The storage belongs to the environment of an application or a server that was given the secret: it is its envSecret, or SERVICE_ENV_SECRET. It is not kept here.';
      fail('CONFIGURATION', { problem });
    }
    process.stdout.write(`${secret}\n`);
  });
}
