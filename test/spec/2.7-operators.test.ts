// Each operator by what it finds, at one moment. That every database finds the same is the work of test/agent/oracle.
import { describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Operator } from '../../src/core/filter.ts';
import { openShop } from './opened.ts';

/** A Sunday, at noon. */
const clock = { ...systemClock, now: () => Date.parse('2024-03-31T12:00:00Z') };
const events = () =>
  createMemorySource('memory', [
    {
      name: 'events',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'name', type: 'String', nullable: true },
        { name: 'n', type: 'Number', nullable: true },
        { name: 'at', type: 'Date' },
        { name: 'tags', type: ['String'], nullable: true },
      ],
      primaryKey: ['id'],
      rows: [
        [1, 'Ada', 1, '2024-03-31T00:00:00.000Z', ['a', 'b']],
        [2, 'Bob', 2, '2024-03-30T23:59:59.999Z', ['a']],
        [3, null, null, '2024-03-29T10:00:00.000Z', null],
        [4, '', 4, '2024-03-18T00:00:00.000Z', []],
        [5, 'adam', 5, '2024-02-01T00:00:00.000Z', ['b', 'c']],
        [6, 'A_a', 6, '2023-10-01T00:00:00.000Z', ['c']],
        [7, 'Eve', 7, '2023-01-01T00:00:00.000Z', ['a', 'c']],
        [8, 'Dad', 8, '2024-03-31T12:00:01.000Z', ['b']],
      ],
    },
  ]);

const found: readonly (readonly [Operator, field: string, value: unknown, ids: number[]])[] = [
  ['Equal', 'name', 'Ada', [1]],
  ['NotEqual', 'name', 'Ada', [2, 3, 4, 5, 6, 7, 8]],
  ['GreaterThan', 'n', 6, [7, 8]],
  ['LessThan', 'n', 4, [1, 2]],
  ['In', 'n', [1, 5, null], [1, 3, 5]],
  ['NotIn', 'n', [1, 2], [3, 4, 5, 6, 7, 8]],
  ['Present', 'name', undefined, [1, 2, 5, 6, 7, 8]],
  ['Blank', 'name', undefined, [3, 4]],
  ['Contains', 'name', 'da', [1, 5]],
  ['NotContains', 'name', 'a', [2, 3, 4, 7]],
  ['StartsWith', 'name', 'A', [1, 6]],
  ['EndsWith', 'name', 'a', [1, 6]],
  ['Like', 'name', 'A_a', [1, 6]],
  ['ILike', 'name', 'a%', [1, 5, 6]],
  ['Before', 'at', '2023-10-01', [7]],
  ['After', 'at', '2024-03-31T00:00:00Z', [8]],
  ['Today', 'at', undefined, [1, 8]],
  ['Yesterday', 'at', undefined, [2]],
  ['PreviousWeek', 'at', undefined, [4]],
  ['PreviousMonth', 'at', undefined, [5]],
  ['PreviousQuarter', 'at', undefined, [6]],
  ['PreviousYear', 'at', undefined, [6, 7]],
  ['Past', 'at', undefined, [1, 2, 3, 4, 5, 6, 7]],
  ['Future', 'at', undefined, [8]],
  ['IncludesAll', 'tags', ['a', 'b'], [1]],
  ['IncludesNone', 'tags', ['a', 'b'], [4, 6]],
]; // biome-ignore format: a table

describe('operators', () => {
  test.each(found)('%s', async (operator, field, value, ids) => {
    const shop = await openShop(undefined, { sources: [events()], clock });
    const filter = { field, operator, ...(value !== undefined && { value }) };
    expect(await shop.list({ collection: 'events', fields: ['id'], filter })).toEqual(ids.map((id) => [id]));
  });
});
