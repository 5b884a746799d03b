// Every path and URL of the authorization server, built once from the configured public URL. Advertised URLs never
// depend on a request: a Host header must not be able to change an endpoint (RFC 8414 section 6.2).
//
// There are two prefixes. `basePath` is our mount point in the served tree. The path of the public URL (allowed only
// without a basePath) is added by a reverse proxy. The proxy may strip it or forward it, so both forms are recognized.
import { prefixesOf } from '../../http/prefixes.ts';

export type Endpoint =
  | 'authorize'
  | 'resume'
  | 'token'
  | 'register'
  | 'revoke'
  | 'introspect'
  | 'jwks'
  | 'par'
  | 'device-authorization'
  | 'device'
  | 'device-resume'
  | 'interaction'
  | 'sso';

export interface Paths {
  /** `https://data.example.com` */
  readonly origin: string;
  /** Host with port, as in a Host header. */
  readonly host: string;
  readonly secure: boolean;
  /**
   * Prefix of `/oauth` and `/mcp` in public URLs: the path of the public URL, or the basePath. '' if there is no
   * prefix.
   */
  readonly prefix: string;
  readonly issuer: string;
  /** The only protected resource, and the audience of every access token for it. */
  readonly resource: string;
  readonly resourceMetadata: string;
  readonly authorizationServerMetadata: string;
  /** Absolute URL of an endpoint under `/oauth`. */
  url(
    endpoint:
      | 'authorize'
      | 'token'
      | 'register'
      | 'revoke'
      | 'introspect'
      | 'jwks'
      | 'par'
      | 'device'
      | 'device_authorization',
  ): string;
  /** Absolute URL of the redirect from an OpenID provider; '' is that of SERVICE_SSO_ISSUER. */
  ssoCallback(provider: string): string;
  /** Public path of a sign-in or consent page. */
  interaction(uid: string): string;
  /** Path prefixes of requests to the endpoints, which end in `/oauth`. */
  readonly prefixes: readonly string[];
  /** The metadata documents by their path. */
  readonly documents: ReadonlyMap<string, MetadataDocument>;
  /** Path prefixes without other documents than ours: `/.well-known`, unless a host application has its own there. */
  readonly wellKnown: readonly string[];
}

export type MetadataDocument = 'authorizationServer' | 'protectedResource' | 'appsChallenge';

const ssoPath = '/oauth/sso/callback';
/** Paths without any prefix. `:uid` is the id of an interaction, or of an OpenID provider. */
export const endpointPaths: Readonly<Record<string, Endpoint>> = {
  '/oauth/authorize': 'authorize',
  '/oauth/token': 'token',
  '/oauth/register': 'register',
  '/oauth/revoke': 'revoke',
  '/oauth/introspect': 'introspect',
  '/oauth/jwks': 'jwks',
  '/oauth/par': 'par',
  '/oauth/device_authorization': 'device-authorization',
  '/oauth/device': 'device',
  [ssoPath]: 'sso',
  [`${ssoPath}/:uid`]: 'sso',
  '/oauth/authorize/:uid': 'resume',
  '/oauth/device/:uid': 'device-resume',
  '/oauth/interaction/:uid': 'interaction',
};
const authorizationServer = '/.well-known/oauth-authorization-server';
const protectedResource = '/.well-known/oauth-protected-resource';
/** OpenAI looks only at the root of the domain. */
const appsChallenge = '/.well-known/openai-apps-challenge';

/** `publicUrl` has been validated by the configuration (no trailing slash). `basePath` is '' or starts with a slash. */
export function createPaths(publicUrl: string, basePath: string): Paths {
  const url = new URL(publicUrl);
  const publicPath = url.pathname.replace(/\/+$/, '');
  const prefix = publicPath + basePath;
  const issuer = url.origin + prefix;

  const documents = new Map<string, MetadataDocument>();
  const publish = (path: string, document: MetadataDocument) => {
    // A reverse proxy that adds the path of the public URL may pass it on.
    for (const one of [path, publicPath + path]) documents.set(one, document);
  };
  publish(authorizationServer + prefix, 'authorizationServer');
  publish(`${protectedResource}${prefix}/mcp`, 'protectedResource');
  if (basePath === '') {
    // All of /.well-known is ours, so clients that omit the path of the issuer also find the documents.
    publish(authorizationServer, 'authorizationServer');
    publish(`${protectedResource}/mcp`, 'protectedResource');
    publish(protectedResource, 'protectedResource');
    publish(appsChallenge, 'appsChallenge');
  }

  return {
    origin: url.origin,
    host: url.host,
    secure: url.protocol === 'https:',
    prefix,
    issuer,
    resource: `${issuer}/mcp`,
    resourceMetadata: `${url.origin}${protectedResource}${prefix}/mcp`,
    authorizationServerMetadata: url.origin + authorizationServer + prefix,
    url: (endpoint) => `${issuer}/oauth/${endpoint}`,
    ssoCallback: (provider) => `${issuer}${ssoPath}${provider === '' ? '' : `/${provider}`}`,
    interaction: (uid) => `${prefix}/oauth/interaction/${uid}`,
    prefixes: prefixesOf(publicUrl, `${basePath}/oauth`).prefixes,
    documents,
    wellKnown: basePath === '' ? prefixesOf(publicUrl, '/.well-known').prefixes : [],
  };
}

/**
 * Returns the identifier of our resource for any spelling that a client sends (RFC 8707 section 2). Ignored
 * differences: a trailing slash, the case of scheme and host, a default port, and our own query parameters. Any other
 * value is returned unchanged and rejected later as `invalid_target`.
 */
export function canonicalResource(value: string, resource: string): string {
  if (!URL.canParse(value)) return value;
  const url = new URL(value);
  const hasOnlyOwnParameters = [...url.searchParams.keys()].every(
    (name) => name === 'readonly' || name === 'collections',
  );
  if (!hasOnlyOwnParameters || url.hash || value.includes('#') || url.username || url.password) return value;
  return url.origin + url.pathname.replace(/\/+$/, '') === resource ? resource : value;
}
