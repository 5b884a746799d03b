// Networks that may reach the project (`allowList`, docs/permissions.md), checked before any other code of ours runs.
// The list is cached while the permissions version is unchanged, so a changed list applies to the next request in every
// process. The version read for this check is attached to the request. The token check needs a version at least as new
// as the request, and does not read it again.
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { createAddressReader } from '../../http/client-address.ts';
import { createNetworkMatch } from '../../store/permissions/networks.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';

const versionsByRequest = new WeakMap<object, Versions>();

/** The versions at the time the request arrived; undefined if the request did not pass this check. */
export function versionsAtArrival(req: object): Versions | undefined {
  return versionsByRequest.get(req);
}

interface AddressCheckParts {
  readonly store: Pick<Store, 'rights' | 'versions'>;
  readonly config: Pick<Config, 'trustedProxies'>;
  readonly observe: Observe;
}

/** Returns ADDRESS_NOT_ALLOWED for a refused request, otherwise undefined. Synchronous where possible. */
export type AddressCheck = (req: IncomingMessage) => AppError | undefined | Promise<AppError | undefined>;

/** Null: any address. */
type AddressMatch = ((address: string) => boolean) | null;

export function createAddressCheck({ store, config, observe }: AddressCheckParts): AddressCheck {
  const readAddress = createAddressReader(config.trustedProxies);
  let cached: { readonly version: number; readonly matches: AddressMatch } | undefined;

  const load = async (at: number): Promise<AddressMatch> => {
    for (let version = at; ; ) {
      const networks = await store.rights.networks();
      const current = (await store.versions()).permissions;
      if (current === version) {
        const matches = networks.length === 0 ? null : createNetworkMatch(networks);
        if (!cached || cached.version < version) cached = { version, matches };
        return matches;
      }
      version = current;
    }
  };

  const checkAddress = (req: IncomingMessage, matches: AddressMatch): AppError | undefined => {
    if (matches === null) return undefined;
    // OWASP ASVS 4.3 and RFC 7239 section 8.1: forwarded addresses count only from configured proxies.
    const address = readAddress(req);
    if (matches(address)) return undefined;
    observe({ type: 'security', event: 'address.refused', address });
    return new AppError('ADDRESS_NOT_ALLOWED', { address });
  };

  const checkRequest = (
    req: IncomingMessage,
    versions: Versions,
  ): AppError | undefined | Promise<AppError | undefined> => {
    versionsByRequest.set(req, versions);
    const { permissions } = versions;
    if (cached?.version === permissions) return checkAddress(req, cached.matches);
    return load(permissions).then((matches) => checkAddress(req, matches));
  };

  return (req) => {
    const versions = store.versions();
    return versions instanceof Promise
      ? versions.then((versionsRead) => checkRequest(req, versionsRead))
      : checkRequest(req, versions);
  };
}
