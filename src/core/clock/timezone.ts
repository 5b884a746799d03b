// Names of timezones.

/**
 * By the lower-case name that callers write: `europe/PARIS` is Europe/Paris. A lookup takes about half a millisecond,
 * so invalid names are cached too.
 */
const knownZones = new Map<string, string | undefined>();

/**
 * The canonical IANA name of the zone, with links resolved; undefined for an invalid name. An offset such as `+02:00`
 * is not a name: it does not follow the clocks of a place, and only Node 22 and newer accept it.
 */
export function canonicalZone(zone: string): string | undefined {
  // Some non-ASCII letters have ASCII lower cases.
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(zone)) return undefined;
  const folded = zone.toLowerCase();
  if (!knownZones.has(folded)) {
    if (knownZones.size > 1000) knownZones.clear();
    knownZones.set(folded, lookUpZone(folded));
  }
  return knownZones.get(folded);
}

function lookUpZone(zone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

export const isZone = (zone: string): boolean => canonicalZone(zone) !== undefined;
