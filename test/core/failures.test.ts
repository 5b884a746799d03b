// Which errors are logged, with which cause, and how often; and what the caller gets instead.
import { expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { markLogged, reportFailure } from '../../src/core/observe/failures.ts';
import type { Observation } from '../../src/core/observe.ts';

function open() {
  const seen: Observation[] = [];
  const report = (thrown: unknown, id?: string) => reportFailure((one) => seen.push(one), 'list', thrown, id);
  return { seen, report };
}

test('an error of code is logged with its cause and the id that the caller gets, and its text stays in the log', () => {
  const { seen, report } = open();
  const cause = new Error('the till is jammed');
  const told = report(cause, 'request-1');
  expect([told.code, told.message.includes('request-1'), told.message.includes('till'), seen]).toEqual([
    'INTERNAL',
    true,
    false,
    [{ type: 'failure', where: 'list', requestId: 'request-1', cause }],
  ]);
});

test('an error that passes several layers is logged once, as it was thrown and as it was told', () => {
  const { seen, report } = open();
  const thrown = new Error('once');
  const told = report(thrown);
  for (const again of [thrown, told]) report(again);
  expect(seen.length).toBe(1);
  report(new Error('another'));
  expect(seen.length).toBe(2);
});

test('values that are no objects are logged each time', () => {
  const { seen, report } = open();
  for (const thrown of ['text', undefined, 'text']) expect(report(thrown).code).toBe('INTERNAL');
  expect(seen.length).toBe(3);
});

test.each([
  ['a fault of the caller', new AppError('FORBIDDEN', { verb: 'edit', collection: 'orders' }), 0],
  [
    'a fault of the caller with a cause',
    new AppError('INVALID_ARGUMENT', { argument: 'a', problem: 'b' }, new Error('c')),
    0,
  ],
  ['a fault of the server without a cause', new AppError('NOT_READY', {}), 0],
  ['a fault of the server with a cause', new AppError('SOURCE_UNAVAILABLE', {}, new Error('c')), 1],
  ['the storage, which logs its own outage', new AppError('PLATFORM_UNAVAILABLE', {}, new Error('c')), 0],
  ['an error whose cause is in the log', markLogged(new AppError('SOURCE_UNAVAILABLE', {}, new Error('c'))), 0],
])('%s: returned as it is', (_, error, logged) => {
  const { seen, report } = open();
  expect([report(error) === error, seen.length]).toEqual([true, logged]);
});
