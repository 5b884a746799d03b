// Warns about allow-lists with unintended effects. An allow-list cannot lock out this command, because it accesses the
// storage directly. Users stay locked out until the list is corrected.
import ipaddr from 'ipaddr.js';
import type { Config } from '../../core/config.ts';
import type { Right } from '../../store/permissions/types.ts';

/** Address ranges that no client uses. */
const nobody = new Set([
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
  const isAway = config.publicUrl !== null && !isLocal(new URL(config.publicUrl).hostname);
  return [
    ...wide.map((text) => `allowList: ${text} lets everybody in whose address is of its kind.`),
    ...(wide.length === 0 && ranges.every((range) => nobody.has(range))
      ? ['allowList: nobody has an address in these networks: everybody would be locked out.']
      : []),
    ...(wide.length === 0 && ranges.every((range) => range === 'loopback') && isAway
      ? [`allowList: only this machine could reach ${config.publicUrl}: everybody else would be locked out.`]
      : []),
    ...(isAway && config.trustedProxies.length === 0
      ? [
          'allowList: SERVICE_TRUSTED_PROXIES is empty here. Behind a proxy, every request comes from the address of the proxy, and the list would let in all or nobody.',
        ]
      : []),
  ];
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
