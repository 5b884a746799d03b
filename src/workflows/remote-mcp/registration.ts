// Selects the OAuth client for a sign-in at a remote server's authorization server, in the order of MCP authorization.
// First comes a client registered manually and entered by an administrator. Next is our Client ID Metadata Document, if
// the authorization server supports these. The last option is dynamic registration (RFC 7591). Every server has its own
// redirect URL and document. This prevents mix-up attacks (RFC 9700 section 4.4.2), even without an issuer in the
// response.
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { isNamedHost } from '../../core/config/hosts.ts';
import { type AppError, fail } from '../../core/errors.ts';
import type { RemoteServer } from '../../store/remotes/types.ts';
import type { Store } from '../../store/store.ts';
import { refused } from './client.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** Absolute URLs of this installation, by the id of the server. */
export interface RemoteAddresses {
  /** The redirect URL for the server's authorization server. */
  callback(serverId: string): string;
  /** URL of our client metadata document. Undefined if no authorization server could use it, such as without https. */
  document(serverId: string): string | undefined;
}

/** The client stored with a sign-in and its grant. The secret of an entered client is not stored with it. */
export interface KeptClient {
  readonly client: StoredOAuthClientInformation;
  /** An administrator entered the client. */
  readonly isEntered?: true;
}

/** Client metadata for registration (RFC 7591 section 2) and for the metadata document. */
export function describeClient(addresses: RemoteAddresses, serverId: string): OAuthClientMetadata {
  return {
    client_name: 'Portico',
    redirect_uris: [addresses.callback(serverId)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** The `client_id` is the document's own URL (draft-ietf-oauth-client-id-metadata-document section 4). */
export function clientDocument(addresses: RemoteAddresses, serverId: string): object | undefined {
  const address = addresses.document(serverId);
  return address === undefined ? undefined : { client_id: address, ...describeClient(addresses, serverId) };
}

/** Properties of the official client's provider that select the OAuth client. `keep` receives the selected one. */
export function signingInAs(
  addresses: RemoteAddresses,
  server: RemoteServer,
  known: () => KeptClient | undefined,
  keep: (kept: KeptClient) => void,
): Pick<
  OAuthClientProvider,
  'redirectUrl' | 'clientMetadata' | 'clientMetadataUrl' | 'clientInformation' | 'saveClientInformation'
> {
  const basics = {
    redirectUrl: addresses.callback(server.id),
    clientMetadata: describeClient(addresses, server.id),
    clientInformation: () => known()?.client,
  };
  if (server.client) {
    const { id, issuer } = server.client;
    keep({ client: { client_id: id, issuer }, isEntered: true });
    // Without `saveClientInformation`, a changed issuer makes the sign-in fail instead of registering a new client
    // there.
    return basics;
  }
  const document = addresses.document(server.id);
  return {
    ...basics,
    saveClientInformation: (client) => keep({ client }),
    ...(document !== undefined && { clientMetadataUrl: document }),
  };
}

/**
 * The client with its secret, for the token endpoint of its issuer. Undefined if another client was entered since. The
 * old grant does not belong to the new client, and a secret is sent only to the issuer it was entered for (RFC 9700
 * section 4.4).
 */
export async function openClient(
  remotes: Pick<Store['remotes'], 'find' | 'secretOf'>,
  serverId: string,
  { client, isEntered }: KeptClient,
): Promise<StoredOAuthClientInformation | undefined> {
  if (!isEntered) return client;
  const now = (await remotes.find(serverId))?.client;
  if (!now || now.id !== client.client_id || now.issuer !== client.issuer) return undefined;
  const secret = await remotes.secretOf(serverId);
  return { ...client, ...(secret !== undefined && { client_secret: secret }) };
}

/**
 * Converts sign-in errors that a user or an administrator can fix. Returns undefined for all others. `unregistered`:
 * the discovered metadata, if no client was registered yet.
 */
export function explainSignIn(
  sdk: Sdk,
  server: RemoteServer,
  unregistered: OAuthDiscoveryState | undefined,
  thrown: unknown,
): AppError | undefined {
  const no = (problem: string): AppError => refused(server, problem, thrown);
  const enter = `An administrator can register Portico there and enter the client id on the page of '${server.name}'.`;
  if (thrown instanceof sdk.AuthorizationServerMismatchError) {
    return no(
      `its client id is for ${server.client?.issuer ?? 'another authorization server'}, and people sign in elsewhere by now. An administrator can enter a client id of the other.`,
    );
  }
  if (thrown instanceof sdk.IssuerMismatchError) {
    return no(
      thrown.kind === 'metadata'
        ? 'what its authorization server says of itself is said of another one.'
        : 'the answer is of another authorization server than the one that was asked.',
    );
  }
  if (thrown instanceof sdk.RegistrationRejectedError) {
    return no(`its authorization server did not register Portico (status ${thrown.status}). ${enter}`);
  }
  const metadata = unregistered?.authorizationServerMetadata;
  if (metadata && metadata.registration_endpoint === undefined && !(thrown instanceof sdk.OAuthError)) {
    return no(`its authorization server registers no clients by itself. ${enter}`);
  }
  if (!(thrown instanceof sdk.OAuthError)) return undefined;
  if (thrown.code === 'invalid_client' || thrown.code === 'unauthorized_client') {
    return no(
      server.client
        ? 'its authorization server does not take the client id, or its secret. An administrator can enter them anew.'
        : 'its authorization server does not know the client any more. Connect the account again.',
    );
  }
  return thrown.code === 'invalid_grant' ? no('it does not take this sign-in any more. Connect it again.') : undefined;
}

/** Characters allowed in client ids and secrets (RFC 6749 appendix A). */
const visible = /^[\x20-\x7e]+$/;
const ID_MOST = 2000;
const SECRET_MOST = 4000;

export interface EnteredClient {
  readonly id: string;
  /** '' for a client without a secret. */
  readonly secret: string;
  /** '' uses the issuer that the server currently names. */
  readonly issuer: string;
}

/** Throws INVALID_ARGUMENT. `hosts` may have private addresses. */
export function checkEntered({ id, secret, issuer }: EnteredClient, hosts: readonly string[]): void {
  const wrong = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
  if (!visible.test(id) || id.length > ID_MOST) wrong('clientId', 'expected the client id that was given there.');
  if (secret !== '' && (!visible.test(secret) || secret.length > SECRET_MOST)) {
    wrong('clientSecret', 'expected the secret that was given there.');
  }
  if (issuer === '') return;
  const url = URL.canParse(issuer) && issuer.length <= ID_MOST ? new URL(issuer) : undefined;
  const isKnown = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isNamedHost(url, hosts)));
  // An issuer has no query and no fragment (RFC 8414 section 2).
  if (!isKnown || /[?#]/.test(issuer) || url.username || url.password) {
    wrong('issuer', 'expected the address of the authorization server, such as https://login.example.');
  }
}
