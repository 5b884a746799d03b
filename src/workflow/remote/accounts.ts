// A person's account at a remote server that has people sign in (MCP authorization, revision 2025-11-25 and later): how it is
// connected, by the authorization code flow of the official client with PKCE (RFC 7636), resource indicators (RFC 8707) and
// the issuer check of the answer (RFC 9207); and how its access token is kept good. No token of ours is sent to a server,
// and what one server gave is sent to no other: what is held names the server's id, whose address never changes.
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../core/clock.ts';
import { AppError, fail } from '../../core/errors.ts';
import { randomToken } from '../../core/secret.ts';
import type { RemoteGrant, RemoteKey, RemoteServer } from '../../store/remote-types.ts';
import type { Store } from '../../store/store.ts';
import { type FetchAddress, limitAnswers } from './address.ts';
import { type Bearer, refused, unavailable } from './client.ts';
import { CONNECT_MS, within } from './limits.ts';

/** How long somebody has to sign in at the server. */
const SIGN_IN_MS = 15 * 60_000;
/** A token that ends this soon is renewed before it is used. */
const EARLY_MS = 30_000;
/** Longer than a refresh may take, which is limited to `CONNECT_MS`. */
const LEASE_MS = 30_000;
const LOOK_MS = 200;

/** What is kept, sealed, of an account. */
interface Held {
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  readonly discovery: OAuthDiscoveryState;
  readonly resource?: string;
}

/** The same of a sign-in that was begun. */
interface Begun extends Pick<Held, 'client' | 'discovery' | 'resource'> {
  readonly verifier: string;
}

export interface RemoteAccountsParts {
  readonly store: Pick<Store, 'remotes'>;
  readonly fetch: FetchAddress;
  readonly clock: Clock;
  /** Absolute address of the page that servers answer to. */
  readonly callbackUrl: string;
}

/** What a server's answer to a sign-in carried. */
export interface SignInAnswer {
  readonly state: string;
  readonly code: string | null;
  readonly iss: string | null;
}

export interface RemoteAccounts {
  /** The address at which the person signs in. REMOTE_UNAVAILABLE, REMOTE_REFUSED. */
  begin(server: RemoteServer, by: { readonly userId: number; readonly sessionId: string }): Promise<URL>;
  /** The server that is connected now; undefined for an answer that nobody waits for. Errors as of `begin`. */
  finish(
    answer: SignInAnswer,
    by: { readonly userId: number; readonly sessionId: string },
  ): Promise<RemoteServer | undefined>;
  /** What opens the server for that person. Its methods fail with REMOTE_RECONNECT where only he can help. */
  bearerOf(server: RemoteServer, userId: number): Bearer;
}

type Sdk = typeof import('@modelcontextprotocol/client');

