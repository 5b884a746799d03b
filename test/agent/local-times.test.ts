// Local times and the first moment of a day, near the clock changes of random zones. What is expected follows from the
// offsets that luxon finds: every instant whose local time is the text, tried one by one.
import { DateTime, IANAZone } from 'luxon';
import { expect, test } from 'vitest';
import { createMoment, readLocal } from '../../src/agent/lower/dates.ts';
import { zoneOffsets } from '../../src/agent/sources/zones.ts';
import { canonicalZone } from '../../src/core/clock/timezone.ts';
import { createRandom } from './oracle/random.ts';

const MINUTE = 60_000;
const seed = Number(process.env.LOCAL_TIMES_SEED ?? Date.now() % 1e6);
const random = createRandom(seed);
const all = [...new Set(Intl.supportedValuesOf('timeZone').map((zone) => canonicalZone(zone)!))];
const zones = [...random.some(all, 25, 25), 'UTC', 'Pacific/Apia', 'Asia/Kathmandu', 'Australia/Lord_Howe'];

/** All instants with the local time, which is written as if it were UTC. */
function instantsOf(zone: string, local: number): number[] {
  const of = new IANAZone(zone);
  const offsetAt = (time: number) => Math.round(of.offset(time) * MINUTE);
  const offsets = new Set<number>();
  for (let minutes = -1800; minutes <= 1800; minutes += 30) offsets.add(offsetAt(local + minutes * MINUTE));
  return [...offsets]
    .map((each) => local - each)
    .filter((time) => offsetAt(time) === local - time)
    .sort((a, b) => a - b);
}

test(`a local time is the first of its instants, or is skipped (LOCAL_TIMES_SEED=${seed})`, () => {
  const differences: unknown[] = [];
  for (const zone of zones) {
    const changes = random.some(zoneOffsets(zone).changes, 0, 6);
    for (const { from, seconds } of changes)
      for (const minutes of [-1500, -90, -30, -1, 0, 1, 30, 90, 1500]) {
        const local = Date.parse(from) + seconds * 1000 + minutes * MINUTE;
        const [first] = instantsOf(zone, local);
        const text = new Date(local).toISOString().slice(0, 19);
        const read = readLocal(text, zone, false);
        const expected = first === undefined ? 'skipped' : new Date(first).toISOString();
        const found = read?.isSkipped ? 'skipped' : read?.instant;
        if (found !== expected) differences.push({ zone, text, found, expected });
      }
  }
  expect(differences).toEqual([]);
});

test(`a day begins at its first moment (LOCAL_TIMES_SEED=${seed})`, () => {
  const differences: unknown[] = [];
  for (const zone of zones)
    for (const { from } of random.some(zoneOffsets(zone).changes, 0, 6)) {
      const time = Date.parse(from);
      const { instant, day } = createMoment(time, zone).startOf('day');
      const dayAt = (at: number) => DateTime.fromMillis(at, { zone }).toISODate();
      const begun = Date.parse(instant);
      const expected = dayAt(time);
      const isFirst = dayAt(begun) === expected && dayAt(begun - 1) !== expected;
      if (day !== expected || !isFirst) differences.push({ zone, from, instant, day, expected });
    }
  expect(differences).toEqual([]);
});

test.each([
  ['2026-01-31T23:30:00.000Z', 'Europe/Oslo'],
  ['2024-02-29T12:00:00.000Z', 'America/New_York'],
  ['2027-01-01T04:59:59.999Z', 'America/New_York'],
  ['2026-08-31T00:00:00.000Z', 'Asia/Kathmandu'],
  ['1899-12-31T12:00:00.000Z', 'Europe/Amsterdam'],
])('calendar units at %s in %s', (now, zone) => {
  const moment = createMoment(Date.parse(now), zone);
  const local = DateTime.fromISO(now, { zone });
  const today = DateTime.utc(local.year, local.month, local.day);
  for (const unit of ['day', 'week', 'month', 'quarter', 'year'] as const)
    for (const shift of [-13, -1, 0, 1, 5])
      expect([unit, shift, moment.startOf(unit, shift).day]).toEqual([
        unit,
        shift,
        today
          .startOf(unit)
          .plus({ [unit]: shift })
          .toISODate(),
      ]);
});
