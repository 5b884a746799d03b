// Makes one kind of client of what real ones register (RFC 7591) or publish (client metadata documents): unknown grants
// are dropped, loopback and app redirects make a native client, and what could send a code astray is refused. It runs for
// every client each time it is read, so it changes nothing that it made itself.
import type { ClientMetadata, errors as oidcErrors } from 'oidc-provider';
import { type DomainPolicy, findDomainProblem } from './domains.ts';
import { deviceGrant, grantTypes } from './metadata.ts';

/** The extra property by which the provider calls us; it is never stored. */
export const normaliserProperty = 'portico_normalised';

/** The command line of `portico cloud`: built in, without a secret, and with no way back but the code (RFC 8628). */
export const commandLine = {
  client_id: 'portico-cli',
  client_name: 'Portico command line',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: [deviceGrant, 'refresh_token'],
  response_types: [],
  redirect_uris: [],
} satisfies ClientMetadata;

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);
const dangerous = new Set([
  'javascript:',
  'vbscript:',
  'data:',
  'blob:',
  'file:',
  'about:',
  'view-source:',
  'filesystem:',
]);
const longestName = 200;
const longestRedirect = 2000;

export function isLoopback(redirect: URL): boolean {
  return redirect.protocol === 'http:' && loopback.has(redirect.hostname);
}

export function isDocumentClient(clientId: string): boolean {
  return clientId.startsWith('https://');
}

export interface Destination {
  readonly kind: 'web' | 'device' | 'app';
  /** Host of a web address, host and port on this device, or the scheme of an app. */
  readonly name: string;
}

/** Where the answer to a program goes that asked with a code (RFC 8628): it asks for it itself. */
export const terminal: Destination = { kind: 'device', name: 'by a code in a terminal' };

/** Where an answer goes when it is sent to this redirect URI, in the terms that a person is asked with. */
export function describeRedirect(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  if (isLoopback(url)) return { kind: 'device', name: url.host };
  if (url.protocol === 'https:') return { kind: 'web', name: url.host };
  return { kind: 'app', name: url.protocol.slice(0, -1) };
}

/** `redirects`: where clients that registered themselves may have web answers sent; a metadata document says for itself. */
export function createClientNormaliser(
  errors: typeof oidcErrors,
  redirects: DomainPolicy,
): (metadata: ClientMetadata) => void {
  const refuse = (description: string): never => {
    throw new errors.InvalidClientMetadata(description);
  };

  const checkRedirect = (uri: unknown): URL => {
    if (typeof uri !== 'string' || !URL.canParse(uri)) return refuse('redirect_uris must only contain absolute URIs');
    const url = new URL(uri);
    // RFC 6749 section 3.1.2: no fragment; and nothing that a comparison of texts and a browser read differently.
    if (uri.length > longestRedirect)
      return refuse(`redirect_uris must have at most ${longestRedirect} characters each`);
    if (uri.includes('#')) return refuse('redirect_uris must not contain fragments');
    if (/[\s\\*]/.test(uri)) return refuse('redirect_uris must not contain spaces, backslashes or wildcards');
    if (url.username || url.password) return refuse('redirect_uris must not contain credentials');
    // OAuth 2.1 section 2.3.1: https, http to this device only (RFC 8252 section 7.3), or a scheme of an app (7.1).
    if (url.protocol === 'http:' && !loopback.has(url.hostname)) {
      return refuse('redirect_uris must be https, unless they lead to localhost');
    }
    if (dangerous.has(url.protocol))
      return refuse(`redirect_uris must not use the scheme ${url.protocol.slice(0, -1)}`);
    return url;
  };

  return (metadata) => {
    // Ours, and as it must be; nobody else is given this id.
    if (metadata.client_id === commandLine.client_id) return;
    const given: Record<string, unknown> = metadata;
    delete given[normaliserProperty];
    // A registered scope would keep the client from asking for more later (step-up).
    delete given.scope;
    // There are no ID tokens to choose an algorithm for.
    delete given.id_token_signing_alg_values_supported;
    given.id_token_signed_response_alg = 'ES256';

    const { client_name: name } = metadata;
    if (name !== undefined && (typeof name !== 'string' || name.length > longestName)) {
      refuse(`client_name must be a text of at most ${longestName} characters`);
    }
    // MCP 2025-11-25 "Client ID Metadata Documents": client_name is required there.
    if (isDocumentClient(metadata.client_id) && !name?.trim()) refuse('client_name is required in a metadata document');

    const uris = metadata.redirect_uris;
    if (!Array.isArray(uris) || uris.length === 0 || uris.length > 50) {
      refuse('redirect_uris must be a list of 1 to 50 URIs');
    }
    const urls = (uris ?? []).map(checkRedirect);
    const web = isDocumentClient(metadata.client_id) ? [] : urls.filter(({ protocol }) => protocol === 'https:');
    for (const { hostname } of web) {
      const problem = findDomainProblem(hostname, redirects);
      if (problem) refuse(`redirect_uris must not lead to ${hostname}: ${problem}`);
    }
    // RFC 8252 section 8.4: an app on a device. Its loopback port is free (7.3) and it is always asked for (8.6).
    metadata.application_type = urls.some((url) => url.protocol !== 'https:') ? 'native' : 'web';

    if (Array.isArray(metadata.response_types)) {
      if (!metadata.response_types.includes('code')) refuse('response_types must include code');
      metadata.response_types = ['code'];
    }
    if (Array.isArray(metadata.grant_types)) {
      const kept = grantTypes.filter((grant) => metadata.grant_types?.includes(grant));
      if (!kept.includes('authorization_code')) refuse('grant_types must include authorization_code');
      metadata.grant_types = kept;
    }
  };
}
