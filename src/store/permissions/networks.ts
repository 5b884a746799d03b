// The networks that may reach a project: addresses and CIDR blocks, IPv4 and IPv6.
import ipaddr from 'ipaddr.js';
import type { Knex } from 'knex';
import type { Tables } from '../migrations/first-tables.ts';

/** Added by the ninth migration. A project without rows is reachable from every network. */
export const networkTables: Tables = {
  allowed_networks(table) {
    table.integer('project_id').unsigned().notNullable().references('projects.id');
    table.string('network', 64).notNullable();
    table.primary(['project_id', 'network']);
  },
};

export async function loadNetworks(on: Knex, projectId: number): Promise<readonly string[]> {
  return on('allowed_networks').where({ project_id: projectId }).orderBy('network').pluck<string[]>('network');
}

/** The stored form, such as `10.0.0.0/8`, or the problem with the text. */
export function readNetwork(text: string): { readonly network: string } | { readonly problem: string } {
  const expected = 'expected an address, or a network such as 10.0.0.0/8 or 2001:db8::/32.';
  const [address = '', bits, ...more] = text.split('/');
  // Only four full decimal numbers. The package also accepts short and octal forms, which people misread.
  const isWritten = /^\d+\.\d+\.\d+\.\d+$/.test(address)
    ? ipaddr.IPv4.isValidFourPartDecimal(address)
    : ipaddr.IPv6.isValid(address);
  if (!isWritten || more.length > 0 || address.includes('%')) return { problem: expected };
  const parsed = ipaddr.parse(address);
  const widest = parsed.kind() === 'ipv4' ? 32 : 128;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > widest)) {
    return { problem: `expected a number from 0 to ${widest} after the slash.` };
  }
  if (parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).isIPv4MappedAddress()) {
    return { problem: 'write the IPv4 network itself: addresses are compared as IPv4.' };
  }
  const width = Number(bits ?? widest);
  const first = firstOf(parsed, width);
  if (first !== parsed.toString()) {
    return { problem: `the address has bits beyond the first ${width}. Write ${first}/${width}, or ${parsed}.` };
  }
  return { network: `${first}/${width}` };
}

function firstOf(address: ipaddr.IPv4 | ipaddr.IPv6, width: number): string {
  const cidr = `${address}/${width}`;
  return (address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(cidr).toString();
}

/** Returns a function that checks whether an address is in one of the networks. An invalid address is in no network. */
export function createNetworkMatch(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // A dual-stack socket reports an IPv4 client as ::ffff:192.0.2.1.
    const client = ipaddr.process(address);
    return parsed.some(([network, width]) => network.kind() === client.kind() && client.match(network, width));
  };
}
