import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { errorShape, notesPath, openWays, shapeOf, type Ways } from '../api/ways.ts';

let ways: Ways;
beforeAll(async () => {
  ways = await openWays({ env: { SERVICE_API_PER_MINUTE: '4' }, app: { log: () => undefined } });
});
afterAll(() => ways?.stop());

test('429 | too many requests; header Retry-After holds seconds to wait', async () => {
  const { secret } = await ways.make(['notes:read']);
  const answers = [];
  for (let call = 0; call < 5; call++) answers.push(await ways.ask(notesPath, { secret }));
  const last = answers.at(-1)!;
  const wait = Number(last.headers.get('retry-after'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
  expect([Number.isInteger(wait), wait > 50, wait <= 60, last.json?.retry_after]).toEqual([true, true, true, wait]);
});

test('429 | header Retry-After has the seconds until the exceeded limit ends, also for an hourly one', async () => {
  let late = 0;
  const clock = { ...systemClock, now: () => Date.now() + late };
  const few = await openWays({ env: { SERVICE_API_PER_MINUTE: '2', SERVICE_API_PER_HOUR: '3' }, app: { clock } });
  onTestFinished(() => few.stop());
  const { secret } = await few.make(['notes:read']);
  const seen: (readonly [number, number, boolean])[] = [];
  for (let call = 0; call < 5; call++) {
    const { status, headers } = await few.ask(notesPath, { secret });
    const reset = Number(headers.get('x-ratelimit-reset')) - Math.ceil(clock.now() / 1000);
    seen.push([status, Number(headers.get('retry-after')), Math.abs(Number(headers.get('retry-after')) - reset) <= 1]);
    if (call === 2) late = 61_000;
  }
  const [, , ofMinute, last, ofHour] = seen;
  expect([ofMinute![0], last![0], ofHour![0], ofMinute![2], ofHour![2]]).toEqual([429, 200, 429, true, true]);
  expect([ofMinute![1] <= 60, ofHour![1] > 3400, ofHour![1] <= 3600 - 61]).toEqual([true, true, true]);
});

test('4XX | 401, 403 and errors of unknown routes have `code` and `message` too', async () => {
  const { secret } = await ways.make(['activity_logs:read']);
  const answers = [
    await ways.ask(notesPath),
    await ways.ask(notesPath, { secret }),
    await ways.ask('/v1/nothing', { secret }),
    await ways.ask(`${notesPath}?nothing=1`, { secret: (await ways.make(['all'])).secret }),
  ];
  expect(answers.map(({ status, json }) => [status, json?.code])).toEqual([
    [401, 'UNAUTHENTICATED'],
    [403, 'DENIED'],
    [404, 'NOT_FOUND'],
    [400, 'INVALID_ARGUMENT'],
  ]);
  expect(answers.map(shapeOf)).toEqual(Array(4).fill(errorShape));
  expect(answers[3]!.json?.message).toContain('nothing');
});

test('4XX | a parameter is unknown although every object has a property of its name', async () => {
  const { secret } = await ways.make(['notes:read']);
  for (const name of ['constructor', 'toString', '__proto__']) {
    const { status, json } = await ways.ask(`${notesPath}?${name}=1`, { secret });
    expect([status, json?.code, String(json?.message).includes(name)]).toEqual([400, 'INVALID_ARGUMENT', true]);
  }
});

test('4XX | client error; body has `code` and `message`', async () => {
  const { secret } = await ways.make(['notes:read']);
  const answers = [
    await ways.ask(`${notesPath}?limit=0`, { secret }),
    await ways.ask(`${notesPath.replace('Production', 'production')}`, { secret }),
    await ways.ask(notesPath, { secret, method: 'PUT' }),
  ];
  expect([answers.map(({ json }) => json?.error), answers[2]!.headers.get('allow')]).toEqual([
    ['Bad request', 'Not found', 'Method not allowed'],
    'GET, HEAD, POST',
  ]);
  expect(answers.map(({ json }) => json?.message)).toEqual([
    expect.stringContaining('limit: expected a whole number from 1 to 100'),
    expect.stringContaining("environment 'production'"),
    expect.any(String),
  ]);
  expect(answers.map(({ status, json }) => [status, json?.code])).toEqual([
    [400, 'INVALID_ARGUMENT'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
  ]);
  expect(answers.map(shapeOf)).toEqual([errorShape, errorShape, errorShape]);
});

test('5XX | server error; body has `code` and `message`', async () => {
  const { secret } = await ways.make(['notes:read']);
  const before = await ways.ask(notesPath, { secret });
  // Simulates a missing table in the storage.
  const tables = openDatabase({ url: ways.storage, dataDir: '/', sqlite: 'auto' });
  await tables.knex.schema.renameTable('notes', 'notes_elsewhere');
  const broken = await ways.ask(notesPath, { secret });
  await tables.knex.schema.renameTable('notes_elsewhere', 'notes');
  await tables.close();
  const after = await ways.ask(notesPath, { secret });
  expect([before.status, broken.status, broken.json?.code, after.status]).toEqual([200, 500, 'INTERNAL', 200]);
  expect([shapeOf(broken), broken.json?.error]).toEqual([errorShape, 'Failed']);
  // The details go only to the log.
  expect(broken.text).not.toMatch(/notes|table|select|sqlite/i);
  expect(ways.observed.filter(({ type }) => type === 'failure')).toHaveLength(1);
});

test('429 | the daily limit too; refused calls do not count, other tokens are unaffected, and responses have the headers of the nearest limit', async () => {
  let late = 0;
  const clock = { ...systemClock, now: () => Date.now() + late };
  const env = { SERVICE_API_PER_MINUTE: '2', SERVICE_API_PER_HOUR: '3', SERVICE_API_PER_DAY: '4' };
  const few = await openWays({ env, app: { clock } });
  onTestFinished(() => few.stop());
  const { secret } = await few.make(['notes:read']);
  const seen = [];
  for (const step of [0, 0, 0, 61_000, 0, 3_600_000, 0, 3_600_000]) {
    late += step;
    const { status, headers, json } = await few.ask(notesPath, { secret });
    const [limit, left] = ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`));
    seen.push([status, limit, left, Math.round(Number(headers.get('retry-after')) / 60), json?.error, json?.code]);
  }
  const over = ['Too many requests', 'RATE_LIMITED'];
  expect(seen.map((one) => one.filter((part) => part !== undefined))).toEqual([
    [200, '2', '1', 0],
    [200, '2', '0', 0],
    [429, '2', '0', 1, ...over],
    [200, '3', '0', 0],
    [429, '3', '0', 59, ...over],
    [200, '4', '0', 0],
    [429, '4', '0', 24 * 60 - 61, ...over],
    [429, '4', '0', 24 * 60 - 121, ...over],
  ]);
  expect((await few.ask(notesPath, { secret: (await few.make(['notes:read'])).secret })).status).toBe(200);
});

test('4XX | 400: the wrong parameter or member, and what is expected; 404 and 405: the path and method', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const told = [];
  for (const [method, path, body] of [
    ['GET', `${notesPath}?limit=0`],
    ['GET', `${notesPath}?userId=x`],
    ['GET', `${notesPath}?createdAt.gt=soon`],
    ['GET', `${notesPath}?colectionName=orders`],
    ['GET', `${notesPath}?teamName=a&teamName=b`],
    ['GET', `${notesPath}?cursor=x`],
    ['POST', notesPath, '{'],
    ['POST', notesPath, '{}'],
    ['POST', notesPath, '{"title":"x","collectionName":"orders","recordId":1}'],
    ['POST', notesPath, '[]'],
    ['PATCH', `${notesPath}/1`, '{}'],
    ['PATCH', `${notesPath}/999`, '{"title":"x"}'],
    ['GET', `${notesPath}/x`],
    ['GET', '/v1/none'],
    ['DELETE', notesPath],
  ] as const) {
    const { secret } = await ways.make(['all']);
    const answer = await ways.ask(path, { secret, method, ...(body !== undefined && { body, headers }) });
    expect([shapeOf(answer), answer.headers.get('content-type')], path).toEqual([errorShape, 'application/json']);
    told.push([answer.status, answer.json?.code, `${answer.json?.message}`.slice(0, 44)]);
  }
  expect(told).toMatchInlineSnapshot(`
    [
      [
        400,
        "INVALID_ARGUMENT",
        "limit: expected a whole number from 1 to 100",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "userId: expected a whole number from 1 to 21",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "createdAt.gt: expected an ISO 8601 date or d",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "colectionName: unknown parameter. Near: coll",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "teamName: sent more than once.",
      ],
      [
        400,
        "INVALID_CURSOR",
        "This cursor does not belong to this query. R",
      ],
      [
        400,
        "MALFORMED_JSON",
        "The request body is not usable JSON: it does",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "title: Invalid input: expected string, recei",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "recordId: Invalid input: expected string, re",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "body: Invalid input: expected object, receiv",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "body: Send title, archived or both.",
      ],
      [
        404,
        "NOT_FOUND",
        "Not found: note 999.",
      ],
      [
        400,
        "INVALID_ARGUMENT",
        "noteId: expected a whole number.",
      ],
      [
        404,
        "NOT_FOUND",
        "Not found: /v1/none.",
      ],
      [
        405,
        "METHOD_NOT_ALLOWED",
        "DELETE is not allowed here; use GET or HEAD ",
      ],
    ]
  `);
});

test('429 | the headers are exact to the second, also between two seconds: no call before the named time succeeds', async () => {
  let now = Math.floor(Date.now() / 1000) * 1000 + 250;
  const clock = { ...systemClock, now: () => now };
  const few = await openWays({ env: { SERVICE_API_PER_MINUTE: '2' }, app: { clock } });
  onTestFinished(() => few.stop());
  const { secret } = await few.make(['notes:read']);
  const start = now;
  const seen = [];
  for (const at of [0, 10_500, 10_500, 59_700, 59_999, 60_000]) {
    now = start + at;
    const { status, headers } = await few.ask(notesPath, { secret });
    const reset = Number(headers.get('x-ratelimit-reset')) - (start - 250) / 1000;
    seen.push([status, headers.get('x-ratelimit-remaining'), reset, headers.get('retry-after')]);
  }
  expect(seen).toEqual([
    [200, '1', 61, null],
    [200, '0', 61, null],
    [429, '0', 61, '50'],
    [429, '0', 61, '1'],
    [429, '0', 62, '1'],
    [200, '1', 121, null],
  ]);
});

test('5XX | 500 names the request of the log; 503 has Retry-After and says that it can be sent again, and nothing is written', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ title: 'x', collectionName: 'orders', recordId: '1', content: 'x' });
  const tables = openDatabase({ url: ways.storage, dataDir: '/', sqlite: 'auto' });
  onTestFinished(() => tables.close());
  const { secret } = await ways.make(['all']);
  const during = async (table: string, method: 'GET' | 'POST') => {
    await tables.knex.schema.renameTable(table, `${table}_elsewhere`);
    const answer = await ways.ask(notesPath, { secret, method, ...(method === 'POST' && { body, headers }) });
    await tables.knex.schema.renameTable(`${table}_elsewhere`, table);
    return [answer.status, answer.json, answer.headers.get('retry-after'), answer.headers.get('content-type')];
  };
  const before = await tables.knex('notes').count();
  const internal = await during('notes', 'GET');
  const failure = ways.observed.findLast(({ type }) => type === 'failure') as { requestId?: string } | undefined;
  expect(internal).toEqual([
    500,
    { error: 'Failed', message: `An internal error occurred; your call is not the cause. Tell the operator: request ${failure?.requestId}.`, code: 'INTERNAL' },
    null,
    'application/json',
  ]);
  expect(await during('activity_logs', 'POST')).toEqual([
    503,
    { error: 'Unavailable', message: expect.stringMatching(/cannot be reached .* Try again shortly\. .* tell the operator/), code: 'SOURCE_UNAVAILABLE' },
    expect.stringMatching(/^\d+$/),
    'application/json',
  ]);
  expect(await tables.knex('notes').count()).toEqual(before);
}); // biome-ignore format: short
