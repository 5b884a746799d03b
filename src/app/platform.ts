// The two ends of the platform's door, put together: who asks another process for the storage, and who lets others in to its
// own.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken } from '../core/secret.ts';
import { createAddressReader } from '../oauth/address.ts';
import { createDoor } from '../platform/door.ts';
import { createDoorPaths } from '../platform/paths.ts';
import { doorKeyOf } from '../platform/signature.ts';
import { type OpenedStore, openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** Who has a secret that can be guessed is let in to everything that the storage keeps. */
const SECRET_LEAST = 32;

interface Parts {
  readonly config: Config;
  /** Of the environment: what the code says goes before SERVICE_ENV_SECRET. */
  readonly envSecret: string | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** A storage of our own, or another server's. CONFIGURATION when it cannot be used. */
export async function openPlatform({ config, envSecret, clock, observe }: Parts): Promise<OpenedStore> {
  const { serverUrl } = config;
  if (serverUrl === null) return openStore({ config, observe, clock });
  const secret = envSecret ?? config.envSecret;
  if (secret === null)
    fail('CONFIGURATION', {
      problem: 'SERVICE_SERVER_URL: SERVICE_ENV_SECRET is missing, the same as at the platform.',
    });
  // Its package for connections is of no use to the others.
  const { connectStore } = await import('../platform/connect.ts');
  return connectStore({ serverUrl, envSecret: secret, clock, observe });
}

export type DoorHandle = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Undefined where nobody is let in. CONFIGURATION without a secret, or with one that could be guessed. */
export function openPlatformDoor(
  parts: Parts & {
    readonly config: { readonly publicUrl: string };
    readonly store: OpenedStore;
    readonly version: string;
  },
): DoorHandle | undefined {
  const { config, store, clock, observe, version } = parts;
  const { relay } = store;
  if (!config.platformDoor || !relay) return undefined;
  const secret = parts.envSecret ?? config.envSecret;
  if (secret === null || secret.length < SECRET_LEAST) {
    const how = `Set SERVICE_ENV_SECRET to ${SECRET_LEAST} random characters or more, and the same at the agents`;
    fail('CONFIGURATION', { problem: `SERVICE_PLATFORM_DOOR: agents are known by the envSecret. ${how}.` });
  }
  const door = createDoor({
    store: { ...store, relay },
    paths: createDoorPaths(config.publicUrl, config.platformPath),
    key: doorKeyOf(secret),
    readAddress: createAddressReader(config.trustedProxies),
    version,
    clock,
    observe,
  });
  return door.handle;
}

/** Tells the platform what the agent serves, where it is not what it was told last. */
export async function tellSchema({ schema }: Pick<Store, 'schema'>, document: string): Promise<void> {
  if ((await schema.hash()) !== hashToken(document)) await schema.keep(document);
}
