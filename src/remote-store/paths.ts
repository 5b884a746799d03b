// The path of the platform endpoint: /platform on a standalone server, below the prefix of the agent in a host
// application.

export interface RpcPaths {
  /** Returns the path after that of the endpoint, such as `/v1/oauth/find`; undefined for other paths. */
  locate(path: string): string | undefined;
}

/** Both are already checked by the configuration and have no trailing slash. */
export function createRpcPaths(publicUrl: string, platformPath: string): RpcPaths {
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const base = new URL(publicUrl).pathname.replace(/\/+$/, '') + platformPath;
  const roots = [...new Set([base, platformPath])];
  return {
    locate(path) {
      const root = roots.find((one) => path === one || path.startsWith(`${one}/`));
      return root === undefined ? undefined : path.slice(root.length);
    },
  };
}

export const defaultRpcPath = '/platform';

/**
 * The URL of the platform endpoint. If `serverUrl` has a path, it is the endpoint itself. If it is only an origin, the
 * default path is added.
 */
export function rpcUrlOf(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return origin + (pathname === '/' ? defaultRpcPath : pathname.replace(/\/+$/, ''));
}
