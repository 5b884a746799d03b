// The path of the platform endpoint: /platform on a standalone server, below the prefix of the agent in a host
// application.

export const defaultRpcPath = '/platform';

/**
 * The URL of the platform endpoint. If `serverUrl` has a path, it is the endpoint itself. If it is only an origin, the
 * default path is added.
 */
export function rpcUrlOf(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return origin + (pathname === '/' ? defaultRpcPath : pathname.replace(/\/+$/, ''));
}