export function createRemoteAccounts({ store, fetch, clock, callbackUrl }: RemoteAccountsParts): RemoteAccounts {
  const { remotes } = store;
  const limited = limitAnswers(fetch, () => undefined);

  /** With the time limit in every request, and in all of them together. */
  const talk = <T>(
    server: RemoteServer,
    run: (sdk: Sdk, fetchFn: FetchAddress) => Promise<T>,
    explain: (sdk: Sdk, thrown: unknown) => AppError | undefined = () => undefined,
  ): Promise<T> =>
    within(clock, CONNECT_MS, undefined, async (stop) => {
      const sdk = await import('@modelcontextprotocol/client');
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
    const { client, tokens, discovery, resource } = grant.held as Held;
    const reconnect = async (cause?: unknown): Promise<never> => {
      await remotes.markReconnect(grant, generation);
      return fail('REMOTE_RECONNECT', { server: server.name }, cause);
    };
    const { refresh_token: refreshToken } = tokens;
    if (refreshToken === undefined) return reconnect();
    // RFC 9700 section 4.14.2: a refresh token that comes twice may end all of them, so that one process uses it.
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
        (sdk, thrown) =>
          // RFC 6749 section 5.2: these are final; whatever else goes wrong may not be.
          thrown instanceof sdk.OAuthError && finalErrors.has(thrown.code)
            ? new AppError('REMOTE_RECONNECT', { server: server.name }, thrown)
            : undefined,
      );
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'REMOTE_RECONNECT') return reconnect(thrown.cause);
      await remotes.settleRefresh(grant, generation, undefined);
      throw thrown;
    }
    const held: Held = { ...(grant.held as Held), tokens: { ...tokens, ...fresh } };
    const settled = await remotes.settleRefresh(grant, generation, { held, expiresAt: expiryOf(fresh) });
    // He has disconnected it meanwhile.
    if (!settled) return fail('REMOTE_RECONNECT', { server: server.name });
    return current(server, grant);
  };

  const current = async (server: RemoteServer, key: RemoteKey): Promise<RemoteGrant> => {
    const grant = await remotes.grantOf({ serverId: key.serverId, userId: key.userId });
    if (grant?.state !== 'connected') return fail('REMOTE_RECONNECT', { server: server.name });
    return grant;
  };

  return {
    begin: (server, { userId, sessionId }) =>
      talk(server, async (sdk, fetchFn) => {
        const state = randomToken();
        let begun: Partial<Begun> = {};
        let leaveTo: URL | undefined;
        const provider: OAuthClientProvider = {
          ...basics(callbackUrl),
          state: () => state,
          clientInformation: () => begun.client,
          saveClientInformation: (client) => {
            begun = { ...begun, client };
          },
          tokens: () => undefined,
          saveTokens: () => undefined,
          redirectToAuthorization: (url) => {
            leaveTo = url;
          },
          saveCodeVerifier: (verifier) => {
            begun = { ...begun, verifier };
          },
          codeVerifier: () => `${begun.verifier}`,
          saveDiscoveryState: (discovery) => {
            begun = { ...begun, discovery };
          },
          discoveryState: () => begun.discovery,
          saveResourceUrl: (resource) => {
            begun = { ...begun, resource };
          },
        };
        const challenge = await challengeOf(sdk, server, fetchFn);
        await sdk.auth(provider, { serverUrl: server.url, fetchFn, ...challenge, forceReauthorization: true });
        const address = leaveTo ?? failWithout(server);
        // The person's browser goes there: to a web page, and never to a scheme that runs something.
        if (address.protocol !== 'https:' && address.protocol !== 'http:') failWithout(server);
        const expiresAt = clock.now() + SIGN_IN_MS;
        await remotes.beginSignIn({ serverId: server.id, userId, sessionId, state, held: begun, expiresAt });
        return address;
      }),

    async finish({ state, code, iss }, { userId, sessionId }) {
      const taken = await remotes.takeSignIn({ state, userId, sessionId });
      const server = taken && (await remotes.find(taken.serverId));
      if (!server) return undefined;
      if (code === null) throw refused(server, 'it has not connected the account.');
      const { client, discovery, resource, verifier } = taken.held as Begun;
      const tokens = await talk(server, async (sdk, fetchFn) => {
        let given: StoredOAuthTokens | undefined;
        const provider: OAuthClientProvider = {
          ...basics(callbackUrl),
          clientInformation: () => client,
          saveClientInformation: () => undefined,
          tokens: () => undefined,
          saveTokens: (tokens) => {
            given = tokens;
          },
          redirectToAuthorization: () => failWithout(server),
          saveCodeVerifier: () => undefined,
          codeVerifier: () => verifier,
          saveDiscoveryState: () => undefined,
          discoveryState: () => discovery,
        };
        const answer = { authorizationCode: code, ...(iss !== null && { iss }) };
        await sdk.auth(provider, { serverUrl: server.url, fetchFn, ...answer });
        // RFC 6749 section 7.1: a token of a type that we do not know is not used.
        if (given?.token_type.toLowerCase() !== 'bearer') failWithout(server);
        return given!;
      });
      const held: Held = { client, discovery, tokens, ...(resource !== undefined && { resource }) };
      const key = { serverId: server.id, userId };
      return (await remotes.connect({ ...key, held, expiresAt: expiryOf(tokens) })) ? server : undefined;
    },

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
          // Another has renewed it since.
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

function basics(callbackUrl: string): Pick<OAuthClientProvider, 'redirectUrl' | 'clientMetadata'> {
  return {
    redirectUrl: callbackUrl,
    clientMetadata: {
      client_name: 'Portico',
      redirect_uris: [callbackUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  };
}

/** What the server says to somebody who has no token: where its metadata is, and the scopes to ask for (RFC 9728 section 5.1). */
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
