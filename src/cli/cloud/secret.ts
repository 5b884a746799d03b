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
        'The storage belongs to an application or server with a secret of its own: use its envSecret, or SERVICE_ENV_SECRET. The secret is not stored here.';
      fail('CONFIGURATION', { problem });
    }
    process.stdout.write(`${secret}\n`);
  });
}
