// A call may spell its timezone in any way, and each zone is still computed only once.
import { expect, test, vi } from 'vitest';
import { momentOf } from '../../src/agent/operations/call.ts';
import { canonicalZone, isZone, zoneOffsets } from '../../src/agent/sources/zones.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';

const spellings = (zone: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    [...zone].map((letter, place) => ((at >> (place % 12)) & 1 ? letter.toUpperCase() : letter.toLowerCase())).join(''),
  );

test('two hundred spellings of a zone are worked out once', () => {
  const offsets = spellings('Africa/Casablanca', 200).map((zone) => zoneOffsets(zone));
  expect(new Set(offsets).size).toBe(1);
  expect(offsets[0]!.zone).toBe('Africa/Casablanca');
});

test('spellings of a zone, and of what is none, are asked for once each', () => {
  for (const name of ['Pacific/Chatham', 'Nowhere/Chatham']) {
    const format = vi.spyOn(Intl, 'DateTimeFormat');
    try {
      for (const zone of spellings(name, 200)) canonicalZone(zone);
      expect(format.mock.calls.length).toBeLessThanOrEqual(1);
    } finally {
      format.mockRestore();
    }
  }
});

test('a letter that is another one in lower case is no spelling of it', () => {
  expect(canonicalZone('asia/kolkata')).toBeDefined();
  expect(canonicalZone('asia/\u212aolkata')).toBeUndefined();
});

test('a moment has the one name of its zone, also where a link was named', () => {
  const access = fullAccess({ timezone: 'eUROPE/paris' } as Caller);
  const asked = [undefined, 'US/Eastern', 'utc', 'Etc/UTC'];
  const zones = asked.map(
    (timezone) => momentOf({ clock: systemClock }, access, { ...(timezone && { timezone }) }).zone,
  );
  expect(zones).toEqual(['Europe/Paris', 'America/New_York', 'UTC', 'UTC']);
});

test('what is no zone is refused without being worked out', () => {
  const none = ['', 'x', 'Europe/Nowhere', '+05:30', 'Europe/Paris '.repeat(20), '__proto__'];
  expect(none.filter((zone) => isZone(zone) || canonicalZone(zone) !== undefined)).toEqual([]);
});
