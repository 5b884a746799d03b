// The address of a trigger: `/v1/webhooks/workflows/<key id>.<what it is of>.<signature>`. It says which workflow of which
// rendering and environment is meant and in which version, signed with a key of the installation that every process holds in
// memory: what was forged, cut off or made for another environment is refused before anything is asked of the storage. It is
// no secret and no right: who calls shows a token. The key that signed one goes on to verify it after keys were rotated, until
// it is retired, so that an address changes with regeneration alone.
import { createLimiter } from '../core/limit.ts';
import { randomToken, sameText, sign } from '../core/secret.ts';
import type { Store } from '../store/store.ts';
import type { Workflow } from '../store/workflow-types.ts';

const PURPOSE = 'workflow-addresses';
/** Below the address of `/v1`. */
export const WEBHOOKS = '/v1/webhooks/workflows/';

/** What a good address is of. */
export interface Addressed {
  readonly workflowId: string;
  readonly renderingId: number;
  readonly version: number;
  readonly keyId: string;
}

export interface TriggerAddresses {
  /** Of the key that signs what is made now; for `workflows.changeTrigger`. */
  newestKey(): Promise<string>;
  /** Undefined where it has none: it was never enabled, or its key was retired, so that it must be regenerated. */
  of(workflow: Pick<Workflow, 'id' | 'renderingId' | 'trigger'>): Promise<string | undefined>;
  /**
   * Undefined for one that is not ours, whole and unchanged. `client`: the address that asks; an id of a key that is not known
   * here, as after a start or a rotation in another process, costs one read of the keys, of which each client is given a few.
   */
  read(signed: string, client: string): Promise<Addressed | undefined>;
  /** Whether its key still counts, where keys were rotated or retired since they were read. */
  stillCounts(addressed: Addressed): Promise<boolean>;
}

export interface TriggerAddressParts {
  readonly store: Pick<Store, 'keys' | 'identity' | 'versions'>;
  /** Of `/v1`, public. */
  readonly address: string;
}

/** Looks for unknown keys, of one client address in a minute. */
const looks = { points: 5, seconds: 60 } as const;

export function createTriggerAddresses({ store, address }: TriggerAddressParts): TriggerAddresses {
  const limiter = createLimiter('webhook-keys', looks);
  let keys: ReadonlyMap<string, string> = new Map();
  let newest: string | undefined;
  let version = -1;
  let environmentId = 0;
  let looking: Promise<void> | undefined;

  const load = async (make: () => string = none): Promise<void> => {
    // The version first: keys that change between the two are read once more.
    const at = (await store.versions()).keys;
    environmentId = (await store.identity.place()).environmentId;
    const all = await store.keys.of(PURPOSE, make).catch((error: unknown) => {
      if (error === noKey) return [];
      throw error;
    });
    keys = new Map(all.map(({ id, value }) => [id, value]));
    newest = all[0]?.id;
    version = at;
  };
  const refresh = async (): Promise<void> => {
    if ((await store.versions()).keys !== version) await load();
  };
  const lookFor = async (client: string): Promise<void> => {
    try {
      await limiter.consume(client);
    } catch {
      return;
    }
    try {
      await load();
    } catch (error) {
      // It was not looked: who calls again when the storage is back has a good address still.
      await limiter.giveBack(client);
      throw error;
    }
  };

  return {
    async newestKey() {
      await refresh();
      if (newest === undefined) await load(randomToken);
      return newest!;
    },
    async of({ id, renderingId, trigger }) {
      const { keyId } = trigger;
      if (keyId === null) return undefined;
      await refresh();
      const key = keys.get(keyId);
      if (key === undefined) return undefined;
      const named = nameOf(keyId, [id, renderingId, environmentId, trigger.version]);
      return `${address}${WEBHOOKS.slice('/v1'.length)}${named}.${sign(named, key)}`;
    },
    async read(signed, client) {
      const [, named, keyId, told, signature] = form.exec(signed) ?? [];
      if (named === undefined || keyId === undefined || told === undefined || signature === undefined) return undefined;
      // Calls side by side share one look; who only waited for that of another has one of his own.
      for (let hasLooked = false; !keys.has(keyId) && !hasLooked; ) {
        hasLooked = looking === undefined;
        looking ??= lookFor(client).finally(() => {
          looking = undefined;
        });
        await looking;
      }
      const key = keys.get(keyId);
      // CWE-208: compared in constant time, and before anything that it says is used (spec public-http-api 4.2).
      if (key === undefined || !sameText(signature, sign(named, key))) return undefined;
      const [workflowId, renderingId, environment, version] = JSON.parse(
        Buffer.from(told, 'base64url').toString(),
      ) as Told;
      return environment === environmentId ? { workflowId, renderingId, version, keyId } : undefined;
    },
    async stillCounts({ keyId }) {
      await refresh();
      return keys.has(keyId);
    },
  };
}

const noKey = Symbol('no key');
const none = (): never => {
  throw noKey;
};

type Told = readonly [workflowId: string, renderingId: number, environmentId: number, version: number];

const form = /^(([\w-]{16})\.([\w-]{20,400}))\.([\w-]{43})$/;

const nameOf = (keyId: string, told: Told): string =>
  `${keyId}.${Buffer.from(JSON.stringify(told)).toString('base64url')}`;
