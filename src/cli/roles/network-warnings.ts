// Warns about allow-lists with unintended effects. An allow-list cannot lock out this command, because it accesses the
// storage directly. Users stay locked out until the list is corrected.
import ipaddr from 'ipaddr.js';
import type { Config } from '../../core/config.ts';
import type { Right } from '../../store/permissions/types.ts';

/** Address ranges that no client uses. */
const unreachableRanges = new Set([
  'unspecified',
  'broadcast',
  'multicast',
  'reserved',
  'discard',
  'benchmarking',
  'amt',
  'as112',
]);

export function findNetworkWarnings(
  rights: readonly Right[],
  config: Pick<Config, 'publicUrl' | 'trustedProxies'>,
): readonly string[] {
  const networks = rights.filter(({ kind }) => kind === 'network').map(({ path }) => path[0]!);
  if (networks.length === 0) return [];
  const parsed = networks.map((text) => ({ text, cidr: ipaddr.parseCIDR(text) }));
  const wide = parsed.filter(({ cidr: [, width] }) => width === 0).map(({ text }) => text);
  const ranges = parsed.filter(({ cidr: [, width] }) => width > 0).map(({ cidr: [address] }) => address.range());
  const isRemote = config.publicUrl !== null && !isLocal(new URL(config.publicUrl).hostname);
  return [
    ...wide.map((text) => `allowList: ${text} allows every address of its kind.`),
    ...(wide.length === 0 && ranges.every((range) => unreachableRanges.has(range))
      ? ['allowList: no client can have an address in these networks: every request would be rejected.']
      : []),
    ...(wide.length === 0 && ranges.every((range) => range === 'loopback') && isRemote
      ? [`allowList: only this machine could reach ${config.publicUrl}: all other requests would be rejected.`]
      : []),
    ...(isRemote && config.trustedProxies.length === 0
      ? [
          'allowList: SERVICE_TRUSTED_PROXIES is empty here. Behind a proxy, every request has the address of the proxy, and the list would allow all requests or reject all.',
        ]
      : []),
  ];
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
