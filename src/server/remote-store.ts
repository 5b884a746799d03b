// Both ends of the platform connection: an agent that uses the storage of another process, and a platform that serves
// its own storage to agents.
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken } from '../core/secret.ts';
import { createAddressReader } from '../http/client-address.ts';
import type { RpcRouterParts } from '../remote-store/rpc-router.ts';
import { rpcKeyOf } from '../remote-store/signature.ts';
import { type OpenedStore, openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** A guessable secret would give access to the whole storage. */
const MIN_SECRET_LENGTH = 32;

interface Parts {
  readonly config: Config;
  /** Secret of the environment. The value from code wins over SERVICE_ENV_SECRET. */
  readonly envSecret: string | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Opens a local storage or connects to the platform. Throws CONFIGURATION when it cannot be used. */
export async function openPlatform({ config, envSecret, clock, observe }: Parts): Promise<OpenedStore> {
  const { serverUrl } = config;
  if (serverUrl === null) return openStore({ config, observe, clock });
  const secret = envSecret ?? config.envSecret;
  if (secret === null)
    fail('CONFIGURATION', {
      problem: 'SERVICE_SERVER_URL: SERVICE_ENV_SECRET is missing. Set it to the same value as on the platform.',
    });
  // Loaded on demand: only agents with a platform need its connection package.
  const { connectStore } = await import('../remote-store/connect.ts');
  return connectStore({ serverUrl, envSecret: secret, clock, observe });
}

/** Undefined if the endpoint is disabled. Throws CONFIGURATION without a secret, or with one that is too short. */
export function readRpcParts(
  parts: Parts & {
    readonly config: { readonly publicUrl: string };
    readonly store: OpenedStore;
    readonly version: string;
  },
): RpcRouterParts | undefined {
  const { config, store, clock, observe, version } = parts;
  const { relay } = store;
  if (!config.platformDoor || !relay) return undefined;
  const secret = parts.envSecret ?? config.envSecret;
  if (secret === null || secret.length < MIN_SECRET_LENGTH) {
    const how = `Set SERVICE_ENV_SECRET to ${MIN_SECRET_LENGTH} or more random characters, and to the same value on the agents`;
    fail('CONFIGURATION', { problem: `SERVICE_PLATFORM_DOOR: agents authenticate with the envSecret. ${how}.` });
  }
  const readAddress = createAddressReader(config.trustedProxies);
  return { store: { ...store, relay }, key: rpcKeyOf(secret), readAddress, version, clock, observe };
}

/** Reports the served schema to the platform if it has changed. */
export async function sendSchema({ schema }: Pick<Store, 'schema'>, document: string): Promise<void> {
  if ((await schema.hash()) !== hashToken(document)) await schema.keep(document);
}
