// Determines the client address that limits and logs use.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
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
