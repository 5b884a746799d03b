import { expect, test } from 'vitest';
import { packId, unpackId } from '../../src/agent/encode/record-id.ts';
import { createMoment } from '../../src/agent/lower/dates.ts';
import type { Column } from '../../src/agent/model/types.ts';

const moment = createMoment(0, 'UTC');
const column = (name: string, type: 'String' | 'Number'): Column => ({
  kind: 'column',
  name,
  column: name,
  type,
  nativeType: '',
  nullable: false,
  readOnly: false,
  required: true,
  isKey: true,
  collation: 'binary',
  operators: new Map(),
  sortable: true,
});
const one = [column('code', 'String')];
const two = [column('code', 'String'), column('nr', 'Number')];

test.each([
  [one, ['a|b'], 'a|b'],
  [one, ['a\\|b'], 'a\\|b'],
  [one, [''], ''],
  [two, ['a|b', 0], 'a\\|b|0'],
  [two, ['a\\', 7], 'a\\\\|7'],
  [two, ['', -1], '|-1'],
  [two, ['|a||b\\|', 0], '\\|a\\|\\|b\\\\\\||0'],
])('a packed id unpacks to its key, with separators and escapes for composite keys only (%#)', (key, values, id) => {
  expect([packId(values), unpackId(key, id, 'id', moment), unpackId(key, values, 'id', moment)]).toEqual([
    id,
    values,
    values,
  ]);
});

test.each([
  ['a\\q|1', ['a\\q', 1]],
  ['a\\\\|1', ['a\\', 1]],
  ['|1', ['', 1]],
])('%s: a backslash escapes separators and backslashes only', (id, values) => {
  expect(unpackId(two, id, 'id', moment)).toEqual(values);
});

test('an id has the types of the key columns, and must have as many parts', () => {
  const wrong = (id: string) => {
    try {
      return unpackId(two, id, 'id', moment);
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect([unpackId(two, 'x|007', 'id', moment), wrong('x|y'), wrong('x'), wrong('x|1|2')]).toEqual([
    ['x', 7],
    'id (nr): expected a number, got "y".',
    'id: expected an id of 2 parts, code|nr, got "x".',
    'id: expected an id of 2 parts, code|nr, got "x|1|2".',
  ]);
});
