// The served environment, identified by its secret. Knowledge of the secret authenticates as the environment. The
// operator or the application sets it. Otherwise it is generated once and stored encrypted; `portico cloud secret`
// reads it.
import { fail } from '../core/errors.ts';
import { randomToken, sign, timingSafeEqualText } from '../core/secret.ts';
import type { Store } from '../store/store.ts';

interface Environment {
  /** Binds the environment to this secret if it has none yet. Throws CONFIGURATION if it already has another secret. */
  claim(): Promise<void>;
  /** The newest first. Empty if another process has a configured secret and this one does not. */
  secrets(): Promise<readonly string[]>;
}

const ENVIRONMENT = 'environment';
const generatedSecrets = 'environment-secret';

/** `given`: the secret from the operator or the application. */
export function openEnvironment(
  { settings, identity, keys }: Pick<Store, 'settings' | 'identity' | 'keys'>,
  configuredSecret: string | undefined,
): Environment {
  const readHashKey = async (): Promise<string> => {
    const { environmentId } = await identity.place();
    return environmentId === 1 ? ENVIRONMENT : `${ENVIRONMENT}/${environmentId}`;
  };
  return {
    async claim() {
      if (configuredSecret === undefined) return;
      const key = await readHashKey();
      const secretHash = sign(ENVIRONMENT, configuredSecret);
      const storedHash = await settings.get(key);
      if (storedHash === undefined) await settings.set(key, secretHash);
      else if (!timingSafeEqualText(storedHash, secretHash))
        fail('CONFIGURATION', {
          problem:
            'envSecret: the storage belongs to an environment with another secret. Use the secret of that environment, or another SERVICE_DATA_DIR or SERVICE_STORAGE_URL.',
        });
    },
    async secrets() {
      if (configuredSecret !== undefined) return [configuredSecret];
      const key = await readHashKey();
      if ((await settings.get(key)) !== undefined) return [];
      const { environmentId } = await identity.place();
      const purpose = environmentId === 1 ? generatedSecrets : `${generatedSecrets}/${environmentId}`;
      return (await keys.of(purpose, () => randomToken())).map(({ value }) => value);
    },
  };
}
