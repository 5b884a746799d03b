import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/api/openapi.ts';
import { notesPath, openWays, type Ways } from '../api/ways.ts';

let ways: Ways;
beforeAll(async () => {
  ways = await openWays();
});
afterAll(() => ways?.stop());

test('Public API paths carry the version prefix `/v1`.', async () => {
  const { secret } = await ways.make(['all']);
  const paths = Object.keys(((await ways.ask('/v1/openapi.json')).json as unknown as ApiDocument).paths);
  expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual([]);
  const here = await ways.ask(notesPath, { secret });
  const elsewhere = [];
  for (const prefix of ['', '/v2', '/V1', '/v1/v1'])
    elsewhere.push((await ways.ask(notesPath.replace('/v1', prefix), { secret })).status);
  expect([here.status, elsewhere]).toEqual([200, [404, 404, 404, 404]]);
});
