// The environment that is served, as its secret names it. Who knows the secret speaks for the environment: it is the
// operator's or the application's, or made once and kept sealed in the storage, where `portico cloud secret` reads it.
import { fail } from '../core/errors.ts';
import { randomToken, sameText, sign } from '../core/secret.ts';
import type { Store } from '../store/store.ts';

export interface Environment {
  /** Each environment of the storage belongs to the first that serves it. CONFIGURATION when it is another's. */
  claim(): Promise<void>;
  /** The newest first; none where another process was given the secret and this one was not. */
  secrets(): Promise<readonly string[]>;
}

const ENVIRONMENT = 'environment';
const madeSecrets = 'environment-secret';

/** `given`: by the operator or the application. */
export function openEnvironment(
  { settings, identity, keys }: Pick<Store, 'settings' | 'identity' | 'keys'>,
  given: string | undefined,
): Environment {
  const markKey = async (): Promise<string> => {
    const { environmentId } = await identity.place();
    return environmentId === 1 ? ENVIRONMENT : `${ENVIRONMENT}/${environmentId}`;
  };
  return {
    async claim() {
      if (given === undefined) return;
      const key = await markKey();
      const mark = sign(ENVIRONMENT, given);
      const known = await settings.get(key);
      if (known === undefined) await settings.set(key, mark);
      else if (!sameText(known, mark))
        fail('CONFIGURATION', {
          problem:
            'envSecret: the storage belongs to an environment with another secret. Give the secret of that environment, or another SERVICE_DATA_DIR or SERVICE_STORAGE_URL.',
        });
    },
    async secrets() {
      if (given !== undefined) return [given];
      const key = await markKey();
      if ((await settings.get(key)) !== undefined) return [];
      const { environmentId } = await identity.place();
      const purpose = environmentId === 1 ? madeSecrets : `${madeSecrets}/${environmentId}`;
      return (await keys.of(purpose, () => randomToken())).map(({ value }) => value);
    },
  };
}
