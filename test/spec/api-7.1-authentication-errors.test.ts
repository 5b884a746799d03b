import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { errorShape, notesPath, openWays, shapeOf, type Ways } from '../api/ways.ts';

let late = 0;
let ways: Ways;
beforeAll(async () => {
  ways = await openWays({ app: { clock: { ...systemClock, now: () => Date.now() + late } } });
  await ways.addUser({ email: 'edda@example.com', level: 'editor' });
});
afterAll(() => ways?.stop());

test('401 | missing, invalid or expired token | { error: <text>, message: <text> }', async () => {
  const { secret: expired } = await ways.make(['all'], { expiresAt: Date.now() + 30_000 });
  const before = await ways.ask(notesPath, { secret: expired });
  const { secret } = await ways.make(['all']);
  const schemes = [];
  for (const authorization of [
    `Token ${secret}`,
    `Basic ${btoa(`${secret}:`)}`,
    secret,
    `Bearer ${secret} x`,
    `bearer ${secret}`,
  ])
    schemes.push((await ways.ask(notesPath, { headers: { authorization } })).status);
  expect(schemes).toEqual([401, 401, 401, 401, 200]);
  late = 31_000;
  const answers = [
    await ways.ask(notesPath),
    await ways.ask(notesPath, { secret: `svc_${'x'.repeat(43)}` }),
    await ways.ask(notesPath, { secret: expired }),
  ];
  late = 0;
  expect([before.status, ...answers.map(({ status }) => status)]).toEqual([200, 401, 401, 401]);
  expect(answers.map(({ json }) => json?.error)).toEqual(Array(3).fill('Unauthorized'));
  expect(new Set(answers.map(({ json }) => json?.message)).size).toBe(3);
  expect(answers.map(shapeOf)).toEqual([errorShape, errorShape, errorShape]);
});

test('403 | token lacks the required scope or permission | { error: <text>, message: <text> }', async () => {
  const { secret: scope } = await ways.make(['activity_logs:read']);
  const { secret: level } = await ways.make(['notes:read']);
  const { secret: role } = await ways.make(['all'], { email: 'edda@example.com' });
  const body = JSON.stringify({ title: 'T', collectionName: 'orders', recordId: '1' });
  const headers = { 'Content-Type': 'application/json' };
  const answers = [
    await ways.ask(notesPath, { secret: scope }),
    await ways.ask(notesPath, { secret: level, method: 'POST', body, headers }),
    await ways.ask(notesPath, { secret: role }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(answers.map(({ json }) => json?.error)).toEqual(Array(3).fill('Forbidden'));
  expect(answers.map(shapeOf)).toEqual([errorShape, errorShape, errorShape]);
  expect(answers.map(({ json }) => json?.message)).toEqual([
    expect.stringContaining('notes:read'),
    expect.stringContaining('notes:write'),
    expect.stringContaining('Admin role'),
  ]);
});

test('An expired token gives 401 with a message saying it has expired.', async () => {
  const { secret } = await ways.make(['all'], { expiresAt: Date.now() + 30_000 });
  late = 30_000;
  const { status, json } = await ways.ask(notesPath, { secret });
  late = 0;
  expect([status, json?.message]).toEqual([401, expect.stringContaining('has expired')]);
});

test('401, 403 | at every endpoint, with WWW-Authenticate; a revoked token and one of a disabled user are invalid', async () => {
  await ways.addUser({ email: 'gone@example.com', level: 'admin' });
  const { secret, token } = await ways.make(['all']);
  const { secret: theirs } = await ways.make(['all'], { email: 'gone@example.com' });
  const { id } = (await ways.store.identity.findUserByEmail('gone@example.com'))!;
  await ways.store.tokens.revoke(token.id);
  await ways.store.identity.setDisabled(id, true);
  const paths = [
    notesPath,
    notesPath.replace('notes', 'activity-logs'),
    '/v1/project/My%20project/admin-logs',
    '/v1/token',
  ];
  const answers = [];
  for (const path of paths)
    for (const options of [{}, { secret }, { secret: theirs }]) answers.push(await ways.ask(path, options));
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(401));
  expect(answers.map(shapeOf)).toEqual(Array(12).fill(errorShape));
  expect(answers.map(({ headers }) => headers.get('www-authenticate')?.includes('invalid_token'))).toEqual(
    Array(4).fill([false, true, true]).flat(),
  );
  const { secret: narrow } = await ways.make(['notes:write']);
  const refused = [];
  for (const path of paths.slice(0, 3)) refused.push(await ways.ask(path, { secret: narrow }));
  expect(
    refused.map(({ status, headers }) => [status, headers.get('www-authenticate')?.includes('insufficient_scope')]),
  ).toEqual(Array(3).fill([403, true]));
});

test('401, 403 | { error: <text>, message: <text> } at each method and path; the token is checked before the path, rights before the body', async () => {
  const { secret } = await ways.make(['notes:read']);
  const { secret: expired } = await ways.make(['all'], { expiresAt: Date.now() + 30_000 });
  const { secret: mcp } = await ways.make(['mcp:read']);
  late = 31_000;
  for (const path of [notesPath, `${notesPath}/1`, '/v1/token', '/v1/project/My%20project/tokens', '/v1/nothing', notesPath.replace('Production', 'none')])
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE'])
      for (const sent of [undefined, expired, mcp, 'x']) {
        const answer = await ways.ask(path, { method, ...(sent !== undefined && { secret: sent }), body: method === 'GET' ? undefined : '{' } as never);
        const about = `${method} ${path} ${sent}`;
        expect([answer.status, answer.json?.error, answer.json?.code], about).toEqual([401, 'Unauthorized', 'UNAUTHENTICATED']);
        expect(`${answer.json?.message}`.includes('expired'), about).toBe(sent === expired);
        expect(answer.headers.get('www-authenticate'), about).toBe(`Bearer realm="public api"${sent === undefined ? '' : ', error="invalid_token"'}`);
      }
  late = 0;
  const headers = { 'Content-Type': 'application/json' };
  for (const [method, path] of [['POST', notesPath], ['PATCH', `${notesPath}/1`], ['POST', `${notesPath}/1/messages`], ['PATCH', `${notesPath}/1/messages/1`], ['DELETE', '/v1/project/My%20project/tokens/1'], ['GET', '/v1/project/My%20project/tokens']] as const) {
    const refused = await ways.ask(path, { secret, method, headers, ...(method !== 'GET' && { body: '{' }) });
    const { status, json } = refused;
    expect([status, json?.error, json?.code, shapeOf(refused)], `${method} ${path}`).toEqual([403, 'Forbidden', 'DENIED', errorShape]);
    expect(json?.message).toContain(path.includes('tokens') ? 'scope all' : 'notes:write');
  }
}); // biome-ignore format: short
