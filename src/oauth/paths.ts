// Every path and URL of the authorization server, made once of the configured public address. Nothing that is advertised
// comes from a request: a Host header must not be able to move an endpoint (RFC 8414 section 6.2).
//
// Two prefixes exist. `basePath` is where we live in the served tree. The path of the public URL (allowed only without a
// basePath) is what a proxy in front of us adds; it may strip it or pass it on, so both forms are recognised.

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
  /** Host with the port, as a Host header carries it. */
  readonly host: string;
  readonly secure: boolean;
  /** What stands before `/oauth` and `/mcp` in public URLs: the path of the public URL or the basePath; '' for none. */
  readonly prefix: string;
  readonly issuer: string;
  /** The one protected resource, and the audience of every access token. */
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
  /** Absolute URL to which an OpenID provider sends people back. */
  readonly ssoCallback: string;
  /** Public path of a sign-in or consent page. */
  interaction(uid: string): string;
  /**
   * What a request path means: an endpoint with the path as the provider knows it, `unknown` inside a namespace that is
   * ours, or undefined when the path belongs to someone else.
   */
  locate(path: string): Located | 'unknown' | undefined;
}

export interface Located {
  readonly endpoint: Endpoint;
  /** Without any prefix, such as `/oauth/token`. */
  readonly inner: string;
  /** Of a page or of the way back from it. */
  readonly uid?: string;
}

const ssoPath = '/oauth/sso/callback';
/** Without any prefix; those that end in an id aside. */
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

/** `publicUrl` as the configuration checked it (no trailing slash); `basePath` is '' or starts with a slash. */
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
    // The whole of /.well-known is ours: clients that leave the path of the issuer out find the documents as well.
    documents.set(authorizationServer, 'authorization-server');
    documents.set(`${protectedResource}/mcp`, 'protected-resource');
    documents.set(protectedResource, 'protected-resource');
  }

  const under = (path: string, root: string): string | undefined =>
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
        const inner = under(path, root);
        const found = inner === undefined ? undefined : locateInner(inner);
        if (found && found !== 'unknown') return found;
      }
      const document = documents.get(path) ?? documents.get(under(path, publicPath) ?? '');
      if (document) return { endpoint: document, inner: path };
      const inner = under(path, publicPath === '' ? basePath : publicPath) ?? (basePath === '' ? path : undefined);
      return inner === undefined ? undefined : locateInner(inner);
    },
  };
}

/**
 * The identifier of our resource for whatever spelling of it a client sends (RFC 8707 section 2): a trailing slash, the
 * case of scheme and host, a default port and our own query parameters make no difference. Anything else is returned as
 * it came, and refused as `invalid_target` where it is compared.
 */
export function canonicalResource(sent: string, resource: string): string {
  if (!URL.canParse(sent)) return sent;
  const url = new URL(sent);
  const ours = [...url.searchParams.keys()].every((name) => name === 'readonly' || name === 'collections');
  if (!ours || url.hash || sent.includes('#') || url.username || url.password) return sent;
  return url.origin + url.pathname.replace(/\/+$/, '') === resource ? resource : sent;
}
