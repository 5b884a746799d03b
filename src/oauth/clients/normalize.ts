// Normalizes client metadata from registration (RFC 7591) and from metadata documents. Unknown grant types are dropped,
// loopback and app redirects make a native client, and unsafe redirects are rejected. It runs each time a client is
// read, so it must be idempotent.
import type { ClientMetadata, errors as oidcErrors } from 'oidc-provider';
import { canonicalHost } from '../../core/config/hosts.ts';
import { visibleName } from '../../core/suggestions/visible-text.ts';
import { deviceGrant, grantTypes } from '../server/metadata.ts';
import { type DomainPolicy, findDomainProblem } from './domains.ts';

/** Extra metadata property that makes the provider call the normalizer. It is never stored. */
export const normaliserProperty = 'portico_normalised';

/**
 * The built-in client of the command line (`portico cloud`): no secret, and no redirect URI, only the device code (RFC
 * 8628).
 */
export const commandLineClient = {
  client_id: 'portico-cli',
  client_name: 'Portico command line',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: [deviceGrant, 'refresh_token'],
  response_types: [],
  redirect_uris: [],
} satisfies ClientMetadata;

/** RFC 8252 section 7.3: hosts that http redirects may use. */
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Schemes of known apps that do not use a domain name. */
const knownApps: ReadonlySet<string> = new Set(
  [
    ...['cursor', 'vscode', 'vscode-insiders', 'vscodium', 'windsurf', 'windsurf-next', 'zed', 'kiro', 'trae', 'void'],
    ...['claude', 'chatgpt', 'goose', 'raycast', 'warp', 'jan', 'lmstudio', 'antigravity', 'postman', 'insomnia'],
  ].map((scheme) => `${scheme}:`),
);

/**
 * RFC 8252 sections 7.1 and 8.4: the scheme of an app is a reversed domain name, so it contains a dot. Other schemes
 * may belong to browsers and systems (ms-msdt, search-ms, intent, smb). A link to this server must not open programs
 * through them.
 */
function isAppScheme(scheme: string): boolean {
  return knownApps.has(scheme) || /^[a-z][a-z0-9]*(?:\.[a-z0-9-]+)+:$/.test(scheme);
}

/** OpenID Connect members. It is not supported, so they are dropped, as RFC 7591 section 2 permits. */
const openidMembers = [
  'id_token_signing_alg_values_supported',
  'sector_identifier_uri',
  'subject_type',
  'subject_types_supported',
  'default_max_age',
  'require_auth_time',
  'default_acr_values',
] as const;
const MAX_NAME_LENGTH = 200;
const MAX_REDIRECT_LENGTH = 2000;

/** Whether the URL leads to the device itself, over http or https (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3). */
function isLoopback({ hostname }: URL): boolean {
  const host = canonicalHost(hostname);
  return host === '[::1]' || /^127(?:\.\d+){3}$/.test(host) || /^(?:.+\.)?localhost$/.test(host);
}

export function isDocumentClient(clientId: string): boolean {
  return clientId.startsWith('https://');
}

export interface Destination {
  readonly kind: 'web' | 'device' | 'app';
  /** Host of a web URL, host and port on this device, or the scheme of an app. */
  readonly name: string;
}

/** Destination of a program that uses a device code (RFC 8628): it polls for its response. */
export const terminalDestination: Destination = { kind: 'device', name: 'by a code in a terminal' };

/** Describes the destination of a redirect URI for the consent page. */
export function describeRedirect(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (isWeb && isLoopback(url)) return { kind: 'device', name: url.host };
  if (isWeb) return { kind: 'web', name: url.host };
  return { kind: 'app', name: url.protocol.slice(0, -1) };
}

/**
 * RFC 7591 section 2: members are strings, numbers, booleans or lists of strings; only the key set is an object.
 * Checked first, because the package uses some members as strings before it checks their type.
 */
