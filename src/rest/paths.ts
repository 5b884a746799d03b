// URL paths of the agent's HTTP API. They start with its prefix. `basePath` does not change them.

export interface RestPaths {
  /** The public URL without a trailing slash. It is the audience of session tokens. */
  readonly address: string;
  /** `https://data.example.com` */
  readonly origin: string;
  readonly host: string;
  /**
   * Returns the path after the prefix, such as `/authentication`, or '' for the prefix itself. Returns undefined if the
   * path is not part of this API.
   */
  locate(path: string): string | undefined;
}

/** Both values come from the checked configuration, without a trailing slash. */
export function createRestPaths(publicUrl: string, prefix: string): RestPaths {
  const { origin, host, pathname } = new URL(publicUrl);
  // A proxy can strip the path of the public URL or forward it.
  const base = pathname.replace(/\/+$/, '') + prefix;
  const roots = [...new Set([base, prefix])];
  const stripPrefix = (path: string): string | undefined => {
    for (const root of roots) {
      if (path === root || path === `${root}/`) return '';
      if (path.startsWith(`${root}/`)) return path.slice(root.length);
    }
    return undefined;
  };
  return {
    address: origin + base,
    origin,
    host,
    // With an empty prefix this matches every path that no other endpoint serves. There is no host application then.
    locate: stripPrefix,
  };
}
