// Occurrences of cron expressions: five fields, timezones, and days on which the clocks change.
import { describe, expect, test } from 'vitest';
import { findScheduleProblem, nextOccurrences } from '../../src/workflows/automatic/schedule.ts';

const from = Date.parse('2026-01-01T00:00:00Z');
const occurrencesAfter = (cron: string, timezone: string, start: string, count: number) =>
  nextOccurrences({ cron, timezone }, Date.parse(start), count).map((at) => new Date(at).toISOString().slice(0, 16));

describe('a schedule', () => {
  test('follows the clocks of its timezone, not those of the server', () => {
    expect(occurrencesAfter('0 8 * * MON-FRI', 'America/New_York', '2026-01-02T14:00:00Z', 2)).toEqual([
      '2026-01-05T13:00',
      '2026-01-06T13:00',
    ]);
  });

  test('in spring, a time that does not exist occurs once, when the clock jumps', () => {
    // At 02:00, the clocks of Paris jump to 03:00.
    expect(occurrencesAfter('30 2 * * *', 'Europe/Paris', '2027-03-27T12:00:00Z', 2)).toEqual([
      '2027-03-28T01:00',
      '2027-03-29T00:30',
    ]);
    expect(occurrencesAfter('*/30 * * * *', 'Europe/Paris', '2027-03-28T00:15:00Z', 3)).toEqual([
      '2027-03-28T00:30',
      '2027-03-28T01:00',
      '2027-03-28T01:30',
    ]);
  });

  test('in autumn, a time that exists twice occurs once, and an interval goes on', () => {
    // At 03:00, the clocks of Paris go back to 02:00.
    expect(occurrencesAfter('30 2 * * *', 'Europe/Paris', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    expect(occurrencesAfter('*/30 * * * *', 'Europe/Paris', '2026-10-25T00:15:00Z', 4)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-25T02:00',
    ]);
  });

  test.each([
    ['seconds', '* * * * * *', 'UTC', 'cron'],
    ['a nickname', '@daily', 'UTC', 'cron'],
    ['a date', '2026-11-27T10:00:00', 'UTC', 'cron'],
    ['a minute that does not exist', '61 * * * *', 'UTC', 'cron'],
    ['words', 'every day at eight please', 'UTC', 'cron'],
    ['a date that never occurs', '0 0 30 2 *', 'UTC', 'cron'],
    ['an unknown timezone', '0 8 * * *', 'Mars/Base', 'timezone'],
    ['an offset', '0 8 * * *', '+02:00', 'timezone'],
  ])('%s is refused', (_, cron, timezone, field) => {
    expect(findScheduleProblem({ cron, timezone }, from)).toMatchObject({ field });
  });

  test('five fields with names, lists and steps are accepted', () => {
    expect(findScheduleProblem({ cron: '0,30 8-18/2 1 JAN-JUN *', timezone: 'Europe/Paris' }, from)).toBeUndefined();
  });
});
