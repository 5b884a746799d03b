// URL paths of the public API: /v1 on a standalone server, or under the configured path in a host application.

export interface ApiPaths {
  /** The public URL of `/v1`. */
  readonly address: string;
  readonly host: string;
  /** Returns the path within the API, such as `/v1/token`. Returns undefined if the path is not part of it. */
  locate(path: string): string | undefined;
}

/** Both values come from the checked configuration, without a trailing slash. */
export function createApiPaths(publicUrl: string, apiPath: string): ApiPaths {
  const { origin, host, pathname } = new URL(publicUrl);
  // A proxy can strip the path of the public URL or forward it.
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
