// Where the agent's HTTP API lies: under its prefix, which no basePath moves.

export interface RestPaths {
  /** The public address, without a slash at its end: what session tokens are for. */
  readonly address: string;
  /** `https://data.example.com` */
  readonly origin: string;
  readonly host: string;
  /** What follows the prefix, such as `/authentication`; '' for the prefix itself; undefined when the path is not ours. */
  locate(path: string): string | undefined;
}

/** Both as the configuration checked them: no slash at the end. */
export function createRestPaths(publicUrl: string, prefix: string): RestPaths {
  const { origin, host, pathname } = new URL(publicUrl);
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const base = pathname.replace(/\/+$/, '') + prefix;
  const roots = [...new Set([base, prefix])];
  const under = (path: string): string | undefined => {
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
    // At the root that is every path that nothing else of ours has: there is no host application then.
    locate: under,
  };
}
