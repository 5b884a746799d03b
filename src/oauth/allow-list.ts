// From where the project may be reached (`allowList`, docs/permissions.md), asked of every request before anything else of
// ours sees it. The list is kept for as long as the version of the permissions stands still, so that another list is felt by
// the next request, in every process. The version that is read for it is noted with the request: the token check, which
// needs one that is no older than the request, reads it no second time.
import type { IncomingMessage } from 'node:http';
import type { Config } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { createNetworkMatch } from '../store/networks.ts';
import type { Store, Versions } from '../store/store.ts';
import { createAddressReader } from './address.ts';

const arrivals = new WeakMap<object, Versions>();

/** The versions as they were when the request came; undefined for one that did not come through the check. */
export function versionsAtArrival(req: object): Versions | undefined {
  return arrivals.get(req);
}

export interface AddressCheckParts {
  readonly store: Pick<Store, 'rights' | 'versions'>;
  readonly config: Pick<Config, 'trustedProxies'>;
  readonly observe: Observe;
}

/** Answers why the request is refused: ADDRESS_NOT_ALLOWED; undefined when it may go on. At once where it can. */
export type AddressCheck = (req: IncomingMessage) => AppError | undefined | Promise<AppError | undefined>;

/** Null: from anywhere. */
type Admits = ((address: string) => boolean) | null;

export function createAddressCheck({ store, config, observe }: AddressCheckParts): AddressCheck {
  const readAddress = createAddressReader(config.trustedProxies);
  let known: { readonly version: number; readonly admits: Admits } | undefined;

  const load = async (at: number): Promise<Admits> => {
    for (let version = at; ; ) {
      const networks = await store.rights.networks();
      const now = (await store.versions()).permissions;
      if (now === version) {
        const admits = networks.length === 0 ? null : createNetworkMatch(networks);
        if (!known || known.version < version) known = { version, admits };
        return admits;
      }
      version = now;
    }
  };

  const judge = (req: IncomingMessage, admits: Admits): AppError | undefined => {
    if (admits === null) return undefined;
    // OWASP ASVS 4.3 and RFC 7239 section 8.1: what a client writes of itself is believed only from proxies that are named.
    const address = readAddress(req);
    if (admits(address)) return undefined;
    observe({ type: 'security', event: 'address.refused', address });
    return new AppError('ADDRESS_NOT_ALLOWED', { address });
  };

  const decide = (req: IncomingMessage, versions: Versions): AppError | undefined | Promise<AppError | undefined> => {
    arrivals.set(req, versions);
    const { permissions } = versions;
    if (known?.version === permissions) return judge(req, known.admits);
    return load(permissions).then((admits) => judge(req, admits));
  };

  return (req) => {
    const versions = store.versions();
    return versions instanceof Promise ? versions.then((read) => decide(req, read)) : decide(req, versions);
  };
}
