// The public API and the forms of the console: every route is called with every kind of token and user without access.
// No call may change the storage, which is read directly.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { routes as apiRoutes } from '../../src/api/routes.ts';
import { routes as consoleRoutes } from '../../src/console/routes.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { createBrowser } from '../oauth/flow.ts';
import { askSql } from '../sql/schemas.ts';
import { type Person, signIn } from './entries/playground.ts';
import { disabled, everything } from './oracle.ts';
import { apiRights, consoleForms } from './surfaces.ts';
import { openWorld, type World } from './world.ts';

const ends: (() => Promise<void>)[] = [];
let world: World;
let storage: TestDatabase;
beforeAll(async () => {
  storage = await servers[0]!.create();
  ends.unshift(() => storage.drop());
  const plenty = { SERVICE_API_PER_MINUTE: '100000', SERVICE_API_PER_HOUR: '100000', SERVICE_API_PER_DAY: '100000' };
  world = await openWorld(servers[0]!, (end) => ends.unshift(end), { SERVICE_STORAGE_URL: storage.url, ...plenty });
  await world.apply(everything);
});
afterAll(async () => {
  for (const end of ends) await end();
});

/** The rows that an administrator could change, read from the storage. */
async function kept(): Promise<unknown> {
  const tables = [
    'users',
    'roles',
    'teams',
    'role_permissions',
    'row_scopes',
    'notes',
    'note_messages',
    'workflows',
    'workflow_runs',
  ];
  const ids = await Promise.all(tables.map((table) => askSql(storage, `SELECT * FROM ${table}`)));
  return [ids, (await world.store.tokens.list()).map(({ id }) => id)];
}

const namesIn: Readonly<Record<string, string>> = { projectName: 'My%20project', environmentName: 'Production' };
const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => namesIn[name] ?? '1');
const everyScope = [...new Set(Object.values(apiRights).flatMap(({ scope }) => scope ?? []))];

describe('the public API', () => {
  test('every route is listed', () => {
    expect(apiRoutes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(apiRights).sort());
  });

  test.each(Object.entries(apiRights))('%s', async (route, { scope, admin }) => {
    const [method, path] = route.split(' ') as [string, string];
    const ask = async (secret?: string) => {
      const headers = { ...(secret && { authorization: `Bearer ${secret}` }), 'content-type': 'application/json' };
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
      return (await fetch(world.address + fill(path), { method, headers, ...body })).status;
    };
    const others = everyScope.filter((one) => one !== scope && one !== 'all');
    const [right, wrong, assistant, program, brief, revoked] = await Promise.all([
      world.tokenOf(scope ? [scope] : others),
      world.tokenOf(others),
      world.tokenOf(['mcp:read', 'mcp:write', 'mcp:action']),
      world.tokenOf(['records:read', 'records:write', 'records:action']),
      world.expiredTokenOf(['all']),
      world.tokenOf(['all']),
    ]);
    await world.revoke(revoked);
    const before = await kept();
    expect(await Promise.all([undefined, brief, revoked].map(ask)), 'none, expired, revoked').toEqual([401, 401, 401]);
    expect([await ask(assistant), await ask(program)], 'tokens of the other APIs').toEqual([401, 401]);
    if (scope) expect(await ask(wrong), 'other scopes').toBe(403);
    if (admin) expect(await ask(right), 'no administrator').toBe(403);
    expect(await kept()).toEqual(before);
    await world.apply(disabled);
    expect(await ask(right), 'a disabled user').toBe(401);
    await world.apply(everything);
    if (!admin) expect([401, 403]).not.toContain(await ask(right));
  });
});

// Each entry point has its own limit; tools and the webhook are in groups.ts.
test('the public API, with a token over its rate limit', async () => {
  const own: (() => Promise<void>)[] = [];
  const limited = await openWorld(servers[0]!, (end) => own.unshift(end), { SERVICE_API_PER_MINUTE: '1' });
  onTestFinished(async () => {
    for (const end of own) await end();
  });
  await limited.apply(everything);
  const headers = { authorization: `Bearer ${await limited.tokenOf(['all'])}`, 'content-type': 'application/json' };
  const ask = async (route: string) => {
    const [method, path] = route.split(' ') as [string, string];
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
    return (await fetch(limited.address + fill(path), { method, headers, ...body })).status;
  };
  expect(await ask('GET /v1/token')).toBe(200);
  const routes = Object.keys(apiRights);
  expect(await Promise.all(routes.map(ask))).toEqual(routes.map(() => 429));
});

describe('forms of the console', () => {
  let [clerk, admin]: Person[] = [];
  beforeAll(async () => {
    [clerk, admin] = [await signIn(world, world.clerk), await signIn(world, world.account)];
  });
  const posts = consoleRoutes.filter(({ post }) => post);

  test('every form is listed', () => {
    const of = (which: (route: (typeof posts)[number]) => boolean) =>
      posts
        .filter(which)
        .map(({ page }) => page)
        .sort();
    expect(of((route) => route.open)).toEqual([...consoleForms.open].sort());
    expect(of((route) => !route.open && route.admin === true)).toEqual([...consoleForms.admin].sort());
    expect(of((route) => !route.open && !route.admin)).toEqual([...consoleForms.member].sort());
  });

  const pageOf = (page: string) => page.replace(/:\w+/g, '1');
  const form = { action: 'save', name: 'Mallory', level: 'admin', role: 'Administrator', email: 'kim@example.test' };

  test.each([...consoleForms.admin, ...consoleForms.member])('%s: not without a session', async (page) => {
    const before = await kept();
    const sent = { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' } as const;
    const answer = await fetch(world.consoleUrl + pageOf(page), {
      ...sent,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect([303, 403], String(answer.status)).toContain(answer.status);
    if (answer.status === 303) expect(answer.headers.get('location')).toContain('/sign-in');
    expect(await kept()).toEqual(before);
  });

  // CWE-352: a form token belongs to the session that the form was rendered for.
  test.each([...consoleForms.admin, ...consoleForms.member])(
    '%s: not with the CSRF token of another session',
    async (page) => {
      const before = await kept();
      const csrf = /name="csrf" value="([^"]+)"/.exec((await admin!.at('/account')).html)?.[1] ?? '';
      const answer = await clerk!.send(pageOf(page), { ...form, csrf });
      expect([403, 404]).toContain(answer.status);
      expect(await kept()).toEqual(before);
    },
  );

  test.each(consoleForms.admin)('%s: only administrators', async (page) => {
    const before = await kept();
    expect((await clerk!.send(pageOf(page), form)).status).toBe(404);
    expect(await kept()).toEqual(before);
  });

  test('not with a disabled account', async () => {
    await world.apply(disabled);
    const before = await kept();
    for (const page of [...consoleForms.admin, ...consoleForms.member])
      expect((await clerk!.send(pageOf(page), form)).url, page).toMatch(/\/sign-in/);
    expect(await kept()).toEqual(before);
    await world.apply(everything);
  });
});

test('a browser without a session is redirected to the sign-in page', async () => {
  expect((await createBrowser().open(`${world.consoleUrl}/playground`)).url).toMatch(/\/sign-in/);
});
