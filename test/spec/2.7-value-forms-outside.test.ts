// The forms of a value that a filter accepts for each type, over HTTP, with the records that match; and what the refusal
// of any other form says. Paris is the timezone of the user.
import { expect, test } from 'vitest';
import { createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const uuid = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
const kinds: MemoryTable = {
  name: 'kinds',
  columns: [
    { name: 'id', type: 'Number' },
    ...(['text', 'n', 'at', 'day', 'time', 'is', 'uuid', 'bytes', 'doc', 'place'] as const).map((name, at) => ({
      ...{ name, nullable: true },
      type: (['String', 'Number', 'Date', 'Dateonly', 'Time', 'Boolean', 'Uuid', 'Binary', 'Json', 'Point'] as const)[at]!,
    })),
    { name: 'kind', type: 'Enum', enumValues: ['new', 'sent', 'a b'], nullable: true },
    { name: 'tags', type: ['String'], nullable: true },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'a1', 1.5, '2024-02-29T10:00:00.123456Z', '2024-02-29', '23:59:00', true, uuid, Buffer.from('fb', 'hex'), { a: 1 }, [1, 2], 'sent', ['a']],
    [2, '', 0, '2024-02-29T10:00:00.000Z', '2024-03-01', '00:00:00.5', false, uuid.replace('9', '8'), Buffer.alloc(0), [], [0, 0], 'new', []],
    [3, null, null, null, null, null, null, null, null, null, null, null, null],
  ],
}; // biome-ignore format: a table
const place = serveOutside(['CREATE TABLE one (id INTEGER PRIMARY KEY)'], (agent) =>
  agent.addDataSource(createMemoryDataSource('kinds', [kinds])),
);

const ask = async (field: string, operator: string, value: unknown): Promise<unknown> => {
  const filters = JSON.stringify({ field, operator, ...(value !== undefined && { value }) });
  if (filters.length < 5_000) {
    const { status, body } = await place.get(`/kinds?${new URLSearchParams({ filters, sort: 'id' })}`);
    return status === 200 ? body.data.map(({ id }: { id: string }) => Number(id)) : `${status} ${body.errors[0].detail}`;
  }
  const { json, error } = await place.tool('list', { collectionName: 'kinds', fields: ['id'], filters: JSON.parse(filters) });
  return json?.rows.flat() ?? `400 ${error}`;
}; // biome-ignore format: short

