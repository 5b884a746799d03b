// The comparison of answers with the rows of a question, and the reading of questions (eval/defog).
import { describe, expect, test } from 'vitest';
import { fillDays } from '../../eval/defog/calls.ts';
import { hasRows, isSameValue } from '../../eval/defog/compare.ts';
import { splitStatement } from '../../eval/defog/database.ts';
import { alternatives, parseCsv } from '../../eval/defog/questions.ts';

describe('rows', () => {
  const rows = [
    ['a', 3],
    ['b', 2],
    ['c', 2],
    ['d', 1],
  ];
  const keys = [[3], [2], [2], [1]];

  test('are equal in any order, unless the question asks for one', () => {
    expect(hasRows({ rows, keys }, rows.toReversed(), false)).toBe(true);
    expect(hasRows({ rows, keys }, rows.toReversed(), true)).toBe(false);
  });

  test('may swap if they have the same sort key', () => {
    const swapped = [rows[0]!, rows[2]!, rows[1]!, rows[3]!];
    expect(hasRows({ rows, keys }, swapped, true)).toBe(true);
    expect(hasRows({ rows }, swapped, true)).toBe(true);
  });

  test('that tie at the limit may replace each other, and no others', () => {
    for (const ordered of [true, false]) {
      expect(hasRows({ rows, keys, limit: 2 }, [rows[0]!, rows[2]!], ordered)).toBe(true);
      expect(hasRows({ rows, keys, limit: 2 }, [rows[0]!, rows[3]!], ordered)).toBe(false);
      expect(hasRows({ rows, keys, limit: 2 }, [rows[1]!, rows[2]!], ordered)).toBe(false);
    }
  });

  test('are as many as expected, repeated ones included', () => {
    expect(hasRows({ rows }, rows.slice(1), false)).toBe(false);
    expect(hasRows({ rows: [['a'], ['a'], ['b']] }, [['a'], ['b'], ['b']], false)).toBe(false);
    expect(hasRows({ rows: [] }, [], false)).toBe(true);
    expect(hasRows({ rows: [] }, [[1]], false)).toBe(false);
  });

  test('may have their columns in another order, and additional columns', () => {
    expect(hasRows({ rows: [['a', 1]] }, [[1, 'x', 'a']], false)).toBe(true);
    expect(hasRows({ rows: [['a', 1, 'x']] }, [['a', 1]], false)).toBe(false);
    // One order of columns for all rows.
    const [one, other] = [
      [1, 2],
      [3, 4],
    ];
    expect(hasRows({ rows: [one, other] }, [one, other.toReversed()], false)).toBe(false);
  });

  test('with rounded numbers are compared with their tolerance', () => {
    const tolerance = { relative: 0, absolute: 0.005 };
    expect(hasRows({ rows: [[2.05]], tolerance }, [[2.0454545455]], false)).toBe(true);
    expect(hasRows({ rows: [[2.05]] }, [[2.0454545455]], false)).toBe(false);
  });
});

test.each([
  ['numbers that differ in the last digits', 1 / 3, 0.3333333333, true],
  ['numbers that differ', 1.5, 1.5001, false],
  ['a number and its digits', 12.5, '12.50', true],
  ['a string of digits and another', '1', '1.0', false],
  ['null and zero', null, 0, false],
  ['null and null', null, null, true],
  ['a day and its midnight', '2023-04-01', '2023-04-01T00:00:00.000Z', true],
  ['a timestamp as PostgreSQL prints it', '2023-04-01 10:30:00', '2023-04-01T10:30:00.000Z', true],
  ['a day and a later time', '2023-04-01', '2023-04-01T00:00:01.000Z', false],
  ['strings of different case', 'a', 'A', false],
  ['true and a string', true, 'true', false],
])('%s', (_, one, other, same) => {
  expect(isSameValue(one, other)).toBe(same);
});

test('cells of a CSV file may hold commas, quotes and line breaks', () => {
  expect(parseCsv('a,b\r\n"x, ""y""\nz",\n,"q"')).toEqual([
    ['a', 'b'],
    ['x, "y"\nz', ''],
    ['', 'q'],
  ]);
});

test('each statement and each choice of columns is an alternative', () => {
  expect(alternatives('SELECT {a, b}, count(*) FROM t GROUP BY {}; SELECT 1;')).toEqual([
    'SELECT a, b, count(*) FROM t GROUP BY a, b',
    'SELECT a, count(*) FROM t GROUP BY a',
    'SELECT b, count(*) FROM t GROUP BY b',
    'SELECT 1',
  ]);
});

test('the ORDER BY and LIMIT of the outermost SELECT are split off', () => {
  const inner = "SELECT x, rank() OVER (ORDER BY y LIMIT 1) FROM t WHERE z = 'ORDER BY' ";
  expect(splitStatement(`${inner}ORDER BY coalesce(x, 1) DESC NULLS LAST, y LIMIT 5`)).toEqual({
    body: inner,
    terms: ['coalesce(x, 1) DESC NULLS LAST', 'y'],
    limit: 5,
  });
  expect(splitStatement(inner)).toEqual({ body: inner, terms: [], limit: undefined });
});

test('days are computed from today', () => {
  const today = new Date('2026-03-04T12:00:00Z');
  const days = ['today', 'today -10 day', 'today -3 month', 'week', 'week -1 week', 'month -6 month', 'year +1 year'];
  expect(fillDays({ days: days.map(($day) => ({ $day })) }, today)).toEqual({
    days: ['2026-03-04', '2026-02-22', '2025-12-04', '2026-03-02', '2026-02-23', '2025-09-01', '2027-01-01'],
  });
  expect(fillDays({ $seconds: 'today' }, today)).toBe(Date.UTC(2026, 2, 4) / 1000);
  expect(() => fillDays({ $day: 'tomorrow' }, today)).toThrow('is no day');
});
