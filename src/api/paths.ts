// Where the public API lies: /v1 on a server of its own, below what a host application leaves to us otherwise.

export interface ApiPaths {
  /** The public address of `/v1`. */
  readonly address: string;
  readonly host: string;
  /** What a request path means, such as `/v1/token`; undefined when it is not ours. */
  locate(path: string): string | undefined;
}

/** Both as the configuration checked them: no slash at the end. */
export function createApiPaths(publicUrl: string, apiPath: string): ApiPaths {
  const { origin, host, pathname } = new URL(publicUrl);
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const base = pathname.replace(/\/+$/, '') + apiPath;
  const roots = [...new Set([base, apiPath])];
  return {
    address: `${origin}${base}/v1`,
    host,
    locate(path) {
      for (const root of roots) {
        if (path === `${root}/v1` || path.startsWith(`${root}/v1/`)) return path.slice(root.length);
      }
      return undefined;
    },
  };
}
