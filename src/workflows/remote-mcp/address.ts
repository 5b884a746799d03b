// Access to the URLs of remote servers. An administrator enters the server's URL, but the URLs it publishes (its
// authorization server and endpoints) are untrusted. All requests pass the guard in server/workflows/remotes.ts. It allows public
// addresses and those of the server itself, checked when the connection is made. Response size is limited.

import { isNamedHost } from '../../core/config/hosts.ts';
import { fail } from '../../core/errors.ts';
import type { RemoteServer } from '../../store/remotes/types.ts';

/** Follows no redirects. Rejects for a URL that is not allowed. */
export type FetchAddress = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The allowed URLs depend on the server. */
export type FetchForServer = (server: Pick<RemoteServer, 'url' | 'client'>) => FetchAddress;

/** Maximum size of a response from a remote server. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_URL_LENGTH = 2000;

/**
 * Returns the normalized URL of a server. Throws INVALID_ARGUMENT if it is invalid. `hosts` may have private addresses.
 */
export function parseServerUrl(text: string, hosts: readonly string[]): string {
  const failUrl = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'url', problem });
  if (!URL.canParse(text) || text.length > MAX_URL_LENGTH) {
    return failUrl('expected the URL of an MCP endpoint, such as https://tickets.example/mcp.');
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isNamedHost(url, hosts))) {
    return failUrl('expected a URL that begins with https://.');
  }
  if (url.username || url.password)
    return failUrl('leave the password out, and choose a shared secret for authentication.');
  url.hash = '';
  return url.href;
}

/** A response was larger than `MAX_RESPONSE_BYTES`. */
class ResponseTooLarge extends Error {}

/**
 * Wraps `fetch` to abort responses that exceed the limit. It also calls `onTooLarge`, since a stream reader may take the
 * abort for a closed connection.
 */
export function limitResponses(fetch: FetchAddress, onTooLarge: () => void): FetchAddress {
  return async (url, init) => {
    const { body, status, statusText, headers } = await fetch(url, init);
    let bytes = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= MAX_RESPONSE_BYTES) return controller.enqueue(chunk);
        onTooLarge();
        controller.error(new ResponseTooLarge('the response is too large'));
      },
    });
    // The body is already decompressed.
    const forwardedHeaders = new Headers(
      [...headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'),
    );
    return new Response(body?.pipeThrough(counter) ?? null, { status, statusText, headers: forwardedHeaders });
  };
}