type Ask = readonly [operator: string, field: string, value: unknown, found: readonly number[] | string];
const accepted: readonly Ask[] = [
  ...[true, 1, '1', 'true', 'TRUE', 'True'].map((value): Ask => ['Equal', 'is', value, [1]]),
  ...[false, 0, '0', 'false', 'FALSE'].map((value): Ask => ['Equal', 'is', value, [2]]),
  ...[1.5, '1.5', ' 1.50 ', '+1.5', '01.5', '1.500'].map((value): Ask => ['Equal', 'n', value, [1]]),
  ...[0, '0', '-0', '0.0', '.0', '0.'].map((value): Ask => ['Equal', 'n', value, [2]]),
  ...['2024-02-29', ' 2024-02-29 ', '2024-02-29T00:00:00Z', '2024-02-29 00:00', '2024-02-29T00:00:00.000+00:00'].map((value): Ask => ['Equal', 'day', value, [1]]),
  ...['2024-02-29T10:00:00.123456Z', '2024-02-29T10:00:00,123456Z', '2024-02-29 11:00:00.123456', '2024-02-29t10:00:00.1234569z', '2024-02-29T12:00:00.123456+02:00', '2024-02-29T12:00:00.123456+0200', '2024-02-29T08:30:00.123456-0130', '2024-02-29 12:00:00.123456 +02'].map((value): Ask => ['Equal', 'at', value, [1]]),
  ...['2024-02-29T10:00Z', '2024-02-29T11:00', '2024-02-29T10:00:00.000000Z'].map((value): Ask => ['Equal', 'at', value, [2]]),
  ['After', 'at', '2024-02-29T10:00:00.123455Z', [1]], ['After', 'at', '2024-02-29T10:00:00.123456Z', []], ['Before', 'at', '2024-02-29T10:00:00.123457Z', [1, 2]], ['Before', 'at', '2024-02-29T10:00:00.123456Z', [2]],
  ['Before', 'at', '2024-03-01', [1, 2]], ['After', 'at', '2024-02-29', [1, 2]], ['Before', 'day', '2024-03-01T00:00:00Z', [1]], ['After', 'day', ' 2024-02-29', [2]],
  ...['23:59', '23:59:00', ' 23:59:00.000 '].map((value): Ask => ['Equal', 'time', value, [1]]),
  ['Equal', 'time', '00:00:00.500', [2]], ['GreaterThan', 'time', '23:58:59.9', [1]], ['LessThan', 'time', '00:00:00.6', [2]],
  ...[uuid, uuid.toUpperCase(), ` ${uuid} `].map((value): Ask => ['Equal', 'uuid', value, [1]]),
  ['In', 'uuid', [uuid.toUpperCase(), null], [1, 3]], ['NotIn', 'uuid', uuid, [2, 3]],
  ...['fb', 'FB', 'data:;base64,+w==', 'data:image/png;base64,-w'].map((value): Ask => ['Equal', 'bytes', value, [1]]),
  ['Equal', 'bytes', '', [2]], ['Present', 'bytes', undefined, [1, 2]], ['Present', 'doc', undefined, [1, 2]], ['Blank', 'place', undefined, [3]], ['Present', 'is', undefined, [1, 2]], ['Blank', 'tags', undefined, [3]], ['Blank', 'text', undefined, [2, 3]], ['Present', 'text', undefined, [1]],
  ['Equal', 'kind', 'sent', [1]], ['In', 'kind', ['sent', 'new'], [1, 2]], ['NotEqual', 'kind', 'sent', [2, 3]], ['NotIn', 'kind', ['new', null], [1]],
  ['Contains', 'text', 1, [1]], ['StartsWith', 'text', '', [1, 2]], ['EndsWith', 'text', 1, [1]], ['Equal', 'text', true, []], ['NotContains', 'text', 1, [2, 3]],
  ['In', 'n', [], []], ['NotIn', 'n', [], [1, 2, 3]], ['In', 'n', ['1.50', '0'], [1, 2]], ['In', 'n', null, [3]], ['NotEqual', 'n', '1.50', [2, 3]], ['Equal', 'n', 'NaN', []],
  ['Like', 'text', 'a\\1', [1]], ['Like', 'text', 'a\\\\', []], ['ILike', 'text', 'A_', [1]], ['ILike', 'text', '\\A1', [1]],
  ['IncludesAll', 'tags', 'a', [1]], ['IncludesNone', 'tags', ['a'], [2, 3]], ['IncludesNone', 'tags', 'b', [1, 2, 3]], ['Equal', 'tags', [], [2]], ['NotEqual', 'tags', ['a'], [2, 3]],
  ...['Contains', 'NotContains', 'StartsWith', 'EndsWith', 'Like', 'ILike'].map((operator): Ask => [operator, 'text', 'x'.repeat(5_000), operator === 'NotContains' ? [1, 2, 3] : []]),
]; // biome-ignore format: a table
const titled = (asks: readonly Ask[]) => asks.map((ask) => [...ask, JSON.stringify(ask[2])?.slice(0, 60)] as const);
test.each(titled(accepted))('%s: of %s, $4: this form of a value matches these records', async (operator, field, value, found) => {
  expect(await ask(field, operator, value)).toEqual(found);
}); // biome-ignore format: short

