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
import { type FetchAddress, type FetchForServer, limitAnswers } from './address.ts';
import { type Bearer, refused, unavailable } from './client.ts';
import { CONNECT_MS, within } from './limits.ts';
import { explainSignIn, type KeptClient, openClient, type RemoteAddresses, signingInAs } from './registration.ts';

/** Time that a user has to sign in at the server. */
const SIGN_IN_MS = 15 * 60_000;
/** A token that expires within this time is refreshed before use. */
const EARLY_MS = 30_000;
/** Longer than a refresh may take, which `CONNECT_MS` limits. */
const LEASE_MS = 30_000;
const LOOK_MS = 200;

/** The encrypted data of a connected account. */
interface Held extends KeptClient {
  readonly tokens: StoredOAuthTokens;
  readonly discovery: OAuthDiscoveryState;
  readonly resource?: string;
}

/** The encrypted data of a pending sign-in. */
interface Begun extends Omit<Held, 'tokens'> {
  readonly verifier: string;
}

export interface RemoteAccountsParts {
  readonly store: Pick<Store, 'remotes'>;
  readonly fetch: FetchForServer;
  readonly clock: Clock;
  readonly addresses: RemoteAddresses;
}

/** Parameters of an authorization response. */
export interface SignInAnswer {
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

type Sdk = typeof import('@modelcontextprotocol/client');

export function createRemoteAccounts({ store, fetch, clock, addresses }: RemoteAccountsParts): RemoteAccounts {
  const { remotes } = store;

  /** Applies the time limit to each request, and to all of them together. */
  const talk = <T>(
    server: RemoteServer,
    run: (sdk: Sdk, fetchFn: FetchAddress) => Promise<T>,
    explain: (sdk: Sdk, thrown: unknown) => AppError | undefined = () => undefined,
  ): Promise<T> =>
    within(clock, CONNECT_MS, undefined, async (stop) => {
      const sdk = await import('@modelcontextprotocol/client');
      const limited = limitAnswers(fetch(server), () => undefined);
      const fetchFn: FetchAddress = (url, init) => limited(url, { ...init, redirect: 'manual', signal: stop.real });
      try {
        return await run(sdk, fetchFn);
      } catch (thrown) {
        if (thrown instanceof AppError) throw thrown;
        throw explain(sdk, thrown) ?? unavailable(server, 'its sign-in does not work as it should.', thrown);
      }
    }).catch((thrown: unknown) => {
      if (thrown instanceof AppError) throw thrown;
      throw unavailable(server, `its sign-in did not answer within ${CONNECT_MS / 1000} seconds.`, thrown);
    });

  const expiryOf = ({ expires_in }: StoredOAuthTokens): number | null =>
    expires_in === undefined ? null : clock.now() + expires_in * 1000;

  const refresh = async (server: RemoteServer, grant: RemoteGrant): Promise<RemoteGrant> => {
    const { generation } = grant;
    const { tokens, discovery, resource, isEntered } = grant.held as Held;
    const reconnect = async (cause?: unknown): Promise<never> => {
      await remotes.markReconnect(grant, generation);
      return fail('REMOTE_RECONNECT', { server: server.name }, cause);
    };
    const { refresh_token: refreshToken } = tokens;
    if (refreshToken === undefined) return reconnect();
    const client = await openClient(remotes, server.id, grant.held as Held);
    if (!client) return reconnect();
    // Only one process may refresh: a reused refresh token can revoke the whole grant (RFC 9700 section 4.14.2).
    const until = clock.monotonic() + LEASE_MS;
    for (let claim = await remotes.claimRefresh(grant, generation, LEASE_MS); claim !== 'claimed'; ) {
      if (claim === 'stale') return current(server, grant);
      if (claim === 'lost') return fail('REMOTE_RECONNECT', { server: server.name });
      if (clock.monotonic() > until) throw unavailable(server, 'its account is being renewed elsewhere.');
      await clock.sleep(LOOK_MS);
      claim = await remotes.claimRefresh(grant, generation, LEASE_MS);
    }
    let fresh: StoredOAuthTokens;
    try {
      fresh = await talk(
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
    const held: Held = { ...(grant.held as Held), tokens: { ...tokens, ...fresh } };
    const settled = await remotes.settleRefresh(grant, generation, { held, expiresAt: expiryOf(fresh) });
    // The user has disconnected the account in the meantime.
    if (!settled) return fail('REMOTE_RECONNECT', { server: server.name });
    return current(server, grant);
  };

  const current = async (server: RemoteServer, key: RemoteKey): Promise<RemoteGrant> => {
    const grant = await remotes.grantOf({ serverId: key.serverId, userId: key.userId });
    if (grant?.state !== 'connected') return fail('REMOTE_RECONNECT', { server: server.name });
    return grant;
  };

  return {
    async begin(server, { userId, sessionId }) {
      const state = randomToken();
      let begun: Partial<Begun> = {};
      let leaveTo: URL | undefined;
      let isAsked = false;
      const known = () => {
        isAsked = true;
        return begun.client && { client: begun.client };
      };
      const keep = (kept: Partial<Begun>): void => {
        begun = { ...begun, ...kept };
      };
      const provider: OAuthClientProvider = {
        ...signingInAs(addresses, server, known, keep),
        state: () => state,
        tokens: () => undefined,
        saveTokens: () => undefined,
        redirectToAuthorization: (url) => {
          leaveTo = url;
        },
        saveCodeVerifier: (verifier) => keep({ verifier }),
        codeVerifier: () => `${begun.verifier}`,
        saveDiscoveryState: (discovery) => keep({ discovery }),
        discoveryState: () => begun.discovery,
        saveResourceUrl: (resource) => keep({ resource }),
      };
      await talk(
        server,
        async (sdk, fetchFn) => {
          const challenge = await challengeOf(sdk, server, fetchFn);
          await sdk.auth(provider, { serverUrl: server.url, fetchFn, ...challenge, forceReauthorization: true });
        },
        (sdk, thrown) => explainSignIn(sdk, server, isAsked && !begun.client ? begun.discovery : undefined, thrown),
      );
      const address = leaveTo ?? failWithout(server);
      // The browser opens this URL. Only web pages are allowed: other schemes could run code.
      if (address.protocol !== 'https:' && address.protocol !== 'http:') failWithout(server);
      const expiresAt = clock.now() + SIGN_IN_MS;
      await remotes.beginSignIn({ serverId: server.id, userId, sessionId, state, held: begun, expiresAt });
      return address;
    },

    async finish({ serverId, state, code, iss }, { userId, sessionId }) {
      const taken = await remotes.takeSignIn({ state, userId, sessionId });
      const server = taken && (await remotes.find(taken.serverId));
      // A response at another server's redirect URL comes from another authorization server (RFC 9700 section 4.4.2.2).
      if (!server || server.id !== serverId) return undefined;
      if (code === null) throw refused(server, 'it has not connected the account.');
      const { verifier, ...begun } = taken.held as Begun;
      const { discovery, resource } = begun;
      const metadata = discovery.authorizationServerMetadata;
      // RFC 9207 section 2.4. The official client checks this itself if there is metadata.
      if (!metadata && iss !== null && withoutSlash(iss) !== withoutSlash(discovery.authorizationServerUrl)) {
        throw refused(server, 'the answer is of another authorization server than the one that was asked.');
      }
      const client = await openClient(remotes, server.id, begun);
      if (!client) throw refused(server, 'its client id was changed meanwhile. Connect the account again.');
      const provider: OAuthClientProvider = {
        ...signingInAs(
          addresses,
          server,
          () => ({ client }),
          () => undefined,
        ),
        tokens: () => undefined,
        saveTokens: () => undefined,
        redirectToAuthorization: () => failWithout(server),
        saveCodeVerifier: () => undefined,
        codeVerifier: () => verifier,
      };
      // `auth` would send a rejected code a second time, and would log the server's error text.
      const tokens: StoredOAuthTokens = await talk(
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
      if (tokens.token_type.toLowerCase() !== 'bearer') failWithout(server);
      const held: Held = { ...begun, tokens };
      const key = { serverId: server.id, userId };
      return (await remotes.connect({ ...key, held, expiresAt: expiryOf(tokens) })) ? server : undefined;
    },

    issuerOf: (server) =>
      talk(
        server,
        async (sdk, fetchFn) => {
          const { resourceMetadataUrl } = await challengeOf(sdk, server, fetchFn);
          const options = { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) };
          const found = await sdk.discoverOAuthServerInfo(server.url, options);
          return found.authorizationServerMetadata?.issuer ?? found.authorizationServerUrl;
        },
        (sdk, thrown) => explainSignIn(sdk, server, undefined, thrown),
      ),

    bearerOf(server, userId) {
      const key = { serverId: server.id, userId };
      let used: RemoteGrant | undefined;
      return {
        async token() {
          const grant = await current(server, key);
          const ends = grant.expiresAt !== null && grant.expiresAt <= clock.now() + EARLY_MS;
          used = ends ? await refresh(server, grant) : grant;
          return (used.held as Held).tokens.access_token;
        },
        async renew() {
          const grant = await current(server, key);
          // Another process has refreshed it since.
          if (used && grant.generation !== used.generation) return;
          await refresh(server, grant);
        },
        async giveUp() {
          if (used) await remotes.markReconnect(key, used.generation);
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
async function challengeOf(sdk: Sdk, server: RemoteServer, fetchFn: FetchAddress) {
  const response = await fetchFn(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

const failWithout = (server: RemoteServer): never => {
  throw refused(server, 'its sign-in is none that we know.');
};
