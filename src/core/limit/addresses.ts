// Limits per client address. One IPv6 user has 2^64 addresses, and often 2^16 such networks (RFC 4291 section 2.5.1,
// RFC 6177 section 2). A /64 therefore counts as one address, and a /48 has a limit of its own. CWE-770.
import ipaddr from 'ipaddr.js';
import type { Limiter, RateWindow } from '../limit.ts';

/** A /48 has the limit of this many addresses, because it may be a company with many users. */
const ADDRESSES_OF_WIDE_NETWORK = 16;

/** The keys to count for an address. IPv4-mapped addresses (RFC 4291 section 2.5.5.2) count as IPv4. */
function networksOf(address: string): { readonly narrow: string; readonly wide?: string } {
  if (!ipaddr.isValid(address)) return { narrow: address };
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return { narrow: parsed.toString() };
  const networkOf = (bits: number) => `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`;
  return { narrow: networkOf(64), wide: networkOf(48) };
}

export interface AddressLimiter {
  /** Throws RATE_LIMITED like a limiter. `of`: counts separately, for example per client. */
  consume(address: string, of?: string): Promise<void>;
  giveBack(address: string, of?: string): Promise<void>;
}

/** `create`: makes a limiter for this process or for all of them. */
export function createAddressLimiter(
  create: (name: string, window: RateWindow) => Limiter,
  name: string,
  { points, seconds }: RateWindow,
): AddressLimiter {
  const narrow = create(name, { points, seconds });
  const wide = create(name, { points: points * ADDRESSES_OF_WIDE_NETWORK, seconds });
  const each = async (address: string, of: string, run: (limiter: Limiter, key: string) => Promise<void>) => {
    const networks = networksOf(address);
    await run(narrow, of + networks.narrow);
    if (networks.wide !== undefined) await run(wide, of + networks.wide);
  };
  return {
    consume: (address, of = '') => each(address, of, (limiter, key) => limiter.consume(key)),
    giveBack: (address, of = '') => each(address, of, (limiter, key) => limiter.giveBack(key)),
  };
}
