// Normalizes hosts and decides whether they are public. All comparisons of hosts use these functions.
import ipaddr from 'ipaddr.js';

/**
 * Normalizes a host: lower case, without the final dot. DNS, TLS and browsers treat both spellings as the same host
 * (RFC 1034 section 3.1).
 */
export function canonicalHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** Whether the operator named the host of `url` in a list of hosts. */
export const isNamedHost = ({ hostname }: URL, hosts: readonly string[]): boolean =>
  hosts.map(canonicalHost).includes(canonicalHost(hostname));

/** Scheme, host and port. */
export const canonicalOrigin = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${canonicalHost(hostname)}:${port}`;

/** Whether an IP address is public: not private, reserved or local. */
export const isPublicAddress = (address: string): boolean => ipaddr.process(address).range() === 'unicast';

/**
 * A name with a dot that is not reserved for local networks (RFC 6761, RFC 6762, RFC 8375, and `.internal` of ICANN).
 */
export function isPublicName(hostname: string): boolean {
  const host = canonicalHost(hostname);
  return host.includes('.') && !/\.(?:local|localhost|internal|home\.arpa)$/.test(host);
}

/** Checks only the host itself. The addresses that a name resolves to are checked when connecting. */
export function mayBePublic(hostname: string): boolean {
  const ip = ipOf(hostname);
  return ip === undefined ? isPublicName(hostname) : isPublicAddress(ip);
}

/** The IP address if the host of a URL is one; undefined for a name. */
export function ipOf(hostname: string): string | undefined {
  const address = canonicalHost(hostname).replace(/^\[|\]$/g, '');
  return ipaddr.isValid(address) ? address : undefined;
}
