// The provider's requests on behalf of clients: metadata documents, and the key sets named by documents or
// registrations. Strangers choose these URLs, so each fetch has a size limit and a time limit, and each client address
// a rate limit. The provider itself limits the size of documents, and the time of all fetches.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { type AddressLimiter, createAddressLimiter } from '../../core/limit/addresses.ts';
import { sharedLimiters, type Windows } from '../../core/limit.ts';
import type { FetchDocument } from './documents.ts';

/** Maximum size of a document or key set, in bytes. */
export const documentBytes = 5 * 1024;
/** Metadata documents and key sets fetched for one client address in a minute. */
const fetchesPerMinute = 30;
/** A key set is cached for this time, so changed keys take effect after it. */
const keysKeptMs = 60_000;

export function createFetchLimiter(shared: {
  readonly windows: Windows;
  readonly clock: Pick<Clock, 'now'>;
}): AddressLimiter {
  return createAddressLimiter(sharedLimiters(shared), 'oauth-document', { points: fetchesPerMinute, seconds: 60 });
}

/**
 * `fetch` for the provider. Key sets are cached for a minute: the provider rebuilds a document client for each request
 * and would fetch its keys every time. `admit` counts a fetch of a key set, and rejects after too many. Fetches of
 * documents are counted in `allowFetch`.
 */
export function createOutgoingFetch(fetch: FetchDocument, admit: () => Promise<void>): FetchDocument {
  const keySets = new LRUCache<string, Promise<string>>({ max: 100, ttl: keysKeptMs });
  const fetchKeys = async (url: string | URL, init?: RequestInit): Promise<string> => {
    await admit();
    const response = await fetch(url, init);
    // Redirects are not followed (documents.ts), so only a 200 response contains keys.
    if (response.status !== 200) throw new Error(`the key set answered ${response.status}`);
    return readAtMost(response, documentBytes);
  };
  return async (url, init) => {
    // The provider disables redirects only for documents; every other fetch is a key set.
    if (init?.redirect === 'manual') return fetch(url, init);
    const kept = keySets.get(`${url}`) ?? fetchKeys(url, init);
    keySets.set(`${url}`, kept);
    kept.catch(() => keySets.delete(`${url}`));
    return new Response(await kept);
  };
}

async function readAtMost({ body }: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the response body.
    if (length > most) throw new Error(`the key set is larger than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
