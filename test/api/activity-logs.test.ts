// The activity log over the public API: list, filters, invalid requests and export.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actionNames, toContractName } from '../../src/api/logs/activity-actions.ts';
import { selectTools } from '../../src/mcp/tools.ts';
import { dataRoutes } from '../../src/rest/routes.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { openShop, type Shop } from '../app/shop.ts';

const FROM = Date.parse('2026-01-31T12:00:00.000Z');
const project = encodeURIComponent('My project');
const logs = `/project/${project}/environment/Production/activity-logs`;
let shop: Shop;
let secret: string;
let made = 0;

beforeAll(async () => {
  shop = await openShop({ env: { SERVICE_API_PER_MINUTE: '100000', SERVICE_API_PER_HOUR: '100000' } });
  secret = await make(['activity_logs:read']);
  const ada = (await shop.store.identity.findUserByEmail(shop.account.email))!;
  const { renderingId } = (await shop.store.permissions.caller(ada.id))!;
  const entry = (n: number, more: Partial<ActivityEntry>): ActivityEntry => ({
    ...{ userId: ada.id, renderingId, clientId: 'c', clientName: '=cmd()', action: 'list', type: 'read' },
    ...{ collection: 'orders', outcome: 'completed', startedAt: FROM + n, durationMs: 2, ...more },
  });
  for (let n = 0; n < 7; n++) shop.store.activity.record(entry(n >> 1, {}));
  shop.store.activity.record(
    entry(9, { action: 'delete', type: 'write', recordIds: ['4', '5'], outcome: 'denied', code: 'FORBIDDEN' }),
  );
  await shop.store.activity.flush();
});
afterAll(() => shop?.stop());

async function make(scopes: readonly string[], email = shop.account.email) {
  const user = (await shop.store.identity.findUserByEmail(email))!;
  return (await shop.store.tokens.create({ userId: user.id, name: `program ${++made}`, scopes })).secret;
}

async function ask(path: string, token = secret) {
  const response = await fetch(`${shop.address}/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text.split('\n')[0]!) : undefined,
  };
}

test('an entry has the documented fields; with details=true it also has the outcome of the call', async () => {
  const { status, body } = await ask(`${logs}?limit=1&action=delete`);
  const detailed = await ask(`${logs}?limit=1&action=delete&details=true`);
  const entry = {
    object: 'activityLog',
    id: expect.stringMatching(/^\d+$/),
    type: 'write',
    action: 'delete',
    recordIds: ['4', '5'],
    createdAt: '2026-01-31T12:00:00.009Z',
    user: { object: 'user', id: 1, username: 'Ada Byron', email: shop.account.email },
    environment: { object: 'environment', name: 'Production' },
    collection: { object: 'collection', name: 'orders' },
    team: { object: 'team', name: 'Operations' },
  };
  expect([status, body]).toEqual([
    200,
    {
      hasMore: false,
      parameters: { projectName: 'My project', environmentName: 'Production', limit: 1, action: 'delete' },
      data: [entry],
    },
  ]);
  const call = { outcome: 'denied', code: 'FORBIDDEN', durationMs: 2, client: { id: 'c', name: '=cmd()' } };
  expect(detailed.body.data).toEqual([{ ...entry, call }]);
});

test('pages by cursor contain every entry once, also if entries have the same time', async () => {
  const seen: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { body } = await ask(`${logs}?limit=2&collectionName=orders${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    expect(body.hasMore).toBe(body.nextCursor !== undefined);
    cursor = body.nextCursor;
  }
  expect([seen.length, new Set(seen).size]).toEqual([8, 8]);
  expect(seen).toEqual([...seen].sort((a, b) => Number(b) - Number(a)));
});

test.each([
  ['userEmail=ADA@example.com', 8],
  ['userEmail=nobody@example.com', 0],
  ['userId=1&userEmail=ada@example.com', 8],
  ['userId=2&userEmail=ada@example.com', 0],
  ['teamName=Operations', 8],
  ['teamName=operations', 0],
  ['collectionName=Orders', 0],
  ['recordId=5', 1],
  ['action=index', 7],
  ['action=dashboard', 0],
  ['type=write', 1],
  ['outcome=denied', 1],
  ['clientName=%3DCMD()', 8],
  ['createdAt.gt=2026-01-31T12:00:00.002Z', 2],
  ['createdAt.gte=2026-01-31T12:00:00.000Z&createdAt.lt=2026-01-31T12:00:00.002Z', 4],
  ['createdAt.eq=2026-01-31T12:00:00.003Z', 1],
  // Dates and times in every form of ISO 8601; UTC without an offset.
  ['createdAt.gt=2026-01-31', 8],
  ['createdAt.lt=2026-02-01', 8],
  ['createdAt.lt=2026-01-31', 0],
  ['createdAt.gt=2026-01-31T12:00:00.002', 2],
  ['createdAt.gt=2026-01-31T12:00:00,002', 2],
  ['createdAt.gt=2026-01-31T14:00:00.002%2B02:00', 2],
  ['createdAt.gt=2026-01-31T14:00:00.002%2B0200', 2],
  ['createdAt.gte=2026-01-31T12:00&createdAt.lt=20260131T120000.002Z', 4],
  ['createdAt.gte=2026-W05-6', 8],
  ['createdAt.lt=2026-031', 0],
])('the filter %s finds %i entries', async (query, count) => {
  // Excludes the entry of another client that another test creates.
  const own = query.includes('clientName') ? '' : '&clientName=%3Dcmd()';
  const { status, body } = await ask(`${logs}?limit=100&${query}${own}`);
  expect([status, body.data.length]).toEqual([200, count]);
});

