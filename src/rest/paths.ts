// URL paths of the agent's HTTP API. They start with its prefix. `basePath` does not change them.
import { prefixesOf } from '../http/prefixes.ts';

export interface RestPaths {
  /** The public URL without a trailing slash. It is the audience of session tokens. */
  readonly address: string;
  /** `https://data.example.com` */
  readonly origin: string;
  readonly host: string;
  /**
   * The path prefixes of requests. '' matches every path that no other router serves; there is no host application
   * then.
   */
  readonly prefixes: readonly string[];
}

/** Both values come from the checked configuration, without a trailing slash. */
export function createRestPaths(publicUrl: string, prefix: string): RestPaths {
  const { origin, host } = new URL(publicUrl);
  const { publicPrefix, prefixes } = prefixesOf(publicUrl, prefix);
  return { address: origin + publicPrefix, origin, host, prefixes };
}
