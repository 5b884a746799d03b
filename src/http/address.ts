// Determines the client address that limits use, and checks the Host header.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { canonicalHost } from '../core/config/hosts.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Returns the client address. Reads X-Forwarded-For from the right while the hops are in `trustedProxies` (addresses,
 * networks such as 10.0.0.0/8, or `loopback`, `linklocal`, `uniquelocal`). The first untrusted hop controls everything
 * to its left. Throws CONFIGURATION when an entry is malformed.
 */
export function createAddressReader(trustedProxies: readonly string[]): (req: IncomingMessage) => string {
  const ranges = new Set<string>();
  const networks: Network[] = [];
  for (const entry of trustedProxies) {
    if (['loopback', 'linklocal', 'uniquelocal'].includes(entry.toLowerCase())) {
      ranges.add(entry.toLowerCase());
      if (entry.toLowerCase() === 'uniquelocal') ranges.add('private');
      if (entry.toLowerCase() === 'linklocal') ranges.add('linkLocal');
    } else {
      networks.push(readNetwork(entry));
    }
  }
  const isTrusted = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    if (ranges.has(parsed.range()) || ranges.has(parsed.range().toLowerCase())) return true;
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
  return (req) => {
    let address = normalizeAddress(req.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0) return address;
    const hops = [req.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
    for (const hop of hops) {
      const next = hop.trim();
      if (!isTrusted(address) || !ipaddr.isValid(next)) break;
      address = normalizeAddress(next);
    }
    return address;
  };
}

function normalizeAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function readNetwork(entry: string): Network {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry)) {
    fail('CONFIGURATION', {
      problem: `SERVICE_TRUSTED_PROXIES: expected addresses or networks such as 10.0.0.0/8, got '${entry}'.`,
    });
  }
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const wildcards = new Set(['0.0.0.0', '::', '[::]', '*']);

/**
 * Whether a Host header is valid: the public host, a loopback name, the listening address or one of
 * SERVICE_ALLOWED_HOSTS, each without its port. In a DNS rebinding attack, the header has the name of the attacker's
 * site.
 */
export function createHostCheck(
  publicHost: string | undefined,
  config: Pick<Config, 'allowedHosts' | 'host'>,
): (host?: string) => boolean {
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]']);
  const ownHosts = [publicHost, ...(wildcards.has(config.host) ? [] : [config.host]), ...config.allowedHosts];
  for (const host of ownHosts) if (host !== undefined) hosts.add(hostname(withBrackets(host)) ?? canonicalHost(host));
  // Most requests use the same few hosts. The cache avoids parsing a URL for each.
  const accepted = new Set<string>();
  return (host) => {
    if (host === undefined) return false;
    if (accepted.has(host)) return true;
    const name = hostname(host);
    if (name === undefined || !hosts.has(name)) return false;
    if (accepted.size < 100) accepted.add(host);
    return true;
  };
}

function hostname(host: string): string | undefined {
  const text = `http://${host}`;
  if (/[/\\?#@\s]/.test(host) || !URL.canParse(text)) return undefined;
  return canonicalHost(new URL(text).hostname);
}

function withBrackets(host: string): string {
  return host.includes(':') && !host.startsWith('[') && host.split(':').length > 2 ? `[${host}]` : host;
}