export function findMemberProblem(metadata: object): string | undefined {
  const isPlain = (value: unknown) => value === null || typeof value !== 'object';
  for (const [name, value] of Object.entries(metadata)) {
    const isValid = name === 'jwks' || isPlain(value) || (Array.isArray(value) && value.every(isPlain));
    if (!isValid) return `${name} must be a string, or a list of strings`;
  }
  return undefined;
}

/** `redirects`: domains for the web redirects of self-registered clients. Metadata documents are exempt. */
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
    // RFC 6749 section 3.1.2: no fragment. Also no characters that a string comparison and a browser treat differently.
    if (uri.length > MAX_REDIRECT_LENGTH)
      return refuse(`redirect_uris must have at most ${MAX_REDIRECT_LENGTH} characters each`);
    if (uri.includes('#')) return refuse('redirect_uris must not contain fragments');
    if (/[\s\\*]/.test(uri)) return refuse('redirect_uris must not contain spaces, backslashes or wildcards');
    if (url.username || url.password) return refuse('redirect_uris must not contain credentials');
    // OAuth 2.1 section 2.3.1: https, http only to this device (RFC 8252 section 7.3), or an app's scheme (7.1).
    if (url.protocol === 'http:' && !loopbackHosts.has(url.hostname)) {
      return refuse('redirect_uris must be https, unless they point to localhost');
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:' && !isAppScheme(url.protocol)) {
      const scheme = url.protocol.slice(0, -1);
      return refuse(
        `redirect_uris must not use the scheme ${scheme}: an app uses a reversed domain name, such as com.example.app`,
      );
    }
    return url;
  };

  return (metadata) => {
    // The built-in client needs no changes. No other client can have this id.
    if (metadata.client_id === commandLineClient.client_id) return;
    const members: Record<string, unknown> = metadata;
    delete members[normaliserProperty];
    // A registered scope would prevent the client from requesting more later (step-up).
    delete members.scope;
    // ID tokens and pairwise subjects are not supported. Without this, the provider would fetch the sector URI.
    for (const name of openidMembers) delete members[name];
    members.id_token_signed_response_alg = 'ES256';

    const { client_name: rawName } = metadata;
    if (rawName !== undefined && (typeof rawName !== 'string' || rawName.length > MAX_NAME_LENGTH)) {
      refuse(`client_name must be a string of at most ${MAX_NAME_LENGTH} characters`);
    }
    // RFC 7591 section 5: users see this name, so it must not contain invisible or bidirectional characters.
    const name = visibleName(rawName ?? '');
    // MCP 2025-11-25 "Client ID Metadata Documents": client_name is required in a document.
    if (isDocumentClient(metadata.client_id) && !name) refuse('client_name is required in a metadata document');
    if (name) metadata.client_name = name;
    else delete members.client_name;

    const uris = metadata.redirect_uris;
    if (!Array.isArray(uris) || uris.length === 0 || uris.length > 50) {
      refuse('redirect_uris must be a list of 1 to 50 URIs');
    }
    const urls = (uris ?? []).map(checkRedirect);
    const web = isDocumentClient(metadata.client_id) ? [] : urls.filter(({ protocol }) => protocol === 'https:');
    for (const { hostname } of web) {
      const problem = findDomainProblem(hostname, redirects);
      if (problem) refuse(`redirect_uris must not point to ${hostname}: ${problem}`);
    }
    // RFC 8252 section 8.4: an app on a device. Its loopback port is variable (7.3), and consent is always asked (8.6).
    metadata.application_type = urls.some((url) => url.protocol !== 'https:') ? 'native' : 'web';

    if (Array.isArray(metadata.response_types)) {
      if (!metadata.response_types.includes('code')) refuse('response_types must include code');
      metadata.response_types = ['code'];
    }
    if (Array.isArray(metadata.grant_types)) {
      const supported = grantTypes.filter((grant) => metadata.grant_types?.includes(grant));
      if (!supported.includes('authorization_code')) refuse('grant_types must include authorization_code');
      metadata.grant_types = supported;
    }
  };
}