const moment = "a timestamp such as '2025-03-30T08:00:00Z'";
const refused: readonly Ask[] = [
  ...['on', 2, 'ja', ''].map((value): Ask => ['Equal', 'is', value, 'true or false']),
  ...['1,5', '1e2', '0x1', '', '--1', '1.5.', true].map((value): Ask => ['Equal', 'n', value, 'a number']),
  ...['2024-02-30', '2024-2-9', '2024-02-29T01:00:00Z', '29/02/2024', 20240229].map((value): Ask => ['Equal', 'day', value, "a date such as '2025-03-30'"]),
  ...['2024-02-29', '2024-02-29T24:00:00Z', '2024-02-29T10:60Z', '2024-02-29T10:00:60Z', '2023-02-29T10:00Z', '10:00', 1709200800].map((value): Ask => ['Equal', 'at', value, moment]),
  ['Equal', 'at', '2024-03-31T02:30', "an offset, such as '2024-03-31T01:30:00.000Z': this time does not exist in Europe/Paris"],
  ['Equal', 'at', '2024-02-29', 'use GreaterThanOrEqual with it and LessThan with the next'], ['In', 'at', ['2024-02-29'], 'use GreaterThanOrEqual with it and LessThan with the next'], ['Before', 'at', 'soon', "or a date such as '2025-03-30'"], ['After', 'at', '2024-13-01', "or a date such as '2025-03-30'"], ['Before', 'day', '2024-02-29T10:00Z', "a date such as '2025-03-30'"], ['After', 'day', 'soon', "a date such as '2025-03-30'"],
  ...['24:00', '23:60', '9:00', '23:59:60', 'noon', 5].map((value): Ask => ['Equal', 'time', value, "a time such as '14:30:00'"]),
  ...['9b1deb4d', `${uuid}0`, `{${uuid}}`, 7].map((value): Ask => ['Equal', 'uuid', value, 'a UUID such as']),
  ...['f', '0xfb', 'data:text/plain,a', 'data:;base64,@', 7].map((value): Ask => ['Equal', 'bytes', value, "hexadecimal digits, or a 'data:...;base64,' URI"]),
  ['Equal', 'kind', 'Sent', 'one of sent, ...'], ['Equal', 'kind', 'x', 'one of'], ['In', 'kind', ['sent', 'snt'], 'one of sent, ...'], ['NotEqual', 'kind', '', 'one of'],
  ...['Equal', 'Contains', 'NotContains', 'StartsWith', 'EndsWith', 'Like', 'ILike', 'GreaterThan'].flatMap((operator): Ask[] => [[operator, 'text', 'a\0', 'a string without NUL characters'], [operator, 'text', '\ud800', 'a string without lone surrogates'], [operator, 'text', {}, 'a string']]),
  ...['Contains', 'NotContains', 'StartsWith', 'EndsWith', 'Like', 'ILike'].map((operator): Ask => [operator, 'text', 'x'.repeat(5_001), 'a string of at most 5000 characters']),
  ...['Like', 'ILike'].map((operator): Ask => [operator, 'text', 'a\\\\\\', "a pattern that does not end in a single '\\'"]),
  ...['In', 'NotIn'].map((operator): Ask => [operator, 'n', Array.from({ length: 10_001 }, () => 1), 'a list of at most 10000 values']),
  ...['In', 'NotIn'].map((operator): Ask => [operator, 'n', undefined, 'a list of at most 10000 values']),
  ...['IncludesAll', 'IncludesNone'].flatMap((operator) => [[], [null], ['a', null]].map((value): Ask => [operator, 'tags', value, 'a list of at least one value, without null; use Missing for records without an array'])),
  ['Equal', 'tags', 'a', 'a list of at most 10000 values'],
  ...['GreaterThan', 'LessThan', 'Contains', 'Like', 'Before', 'Today', 'Past', 'IncludesAll'].map((operator): Ask => [operator, 'is', true, 'Present, Blank, Missing, Equal, NotEqual, In, NotIn']),
  ...['Equal', 'In', 'GreaterThan', 'Contains'].map((operator): Ask => [operator, 'doc', 1, 'Present, Blank, Missing']),
  ...['IncludesAll', 'Before', 'Yesterday', 'Future', 'PreviousYear'].map((operator): Ask => [operator, 'text', ['a'], 'Like, ILike, Match, Contains']),
  ...['Contains', 'Like', 'IncludesNone'].map((operator): Ask => [operator, 'day', '2', 'Before, After, Today, Yesterday, PreviousWeek']),
]; // biome-ignore format: a table
test.each(titled(refused))(
  '%s: of %s, $4: this form is refused, with what to send',
  async (operator, field, value, text) => {
    const answer = String(await ask(field, operator, value));
    expect([answer.slice(0, 4), answer.includes(String(text)) ? text : answer]).toEqual(['400 ', text]);
  },
);
