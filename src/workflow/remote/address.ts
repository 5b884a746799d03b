// How a remote server is reached. Its address comes from an administrator, but what it publishes (its authorization server, that
// server's endpoints) comes from a stranger: every one of them is fetched here, through the guard that app.ts gives (public
// addresses alone, judged when they are connected to), and no answer may be larger than we want to read.
import { fail } from '../../core/errors.ts';

/** Follows no redirect; rejects for an address that may not be reached. */
export type FetchAddress = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The most that one answer of a remote server may hold. */
export const ANSWER_BYTES = 1024 * 1024;
const ADDRESS_MOST = 2000;

/** The address of a server as it is kept. INVALID_ARGUMENT for one that cannot be. `hosts`: those that need not be public. */
export function readServerAddress(text: string, hosts: readonly string[]): string {
  const wrong = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'url', problem });
  if (!URL.canParse(text) || text.length > ADDRESS_MOST) {
    return wrong('expected the address of an MCP endpoint, such as https://tickets.example/mcp.');
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && hosts.includes(url.hostname))) {
    return wrong('expected an address that begins with https://.');
  }
  if (url.username || url.password) return wrong('leave the password out, and choose a secret as the sign-in.');
  url.hash = '';
  return url.href;
}

/** An answer was larger than `ANSWER_BYTES`. */
export class TooMuch extends Error {}

/**
 * `fetch` with answers that break off where they become too large; `onTooMuch` is told, since who reads a stream may take the
 * break for the end of a connection.
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
    // The body is read in the clear, whatever it was packed in.
    const kept = new Headers([...headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'));
    return new Response(body?.pipeThrough(counter) ?? null, { status, statusText, headers: kept });
  };
}
