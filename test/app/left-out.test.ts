// What Portico leaves out on purpose (docs/README: limits) is refused where somebody would look for it, and is not half there.
import { expect, onTestFinished, test } from 'vitest';
import { createSqlDataSource } from '../../src/index.ts';
import { servers } from '../databases.ts';
import { startServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { messageOf } from './agent.ts';

test('SSH tunnels: a connection takes no option for one, and no address of one', async () => {
  const of = (options: object) => messageOf(async () => createSqlDataSource(options as never));
  const address = { dialect: 'postgres', host: 'db.internal', database: 'shop', username: 'u', password: 'p' };
  expect(await of({ ...address, ssh: { host: 'gate', username: 'ada' } })).toMatch("has no option 'ssh'");
  expect(await of({ ...address, proxySocks: { host: 'gate', port: 1080 } })).toMatch("has no option 'proxySocks'");
  expect(await of({ uri: 'postgres+ssh://u:p@gate/db.internal/shop' })).toMatch('address is malformed');
});

test('SCIM, SAML, passkeys, CSV import: no path answers, and no page offers one', async () => {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(database, ['CREATE TABLE orders (id INTEGER PRIMARY KEY)']);
  const server = await startServer({ database: database.url });
  onTestFinished(() => server.stop());
  const paths = [
    '/scim/v2/Users',
    '/scim/v2/ServiceProviderConfig',
    '/saml/metadata',
    '/saml/acs',
    '/.well-known/webauthn',
    '/console/data/orders/import',
    '/service/orders/import',
  ];
  const statuses = await Promise.all(
    paths.flatMap((path) =>
      ['GET', 'POST'].map(async (method) => {
        const { status } = await fetch(new URL(path, server.address), { method, redirect: 'manual' });
        // A page may ask to sign in first, and a path may have another method. None may take a body.
        return method === 'POST' ? status >= 400 : status !== 200;
      }),
    ),
  );
  expect(statuses).toEqual(paths.flatMap(() => [true, true]));
  const page = await (await fetch(new URL('/console', server.address))).text();
  expect(page).toContain('password');
  expect(page).not.toMatch(/passkey|webauthn|navigator\.credentials|saml/i);
});
