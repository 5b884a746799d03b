// The served environment, identified by its secret. Knowledge of the secret authenticates as the environment. The
// operator or the application sets it. Otherwise it is generated once and stored encrypted; `portico cloud secret`
// reads it.
import { fail } from '../core/errors.ts';
import { randomToken, sameText, sign } from '../core/secret.ts';
import type { Store } from '../store/store.ts';

export interface Environment {
  /** Binds the environment to this secret if it has none yet. Throws CONFIGURATION if it already has another secret. */
  claim(): Promise<void>;
  /** The newest first. Empty if another process has a configured secret and this one does not. */
  secrets(): Promise<readonly string[]>;
}

const ENVIRONMENT = 'environment';
const madeSecrets = 'environment-secret';

/** `given`: the secret from the operator or the application. */
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
