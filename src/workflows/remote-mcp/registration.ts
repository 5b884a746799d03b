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
import { refusedError } from './client.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** Absolute URLs of this installation, by the id of the server. */
export interface RemoteAddresses {
  /** The redirect URL for the server's authorization server. */
  callback(serverId: string): string;
  /** URL of our client metadata document. Undefined if no authorization server could use it, such as without https. */
  document(serverId: string): string | undefined;
}

/** The client stored with a sign-in and its grant. The secret of an entered client is not stored with it. */
export interface StoredClient {
  readonly client: StoredOAuthClientInformation;
  /** An administrator entered the client. */
  readonly isEntered?: true;
}

/** Client metadata for registration (RFC 7591 section 2) and for the metadata document. */
function describeClient(addresses: RemoteAddresses, serverId: string): OAuthClientMetadata {
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
export function selectClient(
  addresses: RemoteAddresses,
  server: RemoteServer,
  findClient: () => StoredClient | undefined,
  saveClient: (selected: StoredClient) => void,
): Pick<
  OAuthClientProvider,
  'redirectUrl' | 'clientMetadata' | 'clientMetadataUrl' | 'clientInformation' | 'saveClientInformation'
> {
  const basics = {
    redirectUrl: addresses.callback(server.id),
    clientMetadata: describeClient(addresses, server.id),
    clientInformation: () => findClient()?.client,
  };
  if (server.client) {
    const { id, issuer } = server.client;
    saveClient({ client: { client_id: id, issuer }, isEntered: true });
    // Without `saveClientInformation`, a changed issuer makes the sign-in fail instead of registering a new client
    // there.
    return basics;
  }
  const document = addresses.document(server.id);
  return {
    ...basics,
    saveClientInformation: (client) => saveClient({ client }),
    ...(document !== undefined && { clientMetadataUrl: document }),
  };
}

/**
 * The client with its secret, for the token endpoint of its issuer. Undefined if another client was entered since. The
 * old grant does not belong to the new client, and a secret is sent only to the issuer it was entered for (RFC 9700
 * section 4.4).
 */
export async function loadClient(
  remotes: Pick<Store['remotes'], 'find' | 'secretOf'>,
  serverId: string,
  { client, isEntered }: StoredClient,
): Promise<StoredOAuthClientInformation | undefined> {
  if (!isEntered) return client;
  const current = (await remotes.find(serverId))?.client;
  if (!current || current.id !== client.client_id || current.issuer !== client.issuer) return undefined;
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
  const refuse = (problem: string): AppError => refusedError(server, problem, thrown);
  const advice = `An administrator can register Portico there and enter the client id on the page of '${server.name}'.`;
  if (thrown instanceof sdk.AuthorizationServerMismatchError) {
    return refuse(
      `its client id belongs to ${server.client?.issuer ?? 'another authorization server'}, but its authorization server has changed. An administrator can enter a client id of the new one.`,
    );
  }
  if (thrown instanceof sdk.IssuerMismatchError) {
    return refuse(
      thrown.kind === 'metadata'
        ? 'the metadata of its authorization server belongs to another one.'
        : 'the response came from another authorization server.',
    );
  }
  if (thrown instanceof sdk.RegistrationRejectedError) {
    return refuse(`its authorization server did not register Portico (status ${thrown.status}). ${advice}`);
  }
  const metadata = unregistered?.authorizationServerMetadata;
  if (metadata && metadata.registration_endpoint === undefined && !(thrown instanceof sdk.OAuthError)) {
    return refuse(`its authorization server does not support automatic client registration. ${advice}`);
  }
  if (!(thrown instanceof sdk.OAuthError)) return undefined;
  if (thrown.code === 'invalid_client' || thrown.code === 'unauthorized_client') {
    return refuse(
      server.client
        ? 'its authorization server does not accept the client id or the client secret. An administrator can enter them again.'
        : 'its authorization server no longer knows the client. Connect the account again.',
    );
  }
  return thrown.code === 'invalid_grant' ? refuse('it no longer accepts this sign-in. Connect it again.') : undefined;
}

/** Characters allowed in client ids and secrets (RFC 6749 appendix A). */
const visibleCharacters = /^[\x20-\x7e]+$/;
const MAX_ID_LENGTH = 2000;
const MAX_SECRET_LENGTH = 4000;

export interface ManualClient {
  readonly id: string;
  /** '' for a client without a secret. */
  readonly secret: string;
  /** '' uses the issuer that the server currently names. */
  readonly issuer: string;
}

/** Throws INVALID_ARGUMENT. `hosts` may have private addresses. */
export function checkManualClient({ id, secret, issuer }: ManualClient, hosts: readonly string[]): void {
  const failArgument = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
  if (!visibleCharacters.test(id) || id.length > MAX_ID_LENGTH)
    failArgument('clientId', 'expected the client id that the authorization server issued.');
  if (secret !== '' && (!visibleCharacters.test(secret) || secret.length > MAX_SECRET_LENGTH)) {
    failArgument('clientSecret', 'expected the secret that the authorization server issued.');
  }
  if (issuer === '') return;
  const url = URL.canParse(issuer) && issuer.length <= MAX_ID_LENGTH ? new URL(issuer) : undefined;
  const isAllowed = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isNamedHost(url, hosts)));
  // An issuer has no query and no fragment (RFC 8414 section 2).
  if (!isAllowed || /[?#]/.test(issuer) || url.username || url.password) {
    failArgument('issuer', 'expected the URL of the authorization server, such as https://login.example.');
  }
}
