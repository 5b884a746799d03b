// The provider's requests on behalf of clients: metadata documents, and the key sets named by documents or
// registrations. Strangers choose these URLs, so each fetch has a size limit and a time limit, and each client address
// a rate limit. The provider itself limits the size of documents, and the time of all fetches.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { type AddressLimiter, createAddressLimiter } from '../../core/limit/addresses.ts';
import { sharedLimiters, type Windows } from '../../core/limit.ts';
import type { FetchDocument } from './documents.ts';

/** Maximum size of a document or key set, in bytes. */
export const MAX_DOCUMENT_BYTES = 5 * 1024;
/** Metadata documents and key sets fetched for one client address in a minute. */
const MAX_FETCHES_PER_MINUTE = 30;
/** A key set is cached for this time, so changed keys take effect after it. */
const KEY_SET_TTL_MS = 60_000;

export function createFetchLimiter(shared: {
  readonly windows: Windows;
  readonly clock: Pick<Clock, 'now'>;
}): AddressLimiter {
  return createAddressLimiter(sharedLimiters(shared), 'oauth-document', {
    points: MAX_FETCHES_PER_MINUTE,
    seconds: 60,
  });
}

/**
 * `fetch` for the provider. Key sets are cached for a minute: the provider rebuilds a document client for each request
 * and would fetch its keys every time. `admit` counts a fetch of a key set, and rejects after too many. Fetches of
 * documents are counted in `allowFetch`.
 */
export function createOutgoingFetch(fetch: FetchDocument, countFetch: () => Promise<void>): FetchDocument {
  const keySets = new LRUCache<string, Promise<string>>({ max: 100, ttl: KEY_SET_TTL_MS });
  const fetchKeys = async (url: string | URL, init?: RequestInit): Promise<string> => {
    await countFetch();
    const response = await fetch(url, init);
    // Redirects are not followed (documents.ts), so only a 200 response contains keys.
    if (response.status !== 200) throw new Error(`the key set request returned ${response.status}`);
    return readLimited(response, MAX_DOCUMENT_BYTES);
  };
  return async (url, init) => {
    // The provider disables redirects only for documents; every other fetch is a key set.
    if (init?.redirect === 'manual') return fetch(url, init);
    const cached = keySets.get(`${url}`) ?? fetchKeys(url, init);
    keySets.set(`${url}`, cached);
    cached.catch(() => keySets.delete(`${url}`));
    return new Response(await cached);
  };
}

async function readLimited({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the response body.
    if (length > maxBytes) throw new Error(`the key set is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