test.each([
  ['limit=0', 400, 'limit'],
  ['limit=101', 400, 'limit'],
  ['limit=x', 400, 'limit'],
  ['limit=1&limit=2', 400, 'limit'],
  ['limit=01', 400, 'limit'],
  ['toString=1', 400, 'toString'],
  ['colectionName=orders', 400, 'collectionName'],
  ['action=list', 400, 'action'],
  ['type=both', 400, 'type'],
  ['createdAt.gt=yesterday', 400, 'createdAt.gt'],
  ['createdAt.gt=2026-02-30', 400, 'such as 2026-01-31 or 2026-01-31T12:00:00Z'],
  ['createdAt.gt=12:00', 400, 'createdAt.gt'],
  ['createdAt.gt=2026-01-31T', 400, 'createdAt.gt'],
  ['createdAt.gt=2026-01-31T25:00:00Z', 400, 'createdAt.gt'],
  ['cursor=abc', 400, 'cursor'],
  ['recordId=%00', 400, 'recordId'],
  ['recordId=1%00', 400, 'recordId'],
])('%s is refused, and the message names the parameter', async (query, status, named) => {
  const answer = await ask(`${logs}?${query}`);
  expect([answer.status, Object.keys(answer.body).sort()]).toEqual([status, ['code', 'error', 'message']]);
  expect(answer.body.message).toContain(named);
});

test('a cursor of another query, a token without the scope, a non-administrator and an unknown name are refused', async () => {
  const { body } = await ask(`${logs}?limit=1`);
  const of = await ask(`${logs}?limit=5&cursor=${body.nextCursor}`);
  const other = await ask(`${logs}?limit=1&type=read&cursor=${body.nextCursor}`);
  const scope = await ask(logs, await make(['admin_logs:read', 'notes:read']));
  await shop.addUser({ email: 'eve@example.com', level: 'developer' });
  const member = await ask(logs, await make(['all'], 'eve@example.com'));
  const wrongCase = await ask(logs.replace('Production', 'production'));
  expect([of, other, scope, member, wrongCase].map(({ status, body }) => [status, body.code])).toEqual([
    [200, undefined],
    [400, 'INVALID_CURSOR'],
    [403, 'DENIED'],
    [403, 'DENIED'],
    [404, 'NOT_FOUND'],
  ]);
});

test('an export continues after a given entry, and CSV cells are never formulas', async () => {
  const all = await ask(`${logs}/export?collectionName=orders`);
  const lines = all.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; call: object });
  const rest = await ask(`${logs}/export?format=ndjson&collectionName=orders&since=${lines[4]!.id}`);
  const csv = await ask(`${logs}/export?format=csv&type=write`);
  expect([all.status, all.headers.get('content-type'), lines.length, lines[0]!.call !== undefined]).toEqual([
    200,
    'application/x-ndjson',
    8,
    true,
  ]);
  expect(rest.text).toBe(all.text.split('\n').slice(5).join('\n'));
  expect(csv.headers.get('content-disposition')).toContain('activity-logs.csv');
  expect(csv.text.split('\r\n')[1]).toContain(`"[""4"",""5""]",denied,FORBIDDEN,2,c,'=cmd()`);
  expect((await ask(`${logs}/export?recordId=nothing`)).text).toBe('');
  expect((await ask(`${logs}/export?limit=5`)).status).toBe(400);
});

test('the document contains an action name for every tool and every route of the agent', () => {
  const names = selectTools(null, () => {}).map(({ name }) => name);
  const own = [...names, ...dataRoutes.flatMap((route) => ('action' in route ? [route.action] : []))];
  expect(own.length).toBeGreaterThan(20);
  expect(own.map(toContractName).filter((name) => !actionNames.includes(name))).toEqual([]);
});

test('an entry of a workflow step names the workflow, the run and the step', async () => {
  const { renderingId, id } = (await shop.store.permissions.caller(1))!;
  const workflow = { name: 'Refund', runId: '0b4f6c1e-8a55-4a53-9d0c-2f7f6f1f7a10', stepName: 'Look' };
  shop.store.activity.record({
    ...{ userId: id, renderingId, clientId: 'c', clientName: 'token ci', action: 'completeWorkflowStep' },
    ...{ type: 'write', outcome: 'completed', startedAt: FROM - 1000, durationMs: 1, workflow },
  });
  await shop.store.activity.flush();
  const { body } = await ask(`${logs}?limit=1&action=completeWorkflowStep`);
  expect(body.data[0].workflow).toEqual({ object: 'workflow', ...workflow });
  const { text } = await ask(`${logs}/export?format=csv&action=completeWorkflowStep`);
  expect(text).toContain('Refund,0b4f6c1e-8a55-4a53-9d0c-2f7f6f1f7a10,Look');
});
