// The admin log over the public API: who changed what, with old and new values in the shapes of the contract.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop, type Shop } from '../app/shop.ts';

const logs = `/project/${encodeURIComponent('My project')}/admin-logs`;
let shop: Shop;
let secret: string;
let eve: number;

beforeAll(async () => {
  shop = await openShop({ env: { SERVICE_API_PER_MINUTE: '100000', SERVICE_API_PER_HOUR: '100000' } });
  const ada = (await shop.store.identity.findUserByEmail(shop.account.email))!;
  await shop.addUser({ email: 'eve@example.com', firstName: 'Eve' });
  eve = (await shop.store.identity.findUserByEmail('eve@example.com'))!.id;
  await shop.store.members.change(eve, { level: 'editor', tags: { region: 'north' } }, ada.id);
  const rights = await shop.store.rights.read();
  await shop.store.rights.apply(rights, [...rights, { kind: 'team', path: ['South'], value: 'South' }]);
  const token = await shop.store.tokens.create({ userId: ada.id, name: 'SIEM', scopes: ['admin_logs:read'] });
  secret = token.secret;
});
afterAll(() => shop?.stop());

async function ask(path: string) {
  const response = await fetch(`${shop.address}/v1${path}`, { headers: { authorization: `Bearer ${secret}` } });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text.split('\n')[0]!) : undefined };
}

test('an entry about a member shows the author of the change and the full old and new values', async () => {
  const { body } = await ask(`${logs}?resource=user-project&type=update`);
  const was = {
    user: { object: 'user', id: eve, username: 'Eve', email: 'eve@example.com' },
    permissionLevel: 'user',
    tags: [],
    role: { object: 'role', name: 'Member' },
    teams: [{ object: 'team', name: 'Operations' }],
  };
  expect(body).toEqual({
    hasMore: false,
    parameters: { projectName: 'My project', limit: 10, resource: 'user-project', type: 'update' },
    data: [
      {
        object: 'adminLog',
        id: expect.stringMatching(/^\d+$/),
        type: 'update',
        resource: 'user-project',
        initiator: 'administrator',
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        user: { object: 'user', id: 1, username: 'Ada Byron', email: shop.account.email },
        previousValue: was,
        newValue: { ...was, permissionLevel: 'editor', tags: [{ key: 'region', value: 'north' }] },
      },
    ],
  });
});

test.each([
  ['resource=team&type=add', [{ name: 'South' }]],
  ['resource=environment&type=initial', [{ name: 'Production', codeCustomizationVersion: 0 }]],
  ['resource=role&initiator=serviceAdmin', [{ name: 'Member' }, { name: 'Administrator' }]],
  ['resource=token', [{ name: 'ada@example.com: SIEM', details: { scopes: ['admin_logs:read'], expiresAt: null } }]],
  ['userEmail=nobody@example.com', []],
  ['initiator=identityProvider', []],
  ['createdAt.lt=2020-01-01T00:00:00Z', []],
])('the filter %s finds the matching changes', async (query, values) => {
  const { status, body } = await ask(`${logs}?${query}`);
  expect([status, body.data.map(({ newValue }: { newValue: unknown }) => newValue)]).toEqual([200, values]);
});

test.each(['limit=0', 'limit=101', 'type=change', 'resource=User', 'initiator=me', 'action=x', 'type=add&type=add'])(
  '%s returns 400',
  async (query) => {
    const { status, body } = await ask(`${logs}?${query}`);
    expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT']);
  },
);

test('pages by cursor and the export contain every entry once, in opposite orders', async () => {
  const seen: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { body } = await ask(`${logs}?limit=3${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  const { text } = await ask(`${logs}/export?format=ndjson`);
  const exported = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id as string);
  expect(seen.length).toBeGreaterThan(6);
  expect([...exported].sort()).toEqual([...seen].sort());
  expect(exported).toEqual([...exported].sort((a, b) => Number(a) - Number(b)));
  expect((await ask(`${logs}/export?since=${exported.at(-1)}`)).text).toBe('');
});
