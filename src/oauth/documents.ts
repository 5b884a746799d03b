// Fetches what clients publish about themselves: metadata documents and key sets. The address comes from a stranger, so
// it must not reach anything but the public internet: https on its usual port, a real host name, and every address that
// the name resolves to is checked at the moment of connecting, which is what a name that changes its mind cannot get round.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AppError } from '../core/errors.ts';
import { type DomainPolicy, findDomainProblem } from './domains.ts';

/**
 * How documents are fetched, for tests that serve one on this machine. A symbol, so that neither a file nor the
 * environment can weaken it; which addresses are allowed is checked before it all the same.
 */
export const documentFetch: unique symbol = Symbol('portico.documentFetch');

export type FetchDocument = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Says what is wrong with the address of a client document, or undefined when it may be fetched. */
export function findAddressProblem(address: string | URL, domains: DomainPolicy): string | undefined {
  if (!URL.canParse(`${address}`)) return 'it is no URL';
  const url = new URL(address);
  // draft-ietf-oauth-client-id-metadata-document section 3: https only, a path, no credentials, no fragment.
  if (url.protocol !== 'https:') return 'it must be https';
  if (!/^https:\/\/[^/?#]+\//i.test(`${address}`)) return 'it must have a path';
  if (url.port !== '') return 'only the usual https port is allowed';
  if (url.username || url.password) return 'it must not carry credentials';
  const host = url.hostname;
  if (ipaddr.isValid(host.replace(/^\[|\]$/g, ''))) return 'the host must be a name, not an address';
  if (!host.includes('.') || /\.(?:local|localhost|internal|home\.arpa)$/.test(host)) {
    return 'the host must be a public name';
  }
  return findDomainProblem(host, domains);
}

/** Like fetch, for public https addresses only. The time limit and the size limit are the caller's. */
export function createDocumentFetch(domains: DomainPolicy, fetchDocument?: FetchDocument): FetchDocument {
  return async (address, init) => {
    // SSRF (draft-ietf-oauth-client-id-metadata-document section 6.5): holds for jwks_uri as well.
    const problem = findAddressProblem(address, domains);
    if (problem) throw new AppError('INVALID_ARGUMENT', { argument: `${address}`, problem: `${problem}.` });
    return (fetchDocument ?? guardedFetch)(address, init);
  };
}

let loaded: Promise<FetchDocument> | undefined;

/**
 * Fetch that connects to public addresses only, whether the URL names a host or an address, and follows no redirect. Its
 * package is loaded at the first document: most starts need none.
 */
export const guardedFetch: FetchDocument = async (address, init) => {
  loaded ??= import('undici').then(({ Agent, fetch }) => {
    const dispatcher = new Agent({ connect: { lookup: publicLookup, timeout: 2500 } });
    return async (address, init) => {
      // The types of the package and of Node name the same things apart.
      const options = { ...init, redirect: 'manual', dispatcher } as Parameters<typeof fetch>[1];
      return (await fetch(address, options)) as unknown as Response;
    };
  });
  const host = new URL(`${address}`).hostname.replace(/^\[|\]$/g, '');
  // An address is connected to without a lookup, so that it is judged here (SSRF).
  if (ipaddr.isValid(host) && !isPublic(host)) throw new Error(`${host} is not a public address`);
  return (await loaded)(address, init);
};

const isPublic = (address: string): boolean => ipaddr.process(address).range() === 'unicast';

/** Resolves a name, and refuses when any of its addresses is not public. */
const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const hidden = addresses.find(({ address }) => !isPublic(address));
    const first = addresses[0];
    if (hidden || !first) return callback(new Error(`${host} does not resolve to public addresses`), '', 0);
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};
