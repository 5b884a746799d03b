// An OAuth client based on oauth4webapi that knows only the issuer.
import * as oauth from 'oauth4webapi';
import { type Account, type Browser, createBrowser, signIn } from './flow.ts';

export const insecure = { [oauth.allowInsecureRequests]: true } as const;

export interface Registered {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  /** Set for a client with DPoP-bound tokens. */
  readonly DPoP?: oauth.DPoPHandle;
}

export interface Session extends Registered {
  readonly tokens: oauth.TokenEndpointResponse;
  readonly callback: URL;
  readonly code: { readonly parameters: URLSearchParams; readonly verifier: string; readonly redirectUri: string };
}

export async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const response = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...insecure });
  return oauth.processDiscoveryResponse(url, response);
}

export async function register(issuer: string, metadata: Record<string, unknown>): Promise<Registered> {
  const server = await discover(issuer);
  const response = await oauth.dynamicClientRegistrationRequest(server, metadata as Partial<oauth.Client>, insecure);
  const client = await oauth.processDynamicClientRegistrationResponse(response);
  return { server, client, authentication: authenticationOf(client) };
}

export async function byDocument(issuer: string, clientId: string): Promise<Registered> {
  const client = { client_id: clientId, token_endpoint_auth_method: 'none' };
  return { server: await discover(issuer), client, authentication: oauth.None() };
}

function authenticationOf(client: oauth.Client): oauth.ClientAuth {
  const secret = `${client.client_secret}`;
  if (client.token_endpoint_auth_method === 'client_secret_post') return oauth.ClientSecretPost(secret);
  if (client.token_endpoint_auth_method === 'client_secret_basic') return oauth.ClientSecretBasic(secret);
  return oauth.None();
}

export interface Asking {
  readonly redirectUri: string;
  readonly scope?: string;
  readonly resource?: string;
  readonly prompt?: string;
  readonly state?: string;
  readonly browser?: Browser;
}

/** The authorization URL and its PKCE verifier. */
export async function authorizationUrl({ server, client }: Registered, asking: Asking) {
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(`${server.authorization_endpoint}`);
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: asking.redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: asking.state ?? 'the-state',
    scope: asking.scope,
    resource: asking.resource,
    prompt: asking.prompt,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return { url, verifier };
}

export async function redeem(registered: Registered, code: Session['code']): Promise<oauth.TokenEndpointResponse> {
  const { server, client, authentication } = registered;
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    code.parameters,
    code.redirectUri,
    code.verifier,
    optionsOf(registered),
  );
  return oauth.processAuthorizationCodeResponse(server, client, response);
}

export async function refresh(registered: Registered, token: string): Promise<oauth.TokenEndpointResponse> {
  const { server, client, authentication } = registered;
  const options = optionsOf(registered);
  const response = await oauth.refreshTokenGrantRequest(server, client, authentication, token, options);
  return oauth.processRefreshTokenResponse(server, client, response);
}

function optionsOf({ DPoP }: Registered) {
  return { ...insecure, ...(DPoP && { DPoP }) };
}

/** A request as the gate receives it. */
export function bearer(token: string) {
  return { method: 'POST', headers: { authorization: `Bearer ${token}` } };
}

/** The whole flow through the real pages. */
export async function connect(registered: Registered, account: Account, asking: Asking): Promise<Session> {
  const { url, verifier } = await authorizationUrl(registered, asking);
  const callback = await signIn(url, account, asking.browser ?? createBrowser());
  const parameters = oauth.validateAuthResponse(
    registered.server,
    registered.client,
    callback,
    asking.state ?? 'the-state',
  );
  const code = { parameters, verifier, redirectUri: asking.redirectUri };
  return { ...registered, callback, code, tokens: await redeem(registered, code) };
}

export async function callMcp(resource: string, token: string): Promise<{ status: number; body: string }> {
  const response = await fetch(resource, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.text() };
}
