// Every path and URL of the authorization server, built once from the configured public URL. Advertised URLs never
// depend on a request: a Host header must not be able to change an endpoint (RFC 8414 section 6.2).
//
// There are two prefixes. `basePath` is our mount point in the served tree. The path of the public URL (allowed only
// without a basePath) is added by a reverse proxy. The proxy may strip it or forward it, so both forms are recognized.

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
  | 'sso'
  | 'authorization-server'
  | 'protected-resource';

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
  /** Absolute URL of the redirect from the OpenID provider. */
  readonly ssoCallback: string;
  /** Public path of a sign-in or consent page. */
  interaction(uid: string): string;
  /**
   * Resolves a request path. Returns the endpoint with the path that the provider knows, `unknown` for other paths in
   * our namespaces, and undefined for all other paths.
   */
  locate(path: string): Located | 'unknown' | undefined;
}

export interface Located {
  readonly endpoint: Endpoint;
  /** Path without any prefix, such as `/oauth/token`. */
  readonly inner: string;
  /** Interaction id, for the page of an interaction and the redirect back from it. */
  readonly uid?: string;
}

const ssoPath = '/oauth/sso/callback';
/** Paths without any prefix, except for those that end in an id. */
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
};
const withUid: readonly [RegExp, Endpoint][] = [
  [/^\/oauth\/authorize\/([\w-]{1,128})$/, 'resume'],
  [/^\/oauth\/device\/([\w-]{1,128})$/, 'device-resume'],
  [/^\/oauth\/interaction\/([\w-]{1,128})$/, 'interaction'],
];
const authorizationServer = '/.well-known/oauth-authorization-server';
const protectedResource = '/.well-known/oauth-protected-resource';

/** `publicUrl` has been validated by the configuration (no trailing slash). `basePath` is '' or starts with a slash. */
export function createPaths(publicUrl: string, basePath: string): Paths {
  const url = new URL(publicUrl);
  const publicPath = url.pathname.replace(/\/+$/, '');
  const prefix = publicPath + basePath;
  const issuer = url.origin + prefix;

  const documents = new Map<string, Endpoint>([
    [authorizationServer + prefix, 'authorization-server'],
    [`${protectedResource}${prefix}/mcp`, 'protected-resource'],
  ]);
  if (basePath === '') {
    // All of /.well-known is ours, so clients that omit the path of the issuer also find the documents.
    documents.set(authorizationServer, 'authorization-server');
    documents.set(`${protectedResource}/mcp`, 'protected-resource');
    documents.set(protectedResource, 'protected-resource');
  }

  const stripPrefix = (path: string, root: string): string | undefined =>
    root === '' ? path : path === root || path.startsWith(`${root}/`) ? path.slice(root.length) || '/' : undefined;

  const locateInner = (inner: string): Located | 'unknown' | undefined => {
    const endpoint = Object.hasOwn(endpointPaths, inner) ? endpointPaths[inner] : undefined;
    if (endpoint) return { endpoint, inner };
    for (const [pattern, name] of withUid) {
      const uid = pattern.exec(inner)?.[1];
      if (uid) return { endpoint: name, inner, uid };
    }
    if (inner === '/oauth' || inner.startsWith('/oauth/')) return 'unknown';
    if (basePath === '' && (inner === '/.well-known' || inner.startsWith('/.well-known/'))) return 'unknown';
    return undefined;
  };

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
    ssoCallback: `${issuer}${ssoPath}`,
    interaction: (uid) => `${prefix}/oauth/interaction/${uid}`,
    locate(path) {
      for (const root of publicPath === '' ? [basePath] : [publicPath, '']) {
        const inner = stripPrefix(path, root);
        const found = inner === undefined ? undefined : locateInner(inner);
        if (found && found !== 'unknown') return found;
      }
      const document = documents.get(path) ?? documents.get(stripPrefix(path, publicPath) ?? '');
      if (document) return { endpoint: document, inner: path };
      const inner =
        stripPrefix(path, publicPath === '' ? basePath : publicPath) ?? (basePath === '' ? path : undefined);
      return inner === undefined ? undefined : locateInner(inner);
    },
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
