// As which client a person signs in at a remote server's authorization server, in the order that MCP authorization gives: the
// client that somebody registered there by hand, and an administrator entered; else the document that we publish about
// ourselves (Client ID Metadata Documents), where the authorization server takes such; else one that it registers by itself
// (RFC 7591). Every server has a redirect address of its own, and a document of its own with it: an answer that comes to the
// address of one is no answer of another (mix-up, RFC 9700 section 4.4.2), whether or not it names its issuer.
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { type AppError, fail } from '../../core/errors.ts';
import type { RemoteServer } from '../../store/remote-types.ts';
import type { Store } from '../../store/store.ts';
import { refused } from './client.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** Addresses of ours, absolute, by the id of the server. */
export interface RemoteAddresses {
  /** The page that the server's authorization server answers to. */
  callback(serverId: string): string;
  /** Where our document for it is; undefined where no authorization server would look for it, such as without https. */
  document(serverId: string): string | undefined;
}

/** What is kept of the client with a sign-in, and with what comes of it. Of one that was entered here not its secret. */
export interface KeptClient {
  readonly client: StoredOAuthClientInformation;
  /** An administrator entered it. */
  readonly isEntered?: true;
}

/** RFC 7591 section 2, and what is published of it. */
export function describeClient(addresses: RemoteAddresses, serverId: string): OAuthClientMetadata {
  return {
    client_name: 'Portico',
    redirect_uris: [addresses.callback(serverId)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** draft-ietf-oauth-client-id-metadata-document section 4: it names the very address at which it is. */
export function clientDocument(addresses: RemoteAddresses, serverId: string): object | undefined {
  const address = addresses.document(serverId);
  return address === undefined ? undefined : { client_id: address, ...describeClient(addresses, serverId) };
}

/** As what the official client signs in; `keep` is told which client it became. */
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
    // Nothing to save it with: where the issuer is another by now, the client fails and registers nothing there.
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
 * The client with its secret, for the token endpoint of its issuer. Undefined where another was entered since: what it was
 * allowed is not the other's, and no secret goes where its client was not entered for (RFC 9700 section 4.4).
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
 * What is said to whoever can do something about it; undefined for whatever else went wrong. `unregistered`: what was found, where
 * a client was still to be registered.
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

/** RFC 6749 appendix A: what identifiers and secrets of clients are made of. */
const visible = /^[\x20-\x7e]+$/;
const ID_MOST = 2000;
const SECRET_MOST = 4000;

export interface EnteredClient {
  readonly id: string;
  /** '' for a client without one. */
  readonly secret: string;
  /** '': the one that the server names now. */
  readonly issuer: string;
}

/** INVALID_ARGUMENT. `hosts`: those that need not be public. */
export function checkEntered({ id, secret, issuer }: EnteredClient, hosts: readonly string[]): void {
  const wrong = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
  if (!visible.test(id) || id.length > ID_MOST) wrong('clientId', 'expected the client id that was given there.');
  if (secret !== '' && (!visible.test(secret) || secret.length > SECRET_MOST)) {
    wrong('clientSecret', 'expected the secret that was given there.');
  }
  if (issuer === '') return;
  const url = URL.canParse(issuer) && issuer.length <= ID_MOST ? new URL(issuer) : undefined;
  const isKnown = url && (url.protocol === 'https:' || (url.protocol === 'http:' && hosts.includes(url.hostname)));
  // RFC 8414 section 2: neither query nor fragment.
  if (!isKnown || /[?#]/.test(issuer) || url.username || url.password) {
    wrong('issuer', 'expected the address of the authorization server, such as https://login.example.');
  }
}
