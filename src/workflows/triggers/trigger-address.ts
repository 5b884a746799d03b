// The URL of a trigger: `/v1/webhooks/workflows/<key id>.<payload>.<signature>`. The payload identifies the workflow,
// its rendering and environment, and the version of the URL. It is signed with a key of the installation that every
// process has in memory. Forged or truncated URLs, and those of other environments, are rejected without access to the
// storage. The URL is not a secret and grants no permissions: callers must present a token. After a key rotation, the
// old key still verifies its URLs until it is retired. A URL therefore changes only when it is regenerated.
import { createAddressLimiter } from '../../core/limit/addresses.ts';
import { createLimiter } from '../../core/limit.ts';
import { randomToken, sign, timingSafeEqualText } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import type { Workflow } from '../../store/workflows/types.ts';

const PURPOSE = 'workflow-addresses';
/** Path below the base URL of the API. */
export const WEBHOOK_PATH = '/v1/webhooks/workflows/';

/** The payload of a valid URL. */
export interface TriggerReference {
  readonly workflowId: string;
  readonly renderingId: number;
  readonly version: number;
  readonly keyId: string;
}

export interface TriggerAddresses {
  /** Id of the key that currently signs, for `workflows.changeTrigger`. */
  newestKey(): Promise<string>;
  /** Returns the URL. Undefined if it was never enabled, or if its key was retired and it must be regenerated. */
  urlOf(workflow: Pick<Workflow, 'id' | 'renderingId' | 'trigger'>): Promise<string | undefined>;
  /**
   * Returns undefined if the URL is invalid. `client`: the address of the caller. An unknown key id, as after a start
   * or a rotation in another process, costs one read of the keys. These reads are rate-limited by client.
   */
  verify(signed: string, client: string): Promise<TriggerReference | undefined>;
  /** Whether the key is still valid, considering rotations and retirements up to these versions. */
  isKeyValid(reference: TriggerReference, versions: Pick<Versions, 'keys'>): Promise<boolean>;
}

interface TriggerAddressParts {
  readonly store: Pick<Store, 'keys' | 'identity' | 'versions'>;
  /** Public base URL of `/v1`. */
  readonly address: string;
}

/** Rate limit of key reads for unknown key ids, by client address. */
const KEY_READ_LIMIT = { points: 5, seconds: 60 } as const;

export function createTriggerAddresses({ store, address }: TriggerAddressParts): TriggerAddresses {
  const limiter = createAddressLimiter(createLimiter, 'webhook-keys', KEY_READ_LIMIT);
  let keys: ReadonlyMap<string, string> = new Map();
  let newest: string | undefined;
  let version = -1;
  let environmentId = 0;
  let loading: Promise<void> | undefined;

  const load = async (createKey: () => string = failNoKey): Promise<void> => {
    // Reads the version first: if keys change between the two reads, they are loaded again.
    const keysVersion = (await store.versions()).keys;
    environmentId = (await store.identity.place()).environmentId;
    const all = await store.keys.of(PURPOSE, createKey).catch((error: unknown) => {
      if (error === noKey) return [];
      throw error;
    });
    keys = new Map(all.map(({ id, value }) => [id, value]));
    newest = all[0]?.id;
    version = keysVersion;
  };
  const refresh = async (versions?: Pick<Versions, 'keys'>): Promise<void> => {
    if ((versions ?? (await store.versions())).keys !== version) await load();
  };
  const loadKeys = async (client: string): Promise<void> => {
    try {
      await limiter.consume(client);
    } catch {
      return;
    }
    try {
      await load();
    } catch (error) {
      // The read failed, so it does not count against the limit.
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
    async urlOf({ id, renderingId, trigger }) {
      const { keyId } = trigger;
      if (keyId === null) return undefined;
      await refresh();
      const key = keys.get(keyId);
      if (key === undefined) return undefined;
      const unsigned = encodePayload(keyId, [id, renderingId, environmentId, trigger.version]);
      return `${address}${WEBHOOK_PATH.slice('/v1'.length)}${unsigned}.${sign(unsigned, key)}`;
    },
    async verify(signed, client) {
      const [, unsigned, keyId, payload, signature] = urlPattern.exec(signed) ?? [];
      if (unsigned === undefined || keyId === undefined || payload === undefined || signature === undefined)
        return undefined;
      // Concurrent calls share one read. A call that joined another call's read may start one of its own.
      for (let hasLoaded = false; !keys.has(keyId) && !hasLoaded; ) {
        hasLoaded = loading === undefined;
        loading ??= loadKeys(client).finally(() => {
          loading = undefined;
        });
        await loading;
      }
      const key = keys.get(keyId);
      // Constant-time comparison (CWE-208), before the payload is used (behaviour api 4.2).
      if (key === undefined || !timingSafeEqualText(signature, sign(unsigned, key))) return undefined;
      const [workflowId, renderingId, environment, version] = JSON.parse(
        Buffer.from(payload, 'base64url').toString(),
      ) as TriggerPayload;
      return environment === environmentId ? { workflowId, renderingId, version, keyId } : undefined;
    },
    async isKeyValid({ keyId }, versions) {
      await refresh(versions);
      return keys.has(keyId);
    },
  };
}

const noKey = Symbol('no key');
const failNoKey = (): never => {
  throw noKey;
};

type TriggerPayload = readonly [workflowId: string, renderingId: number, environmentId: number, version: number];

const urlPattern = /^(([\w-]{16})\.([\w-]{20,400}))\.([\w-]{43})$/;

const encodePayload = (keyId: string, payload: TriggerPayload): string =>
  `${keyId}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
