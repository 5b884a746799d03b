// A user's account at a remote server that requires sign-in (MCP authorization, revision 2025-11-25 and later). To
// connect it, the official client runs the authorization code flow with PKCE (RFC 7636), resource indicators (RFC 8707)
// and the issuer check of the response (RFC 9207). This module also refreshes access tokens. Portico never passes its
// own tokens to a remote server. A grant is bound to the id of one server and used only there; the URL of a server
// never changes.
import type { OAuthClientProvider, OAuthDiscoveryState, StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { Clock } from '../../core/clock.ts';
import { AppError, fail } from '../../core/errors.ts';
import { randomToken } from '../../core/secret.ts';
import type { RemoteGrant, RemoteKey, RemoteServer } from '../../store/remotes/types.ts';
import type { Store } from '../../store/store.ts';
import { type FetchAddress, type FetchForServer, limitResponses } from './address.ts';
import { type Bearer, loadSdk, refusedError, unavailableError } from './client.ts';
import { CONNECT_MS, withTimeout } from './limits.ts';
import { explainSignIn, loadClient, type RemoteAddresses, type StoredClient, selectClient } from './registration.ts';

/** Time that a user has to sign in at the server. */
const SIGN_IN_MS = 15 * 60_000;
/** A token that expires within this time is refreshed before use. */
const REFRESH_BEFORE_MS = 30_000;
/** Longer than a refresh may take, which `CONNECT_MS` limits. */
const LEASE_MS = 30_000;
const POLL_MS = 200;

/** The encrypted data of a connected account. */
interface StoredAccount extends StoredClient {
  readonly tokens: StoredOAuthTokens;
  readonly discovery: OAuthDiscoveryState;
  readonly resource?: string;
}

/** The encrypted data of a pending sign-in. */
interface PendingSignIn extends Omit<StoredAccount, 'tokens'> {
  readonly verifier: string;
}

interface RemoteAccountsParts {
  readonly store: Pick<Store, 'remotes'>;
  readonly fetch: FetchForServer;
  readonly clock: Clock;
  readonly addresses: RemoteAddresses;
}

/** Parameters of an authorization response. */
interface SignInAnswer {
  /** The server to which the redirect URL belongs. */
  readonly serverId: string;
  readonly state: string;
  readonly code: string | null;
  readonly iss: string | null;
}

export interface RemoteAccounts {
  /** Returns the URL for the user to sign in. Throws REMOTE_UNAVAILABLE or REMOTE_REFUSED. */
  begin(server: RemoteServer, by: { readonly userId: number; readonly sessionId: string }): Promise<URL>;
  /** Returns the connected server; undefined if the response matches no pending sign-in. Same errors as `begin`. */
  finish(
    answer: SignInAnswer,
    by: { readonly userId: number; readonly sessionId: string },
  ): Promise<RemoteServer | undefined>;
  /** The bearer token of that user. Its methods throw REMOTE_RECONNECT when the user must connect again. */
  bearerOf(server: RemoteServer, userId: number): Bearer;
  /** The authorization server that the server currently names. Same errors as `begin`. */
  issuerOf(server: RemoteServer): Promise<string>;
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

export function createRemoteAccounts({ store, fetch, clock, addresses }: RemoteAccountsParts): RemoteAccounts {
  const { remotes } = store;

  /** Applies the time limit to each request, and to all of them together. */
  const withSdk = <T>(
    server: RemoteServer,
    run: (sdk: Sdk, fetchFn: FetchAddress) => Promise<T>,
    explain: (sdk: Sdk, thrown: unknown) => AppError | undefined = () => undefined,
  ): Promise<T> =>
    withTimeout(clock, CONNECT_MS, undefined, async (stop) => {
      const sdk = await loadSdk();
      const limited = limitResponses(fetch(server), () => undefined);
      const fetchFn: FetchAddress = (url, init) => limited(url, { ...init, redirect: 'manual', signal: stop.real });
      try {
        return await run(sdk, fetchFn);
      } catch (thrown) {
        if (thrown instanceof AppError) throw thrown;
        throw explain(sdk, thrown) ?? unavailableError(server, 'its sign-in failed unexpectedly.', thrown);
      }
    }).catch((thrown: unknown) => {
      if (thrown instanceof AppError) throw thrown;
      throw unavailableError(server, `its sign-in did not answer within ${CONNECT_MS / 1000} seconds.`, thrown);
    });

  const expiryOf = ({ expires_in }: StoredOAuthTokens): number | null =>
    expires_in === undefined ? null : clock.now() + expires_in * 1000;

  const refresh = async (server: RemoteServer, grant: RemoteGrant): Promise<RemoteGrant> => {
    const { generation } = grant;
    const { tokens, discovery, resource, isEntered } = grant.held as StoredAccount;
    const reconnect = async (cause?: unknown): Promise<never> => {
      await remotes.markReconnect(grant, generation);
      return fail('REMOTE_RECONNECT', { server: server.name }, cause);
    };
    const { refresh_token: refreshToken } = tokens;
    if (refreshToken === undefined) return reconnect();
    const client = await loadClient(remotes, server.id, grant.held as StoredAccount);
    if (!client) return reconnect();
    // Only one process may refresh: a reused refresh token can revoke the whole grant (RFC 9700 section 4.14.2).
    const until = clock.monotonic() + LEASE_MS;
    for (let claim = await remotes.claimRefresh(grant, generation, LEASE_MS); claim !== 'claimed'; ) {
      if (claim === 'stale') return currentGrant(server, grant);
      if (claim === 'lost') return fail('REMOTE_RECONNECT', { server: server.name });
      if (clock.monotonic() > until) throw unavailableError(server, 'another process is still refreshing its token.');
      await clock.sleep(POLL_MS);
      claim = await remotes.claimRefresh(grant, generation, LEASE_MS);
    }
    let refreshed: StoredOAuthTokens;
    try {
      refreshed = await withSdk(
        server,
        async (sdk, fetchFn) =>
          sdk.refreshAuthorization(discovery.authorizationServerUrl, {
            ...(discovery.authorizationServerMetadata && { metadata: discovery.authorizationServerMetadata }),
            clientInformation: client,
            refreshToken,
            ...(resource !== undefined && { resource }),
            fetchFn,
          }),
        (sdk, thrown) => {
          if (!(thrown instanceof sdk.OAuthError)) return undefined;
          // The client secret is wrong, not the grant. The grant works again once the secret is corrected.
          if (thrown.code === 'invalid_client' && isEntered) return explainSignIn(sdk, server, discovery, thrown);
          // These errors are final (RFC 6749 section 5.2). Others may be temporary.
          if (!finalErrors.has(thrown.code)) return undefined;
          return new AppError('REMOTE_RECONNECT', { server: server.name }, thrown);
        },
      );
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'REMOTE_RECONNECT') return reconnect(thrown.cause);
      await remotes.settleRefresh(grant, generation, undefined);
      throw thrown;
    }
    const stored: StoredAccount = { ...(grant.held as StoredAccount), tokens: { ...tokens, ...refreshed } };
    const isStored = await remotes.settleRefresh(grant, generation, { held: stored, expiresAt: expiryOf(refreshed) });
    // The user has disconnected the account in the meantime.
    if (!isStored) return fail('REMOTE_RECONNECT', { server: server.name });
    return currentGrant(server, grant);
  };

  const currentGrant = async (server: RemoteServer, key: RemoteKey): Promise<RemoteGrant> => {
    const grant = await remotes.grantOf({ serverId: key.serverId, userId: key.userId });
    if (grant?.state !== 'connected') return fail('REMOTE_RECONNECT', { server: server.name });
    return grant;
  };

  return {
    async begin(server, { userId, sessionId }) {
      const state = randomToken();
      let pending: Partial<PendingSignIn> = {};
      let authorizationUrl: URL | undefined;
      let isClientRequested = false;
      const pendingClient = () => {
        isClientRequested = true;
        return pending.client && { client: pending.client };
      };
      const addPending = (additions: Partial<PendingSignIn>): void => {
        pending = { ...pending, ...additions };
      };
      const provider: OAuthClientProvider = {
        ...selectClient(addresses, server, pendingClient, addPending),
        state: () => state,
        tokens: () => undefined,
        saveTokens: () => undefined,
        redirectToAuthorization: (url) => {
          authorizationUrl = url;
        },
        saveCodeVerifier: (verifier) => addPending({ verifier }),
        codeVerifier: () => `${pending.verifier}`,
        saveDiscoveryState: (discovery) => addPending({ discovery }),
        discoveryState: () => pending.discovery,
        saveResourceUrl: (resource) => addPending({ resource }),
      };
      await withSdk(
        server,
        async (sdk, fetchFn) => {
          const challenge = await readChallenge(sdk, server, fetchFn);
          await sdk.auth(provider, { serverUrl: server.url, fetchFn, ...challenge, forceReauthorization: true });
        },
        (sdk, thrown) =>
          explainSignIn(sdk, server, isClientRequested && !pending.client ? pending.discovery : undefined, thrown),
      );
      const address = authorizationUrl ?? failUnsupported(server);
      // The browser opens this URL. Only web pages are allowed: other schemes could run code.
      if (address.protocol !== 'https:' && address.protocol !== 'http:') failUnsupported(server);
      const expiresAt = clock.now() + SIGN_IN_MS;
      await remotes.beginSignIn({ serverId: server.id, userId, sessionId, state, held: pending, expiresAt });
      return address;
    },

    async finish({ serverId, state, code, iss }, { userId, sessionId }) {
      const attempt = await remotes.takeSignIn({ state, userId, sessionId });
      const server = attempt && (await remotes.find(attempt.serverId));
      // A response at another server's redirect URL comes from another authorization server (RFC 9700 section 4.4.2.2).
      if (!server || server.id !== serverId) return undefined;
      if (code === null) throw refusedError(server, 'it did not connect the account.');
      const { verifier, ...account } = attempt.held as PendingSignIn;
      const { discovery, resource } = account;
      const metadata = discovery.authorizationServerMetadata;
      // RFC 9207 section 2.4. The official client checks this itself if there is metadata.
      if (!metadata && iss !== null && withoutSlash(iss) !== withoutSlash(discovery.authorizationServerUrl)) {
        throw refusedError(server, 'the response came from another authorization server.');
      }
      const client = await loadClient(remotes, server.id, account);
      if (!client) throw refusedError(server, 'its client id has changed. Connect the account again.');
      const provider: OAuthClientProvider = {
        ...selectClient(
          addresses,
          server,
          () => ({ client }),
          () => undefined,
        ),
        tokens: () => undefined,
        saveTokens: () => undefined,
        redirectToAuthorization: () => failUnsupported(server),
        saveCodeVerifier: () => undefined,
        codeVerifier: () => verifier,
      };
      // `auth` would send a rejected code a second time, and would log the server's error text.
      const tokens: StoredOAuthTokens = await withSdk(
        server,
        (sdk, fetchFn) =>
          sdk.fetchToken(provider, discovery.authorizationServerUrl, {
            ...(metadata && { metadata }),
            ...(resource !== undefined && { resource }),
            ...(iss !== null && { iss }),
            authorizationCode: code,
            fetchFn,
          }),
        (sdk, thrown) => explainSignIn(sdk, server, undefined, thrown),
      );
      // Tokens of an unknown type must not be used (RFC 6749 section 7.1).
      if (tokens.token_type.toLowerCase() !== 'bearer') failUnsupported(server);
      const stored: StoredAccount = { ...account, tokens };
      const key = { serverId: server.id, userId };
      return (await remotes.connect({ ...key, held: stored, expiresAt: expiryOf(tokens) })) ? server : undefined;
    },

    issuerOf: (server) =>
      withSdk(
        server,
        async (sdk, fetchFn) => {
          const { resourceMetadataUrl } = await readChallenge(sdk, server, fetchFn);
          const options = { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) };
          const discovered = await sdk.discoverOAuthServerInfo(server.url, options);
          return discovered.authorizationServerMetadata?.issuer ?? discovered.authorizationServerUrl;
        },
        (sdk, thrown) => explainSignIn(sdk, server, undefined, thrown),
      ),

    bearerOf(server, userId) {
      const key = { serverId: server.id, userId };
      let usedGrant: RemoteGrant | undefined;
      return {
        async token() {
          const grant = await currentGrant(server, key);
          const isExpiring = grant.expiresAt !== null && grant.expiresAt <= clock.now() + REFRESH_BEFORE_MS;
          usedGrant = isExpiring ? await refresh(server, grant) : grant;
          return (usedGrant.held as StoredAccount).tokens.access_token;
        },
        async renew() {
          const grant = await currentGrant(server, key);
          // Another process has refreshed it since.
          if (usedGrant && grant.generation !== usedGrant.generation) return;
          await refresh(server, grant);
        },
        async giveUp() {
          if (usedGrant) await remotes.markReconnect(key, usedGrant.generation);
        },
      };
    },
  };
}

const finalErrors: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'invalid_target',
]);

const withoutSlash = (address: string): string => address.replace(/\/$/, '');

/**
 * Reads the server's challenge to a request without a token: its metadata URL and the required scopes (RFC 9728 section
 * 5.1).
 */
async function readChallenge(sdk: Sdk, server: RemoteServer, fetchFn: FetchAddress) {
  const response = await fetchFn(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

const failUnsupported = (server: RemoteServer): never => {
  throw refusedError(server, 'its sign-in method is not supported.');
};
