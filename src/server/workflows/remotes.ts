// Connects to remote MCP servers: only to public addresses and over https, checked at each connection. Servers in the
// operator's network require that the operator lists their host, and only their own URL is reachable. Redirects are not
// followed.
import type { ConsolePaths } from '../../console/paths.ts';
import { remoteCallbackPage, remoteClientPage } from '../../console/paths.ts';
import type { Clock } from '../../core/clock.ts';
import { canonicalOrigin, isNamedHost } from '../../core/config/hosts.ts';
import type { Config } from '../../core/config.ts';
import type { Observe } from '../../core/observe.ts';
import { findAddressProblem, guardedFetch } from '../../oauth/clients/documents.ts';
import { anyDomain } from '../../oauth/clients/domains.ts';
import type { Store } from '../../store/store.ts';
import type { FetchForServer } from '../../workflows/remote-mcp/address.ts';
import type { RemoteAddresses } from '../../workflows/remote-mcp/registration.ts';
import { createRemoteServers, type RemoteServers } from '../../workflows/remote-mcp/remote-servers.ts';

export function openRemotes(parts: {
  readonly config: Pick<Config, 'remoteHosts'>;
  readonly store: Pick<Store, 'remotes'>;
  readonly consolePaths: ConsolePaths;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly version: string;
}): RemoteServers {
  const { store, clock, observe, version, consolePaths } = parts;
  const hosts = parts.config.remoteHosts;
  const addresses = createRemoteAddresses(consolePaths);
  return createRemoteServers({ store, clock, observe, version, hosts, addresses, fetch: createRemoteFetch(hosts) });
}

/**
 * The URL of the client metadata document; undefined if an authorization server with our own checks would reject it.
 */
function createRemoteAddresses({ url }: Pick<ConsolePaths, 'url'>): RemoteAddresses {
  return {
    callback: (id) => url(remoteCallbackPage(id)),
    document(id) {
      const address = url(remoteClientPage(id));
      return findAddressProblem(address, anyDomain) === undefined ? address : undefined;
    },
  };
}

/**
 * SSRF (CWE-918): URLs from remote metadata have the same restrictions as those that an administrator entered. A listed
 * host counts only for the server with that host and port in its own URL or in its configured issuer.
 */
export function createRemoteFetch(hosts: readonly string[]): FetchForServer {
  return (server) => async (address, init) => {
    const url = new URL(address);
    if (isNamedHost(url, hosts) && ownOrigins(server).includes(canonicalOrigin(url))) {
      return fetch(url, { ...init, redirect: 'manual' });
    }
    if (url.protocol !== 'https:') throw new Error(`${url.hostname} requires https`);
    return guardedFetch(url, init);
  };
}

const ownOrigins = ({ url, client }: Parameters<FetchForServer>[0]): readonly string[] =>
  [url, client?.issuer ?? url].map((address) => canonicalOrigin(new URL(address)));
