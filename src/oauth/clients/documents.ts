// Fetches what clients publish: metadata documents and key sets. Strangers choose these URLs, so they must only reach
// the public internet: https on the default port, and a real host name. Every address that the name resolves to is
// checked when connecting, which also defeats DNS rebinding.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { canonicalHost, ipOf, isPublicAddress, isPublicName } from '../../core/config/hosts.ts';
import { AppError } from '../../core/errors.ts';
import { type DomainPolicy, findDomainProblem } from './domains.ts';

/**
 * Overrides how documents are fetched, for tests with a local server. It is a symbol, so neither a file nor the
 * environment can set it. The URL checks still run before it.
 */
export const documentFetch: unique symbol = Symbol('portico.documentFetch');

export type FetchDocument = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Returns the problem with the URL of a client document, or undefined if it may be fetched. */
export function findAddressProblem(address: string | URL, domains: DomainPolicy): string | undefined {
  if (!URL.canParse(`${address}`)) return 'it is not a URL';
  const url = new URL(address);
  // draft-ietf-oauth-client-id-metadata-document section 3: https only, a path, no credentials, no fragment.
  if (url.protocol !== 'https:') return 'it must be https';
  if (!/^https:\/\/[^/?#]+\//i.test(`${address}`)) return 'it must have a path';
  if (url.port !== '') return 'only the default https port is allowed';
  if (url.username || url.password) return 'it must not carry credentials';
  const host = canonicalHost(url.hostname);
  if (ipOf(host) !== undefined) return 'the host must be a name, not an address';
  if (!isPublicName(host)) return 'the host must be a public name';
  return findDomainProblem(host, domains);
}

/** Like `fetch`, for public https URLs only. The caller sets the time and size limits. */
export function createDocumentFetch(domains: DomainPolicy, fetchDocument?: FetchDocument): FetchDocument {
  return async (address, init) => {
    // SSRF (draft-ietf-oauth-client-id-metadata-document section 6.5): also applies to jwks_uri.
    const problem = findAddressProblem(address, domains);
    if (problem) throw new AppError('INVALID_ARGUMENT', { argument: `${address}`, problem: `${problem}.` });
    return (fetchDocument ?? guardedFetch)(address, init);
  };
}

let loadedFetch: Promise<FetchDocument> | undefined;

/**
 * `fetch` that connects only to public addresses, for host names and IP addresses, and does not follow redirects. Its
 * package is loaded with the first document, because most processes never fetch one.
 */
export const guardedFetch: FetchDocument = async (address, init) => {
  loadedFetch ??= import('undici').then(({ Agent, fetch }) => {
    const dispatcher = new Agent({ connect: { lookup: publicLookup, timeout: 2500 } });
    return async (address, init) => {
      // The package and Node declare the same types separately.
      const options = { ...init, redirect: 'manual', dispatcher } as Parameters<typeof fetch>[1];
      return (await fetch(address, options)) as unknown as Response;
    };
  });
  const ip = ipOf(new URL(`${address}`).hostname);
  // IP addresses skip the lookup, so they are checked at this point (SSRF).
  if (ip !== undefined && !isPublicAddress(ip)) throw new Error(`${ip} is not a public address`);
  return (await loadedFetch)(address, init);
};

/** Resolves a name; fails if any of its addresses is not public. */
const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const privateAddress = addresses.find(({ address }) => !isPublicAddress(address));
    const first = addresses[0];
    if (privateAddress || !first) return callback(new Error(`${host} does not resolve to public addresses`), '', 0);
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};
