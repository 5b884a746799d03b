// Who is on the other side: the address that limits count by, and whether the Host is one that we serve.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Answers the client's address. X-Forwarded-For is read from the right, and only as far as the hops are named in
 * `trustedProxies` (addresses, networks such as 10.0.0.0/8, or `loopback`, `linklocal`, `uniquelocal`): everything to the
 * left of the first stranger was written by the stranger. CONFIGURATION when an entry is malformed.
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
  const trusted = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    if (ranges.has(parsed.range()) || ranges.has(parsed.range().toLowerCase())) return true;
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
  return (req) => {
    let address = plain(req.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0) return address;
    const hops = [req.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
    for (const hop of hops) {
      const next = hop.trim();
      if (!trusted(address) || !ipaddr.isValid(next)) break;
      address = plain(next);
    }
    return address;
  };
}

function plain(address: string): string {
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

/**
 * Whether a Host header names us: the public address, a loopback name, or one of SERVICE_ALLOWED_HOSTS. A page on another
 * site whose name was pointed at this machine (DNS rebinding) carries its own name here.
 */
export function createHostCheck(publicHost: string, config: Pick<Config, 'allowedHosts'>): (host?: string) => boolean {
  const known = new Set([
    'localhost',
    '127.0.0.1',
    '[::1]',
    hostname(publicHost),
    ...config.allowedHosts.map(hostname),
  ]);
  return (host) => host !== undefined && known.has(hostname(host));
}

function hostname(host: string): string {
  if (/[@/?#\\\s]/.test(host)) return host;
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host.toLowerCase();
}
