// A call may spell its timezone in any way, and each zone is still computed only once.
import { expect, test, vi } from 'vitest';
import { momentOf } from '../../src/agent/operations/call.ts';
import { zoneOffsets } from '../../src/agent/sources/zones.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import { canonicalZone, isZone } from '../../src/core/clock/timezone.ts';
import { systemClock } from '../../src/core/clock.ts';

const spellings = (zone: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    [...zone].map((letter, place) => ((at >> (place % 12)) & 1 ? letter.toUpperCase() : letter.toLowerCase())).join(''),
  );

test('two hundred spellings of a zone are computed once', () => {
  const offsets = spellings('Africa/Casablanca', 200).map((zone) => zoneOffsets(zone));
  expect(new Set(offsets).size).toBe(1);
  expect(offsets[0]!.zone).toBe('Africa/Casablanca');
});

test('spellings of a zone, valid or not, are looked up once', () => {
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

test('a non-ASCII letter that lower-cases to an ASCII one is not accepted', () => {
  expect(canonicalZone('asia/kolkata')).toBeDefined();
  expect(canonicalZone('asia/\u212aolkata')).toBeUndefined();
});

test('a call has the canonical name of its zone, also for aliases', () => {
  const access = fullAccess({ timezone: 'eUROPE/paris' } as Caller);
  const asked = [undefined, 'US/Eastern', 'utc', 'Etc/UTC'];
  const zones = asked.map(
    (timezone) => momentOf({ clock: systemClock }, access, { ...(timezone && { timezone }) }).zone,
  );
  expect(zones).toEqual(['Europe/Paris', 'America/New_York', 'UTC', 'UTC']);
});

test('an invalid zone is refused', () => {
  const none = ['', 'x', 'Europe/Nowhere', '+05:30', 'Europe/Paris '.repeat(20), '__proto__'];
  expect(none.filter((zone) => isZone(zone) || canonicalZone(zone) !== undefined)).toEqual([]);
});
