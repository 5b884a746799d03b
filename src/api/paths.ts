// URL paths of the public API: /v1 on a standalone server, or under the configured path in a host application.
import { prefixesOf } from '../http/prefixes.ts';

export interface ApiPaths {
  /** The public URL of `/v1`. */
  readonly address: string;
  readonly host: string;
  /** The path prefixes of requests, which end in `/v1`. */
  readonly prefixes: readonly string[];
}

/** Both values come from the checked configuration, without a trailing slash. */
export function createApiPaths(publicUrl: string, apiPath: string): ApiPaths {
  const { origin, host } = new URL(publicUrl);
  const { publicPrefix, prefixes } = prefixesOf(publicUrl, `${apiPath}/v1`);
  return { address: origin + publicPrefix, host, prefixes };
}

/** Returns the resource indicator (RFC 8707). Tokens of the command line are valid only for this resource. */
export function cloudResourceOf({ address }: Pick<ApiPaths, 'address'>): string {
  return `${address}/cloud`;
}
