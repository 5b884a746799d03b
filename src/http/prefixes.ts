// The path prefixes of a router. A reverse proxy that adds the path of the public URL may strip it or pass it on, so
// both forms are served.

interface Prefixes {
  /** The prefix in public URLs: the path of the public URL and the configured path. '' if both are empty. */
  readonly publicPrefix: string;
  /** Every prefix that requests may have. */
  readonly prefixes: readonly string[];
}

/** Both come from the checked configuration, without a trailing slash. */
export function prefixesOf(publicUrl: string, path: string): Prefixes {
  const publicPrefix = new URL(publicUrl).pathname.replace(/\/+$/, '') + path;
  return { publicPrefix, prefixes: [...new Set([publicPrefix, path])] };
}

/** Whether the path is one of the prefixes or below one. */
export const isBelow = (path: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
