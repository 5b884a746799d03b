// Access to the URLs of remote servers. An administrator enters the server's URL, but the URLs it publishes (its
// authorization server and endpoints) are untrusted. All requests pass the guard in server/remotes.ts. It allows public
// addresses and those of the server itself, checked when the connection is made. Response size is limited.

import { isNamedHost } from '../../core/config/hosts.ts';
import { fail } from '../../core/errors.ts';
import type { RemoteServer } from '../../store/remotes/types.ts';

/** Follows no redirects. Rejects for a URL that is not allowed. */
export type FetchAddress = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The allowed URLs depend on the server. */
export type FetchForServer = (server: Pick<RemoteServer, 'url' | 'client'>) => FetchAddress;

/** Maximum size of a response from a remote server. */
export const ANSWER_BYTES = 1024 * 1024;
const ADDRESS_MOST = 2000;

/**
 * Returns the normalized URL of a server. Throws INVALID_ARGUMENT if it is invalid. `hosts` may have private addresses.
 */
export function readServerAddress(text: string, hosts: readonly string[]): string {
  const wrong = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'url', problem });
  if (!URL.canParse(text) || text.length > ADDRESS_MOST) {
    return wrong('expected the address of an MCP endpoint, such as https://tickets.example/mcp.');
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isNamedHost(url, hosts))) {
    return wrong('expected an address that begins with https://.');
  }
  if (url.username || url.password) return wrong('leave the password out, and choose a secret as the sign-in.');
  url.hash = '';
  return url.href;
}

/** A response was larger than `ANSWER_BYTES`. */
export class TooMuch extends Error {}

/**
 * Wraps `fetch` to abort responses that exceed the limit. It also calls `onTooMuch`, since a stream reader may take the
 * abort for a closed connection.
 */
export function limitAnswers(fetch: FetchAddress, onTooMuch: () => void): FetchAddress {
  return async (url, init) => {
    const { body, status, statusText, headers } = await fetch(url, init);
    let bytes = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= ANSWER_BYTES) return controller.enqueue(chunk);
        onTooMuch();
        controller.error(new TooMuch('the answer is too large'));
      },
    });
    // The body is already decompressed.
    const kept = new Headers([...headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'));
    return new Response(body?.pipeThrough(counter) ?? null, { status, statusText, headers: kept });
  };
}
