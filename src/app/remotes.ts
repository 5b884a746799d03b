// How remote MCP servers are reached: public addresses over https alone, each judged when it is connected to, and hosts within the
// operator's own network that he has named. No redirect is followed here.
import type { ConsolePaths } from '../console/paths.ts';
import { remoteCallbackPage, remoteClientPage } from '../console/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { findAddressProblem, guardedFetch } from '../oauth/documents.ts';
import { anyDomain } from '../oauth/domains.ts';
import type { Store } from '../store/store.ts';
import type { FetchAddress } from '../workflow/remote/address.ts';
import type { RemoteAddresses } from '../workflow/remote/registration.ts';
import { createRemoteRoom, type RemoteRoom } from '../workflow/remote/room.ts';

export function openRemotes(parts: {
  readonly config: Pick<Config, 'remoteHosts'>;
  readonly store: Pick<Store, 'remotes'>;
  readonly consolePaths: ConsolePaths;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly version: string;
}): RemoteRoom {
  const { store, clock, observe, version, consolePaths } = parts;
  const hosts = parts.config.remoteHosts.map((host) => host.toLowerCase());
  const addresses = createRemoteAddresses(consolePaths);
  return createRemoteRoom({ store, clock, observe, version, hosts, addresses, fetch: createRemoteFetch(hosts) });
}

/** No document where an authorization server that is as careful as ours would not look for it. */
export function createRemoteAddresses({ url }: Pick<ConsolePaths, 'url'>): RemoteAddresses {
  return {
    callback: (id) => url(remoteCallbackPage(id)),
    document(id) {
      const address = url(remoteClientPage(id));
      return findAddressProblem(address, anyDomain) === undefined ? address : undefined;
    },
  };
}

/** SSRF: what a stranger's metadata names is held to the same as what an administrator typed. */
export function createRemoteFetch(hosts: readonly string[]): FetchAddress {
  return async (address, init) => {
    const url = new URL(address);
    if (hosts.includes(url.hostname)) return fetch(url, { ...init, redirect: 'manual' });
    if (url.protocol !== 'https:') throw new Error(`${url.hostname} is not reached without https`);
    return guardedFetch(url, init);
  };
}
