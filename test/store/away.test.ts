// Unavailable storage: the meaning of its errors, the messages
// for the operator, and that buffered entries are not lost.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { isUnavailable } from '../../src/core/errors/away.ts';
import { retryAfterOf } from '../../src/core/errors/retry-after.ts';
import { AppError, toAppError } from '../../src/core/errors.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createActivityLog } from '../../src/store/audit/activity.ts';
import { openDatabase } from '../../src/store/database/database.ts';

const withCode = (code: string) => Object.assign(new Error('of a driver'), { code });
const refused = withCode('ECONNREFUSED');

test.each<[string, unknown, boolean]>([
  ['a port without a server', refused, true],
  ['PostgreSQL is stopping', withCode('57P01'), true],
  ['PostgreSQL is starting', withCode('57P03'), true],
  ['MariaDB is stopping', withCode('ER_SERVER_SHUTDOWN'), true],
  ['MariaDB ends a connection', Object.assign(new Error('Connection was killed'), { errno: 1927, code: 'X' }), true],
  ['a lost connection', new Error("Can't add new command when connection is in closed state"), true],
  [
    'a lost connection of PostgreSQL',
    new Error('Client has encountered a connection error and is not queryable'),
    true,
  ],
  ['no free connection', new Error('Knex: Timeout acquiring a connection. The pool is probably full.'), true],
  ['a duplicate row', withCode('ER_DUP_ENTRY'), false],
  ['a defect with a similar message', Object.assign(new TypeError('Connection terminated'), { code: 'X' }), false],
  ['no error', 'ECONNREFUSED', false],
])('%s', (_, error, expected) => {
  expect(isUnavailable(error)).toBe(expected);
});

test.each(['mysql', 'postgres'])(
  '%s: the error is an error of Portico, without values, and is logged once',
  async (scheme) => {
    const observed: Observation[] = [];
    // Port 1 is not in use.
    const url = `${scheme}://root:secret@127.0.0.1:1/nothing`;
    const database = openDatabase({ url, dataDir: '/', sqlite: 'auto', observe: (one) => observed.push(one) });
    const asked = [
      () => database.knex('users').where({ email: 'ada@b.example' }),
      () => database.write((trx) => trx('users').insert({ email: 'ada@b.example' })),
    ];
    for (const ask of asked) {
      const error: unknown = await ask().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const told = toAppError(error, 'id');
      expect([told.code, told.status, retryAfterOf(told)]).toEqual(['SOURCE_UNAVAILABLE', 503, 2]);
      expect(`${(error as Error).message}`).not.toContain('ada@b.example');
    }
    await database.close();
    expect(observed).toEqual([
      {
        type: 'warning',
        message: expect.stringMatching(
          /^The storage is not available\. .* port 1: .*\(ECONNREFUSED\).* Its address: SERVICE_STORAGE_URL\./,
        ),
      },
    ]);
  },
);

test('a refused statement is in the error, without its values', async () => {
  const database = openDatabase({ url: 'sqlite::memory:', dataDir: '/', sqlite: 'auto' });
  await expect(database.knex('users').where({ email: 'ada@b.example' })).rejects.toThrow(
    /^(?!.*ada@b\.example).*users/,
  );
  await database.close();
});

test.each([
  ['a database', refused],
  ['a platform', new AppError('PLATFORM_UNAVAILABLE', {})],
])('entries of the activity log wait while %s is unreachable', async (_, cause) => {
  const observed: Observation[] = [];
  const written: number[] = [];
  let isThere = false;
  const insertAll = async (entries: readonly { readonly startedAt: number }[]) => {
    if (!isThere) throw cause;
    written.push(...entries.map(({ startedAt }) => startedAt));
  };
  const { record, flush } = createActivityLog({ insertAll } as never, (one) => observed.push(one), systemClock);
  for (let startedAt = 1; startedAt <= 5; startedAt++) {
    record({ startedAt } as never);
    await flush();
  }
  isThere = true;
  await flush();
  expect(written).toEqual([1, 2, 3, 4, 5]);
  expect(JSON.stringify(observed)).not.toContain('were lost');
});
