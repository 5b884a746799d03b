import { openEnvironment } from '../app/environment.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { withStore } from './storage.ts';

/** To standard output, by itself, so that it can be piped. CONFIGURATION where an application alone knows it. */
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
