// The statuses and headers of every path of the public API that the specification names, for every method.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWays, type Ways } from '../api/ways.ts';

let ways: Ways;
let secret = '';
beforeAll(async () => {
  ways = await openWays();
  secret = (await ways.make(['all'])).secret;
  const body = JSON.stringify({ title: 'T', collectionName: 'orders', recordId: '1', content: 'x' });
  await ways.ask(`${place}/notes`, { secret, method: 'POST', body, headers: { 'content-type': 'application/json' } });
});
afterAll(() => ways?.stop());

const project = '/v1/project/My%20project';
const place = `${project}/environment/Production`;
const json = 'application/json';
const paths: readonly (readonly [row: string, path: string, allow: string, type: string])[] = [
  ['notes', `${place}/notes`, 'GET, HEAD, POST', json],
  ['notes', `${place}/notes/1`, 'GET, HEAD, PATCH', json],
  ['notes', `${place}/notes/1/messages`, 'POST', json],
  ['notes', `${place}/notes/1/messages/1`, 'PATCH', json],
  ['activity-logs', `${place}/activity-logs`, 'GET, HEAD', json],
  ['activity-logs', `${place}/activity-logs/export`, 'GET, HEAD', 'application/x-ndjson'],
  ['activity-logs', `${place}/activity-logs/export?format=csv`, 'GET, HEAD', 'text/csv; charset=utf-8'],
  ['admin-logs', `${project}/admin-logs`, 'GET, HEAD', json],
  ['admin-logs', `${project}/admin-logs/export`, 'GET, HEAD', 'application/x-ndjson'],
  ['admin-logs', `${project}/admin-logs/export?format=csv`, 'GET, HEAD', 'text/csv; charset=utf-8'],
];

test.each(paths)('%s: %s: the allowed methods are %s; every answer has its headers', async (_, path, allow, type) => {
  const seen: Record<string, { status: number; headers: Headers; text: string }> = {};
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await ways.ask(path, { secret, method, headers: { origin: 'https://x.example' }, ...(['POST', 'PATCH'].includes(method) && { body: '[]' }) }); // biome-ignore format: short
    seen[method] = answer;
    const isAllowed = allow.split(', ').includes(method);
    const isRead = method === 'GET' || method === 'HEAD';
    expect([method, answer.status]).toEqual([method, isAllowed ? (isRead ? 200 : 400) : 405]);
    expect([method, answer.headers.get('allow')]).toEqual([method, isAllowed ? null : allow]);
    expect([method, answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual([method, 'no-store', 'nosniff']); // biome-ignore format: short
    // No script of another site may read it.
    expect([method, answer.headers.get('access-control-allow-origin')]).toEqual([method, null]);
    expect([method, answer.headers.get('content-type')]).toEqual([method, isAllowed && isRead ? type : json]);
    expect([method, Number(answer.headers.get('x-ratelimit-remaining')) > 0]).toEqual([method, true]);
  }
  if (!allow.startsWith('GET')) return;
  expect([seen.HEAD!.text, seen.HEAD!.headers.get('content-disposition')]).toEqual(['', seen.GET!.headers.get('content-disposition')]); // biome-ignore format: short
  const name = `${path.includes('admin') ? 'admin-logs' : 'activity-logs'}.${path.includes('csv') ? 'csv' : 'ndjson'}`;
  expect(seen.GET!.headers.get('content-disposition')).toBe(type === json ? null : `attachment; filename="${name}"; filename*=UTF-8''${name}`); // biome-ignore format: short
});

test.each(paths)(
  '%s: %s: its path is exact, and needs a token, its scope and the Admin role',
  async (_, path, allow) => {
    const method = allow.startsWith('GET') ? 'GET' : allow.split(', ')[0]!;
    const status = async (changed: string, more: object = {}) => (await ways.ask(changed, { secret, method, ...(method !== 'GET' && { body: '[]' }), ...more })).status; // biome-ignore format: short
    const [whole, query = ''] = path.split('?');
    const wrong = [`${whole}/?${query}`, ...(/\d$/.test(whole!) ? [] : [`${whole}x?${query}`]), `/${path}`, path.replace('/v1/', '/V1/'), path.replace('/v1/', '/v2/'), path.replace('/v1/', '/'), path.replace('/project/', '/projects/'), path.replace('My%20project', 'my%20project'), path.replace('My%20project', 'My+project'), path.replace(/(notes|activity-logs|admin-logs)/, (name) => name.toUpperCase())]; // biome-ignore format: short
    for (const changed of wrong) expect([changed, await status(changed)]).toEqual([changed, 404]); // biome-ignore format: short
    expect(await status(path, { secret: undefined })).toBe(401);
    const { secret: other } = await ways.make(['workflows:trigger']);
    expect(await status(path, { secret: other })).toBe(403);
  },
);

test.each(['', '?format=ndjson', '?format=csv', '?since=0', '?since=9999999999'])('activity-logs, admin-logs: the export %s', async (query) => {
  for (const path of [`${place}/activity-logs/export`, `${project}/admin-logs/export`]) {
    const { status, text } = await ways.ask(path + query, { secret });
    const lines = text.split(query.includes('csv') ? '\r\n' : '\n');
    expect([status, lines.at(-1)]).toEqual([200, '']);
    if (query.includes('csv')) expect(text.startsWith('\uFEFF')).toBe(true);
    else for (const line of lines.slice(0, -1)) expect(JSON.parse(line)).toMatchObject({ id: expect.stringMatching(/^\d+$/) });
    expect(lines.length > 1).toBe(!query.includes('9999999999'));
  }
  for (const wrong of ['format=CSV', 'format=json', 'format=', 'since=-1', 'since=x', 'since=1.5', 'since=10000000000', 'limit=5', 'cursor=x', 'format=csv&format=csv'])
    for (const path of [`${place}/activity-logs/export`, `${project}/admin-logs/export`])
      expect((await ways.ask(`${path}?${wrong}`, { secret })).status, `${path} ${wrong}`).toBe(400);
}); // biome-ignore format: short
