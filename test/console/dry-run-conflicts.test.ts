// The inbox runs the dry runs of approvals at the same time, so they can lock each other out, or meet a database that
// refuses one of them for good. The page shows all others.
import { expect, onTestFinished, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { createBrowser } from '../oauth/flow.ts';
import { startServer, type TestServer } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { read } from './console-server.ts';

const tables = [
  'create table orders (id int not null primary key, note varchar(20))',
  "insert into orders values (1, 'one'), (2, 'two'), (3, 'three')",
];

/**
 * Each change of an order locks its own place, then that of the other order: two at the same time are a deadlock. The
 * sequence counts the changes, and keeps its count after a rollback.
 */
const crossing: Readonly<Record<string, readonly string[]>> = {
  mariadb: [
    'create table places (id int not null primary key, n int)',
    'insert into places values (1, 0), (2, 0)',
    'create sequence changes nocache',
    `create trigger crossing before update on orders for each row begin
      do nextval(changes);
      update places set n = n + 1 where id = new.id;
      do sleep(0.3);
      update places set n = n + 1 where id = 3 - new.id;
    end`,
  ],
  postgres: [
    'create table places (id int not null primary key, n int)',
    'insert into places values (1, 0), (2, 0)',
    'create sequence changes',
    `create function crossing() returns trigger language plpgsql as $$ begin
      perform nextval('changes');
      update places set n = n + 1 where id = new.id;
      perform pg_sleep(0.3);
      update places set n = n + 1 where id = 3 - new.id;
      return new;
    end $$`,
    'create trigger crossing before update on orders for each row execute function crossing()',
  ],
};

const keeping: Readonly<Record<string, readonly string[]>> = {
  sqlite: ['create trigger keeping before delete on orders when old.id = 3 begin select raise(ignore); end'],
  postgres: [
    `create function keeping() returns trigger language plpgsql as $$ begin return case old.id when 3 then null else old end; end $$`,
    'create trigger keeping before delete on orders for each row execute function keeping()',
  ],
};

async function open(database: TestDatabase, statements: readonly string[]): Promise<TestServer> {
  onTestFinished(() => database.drop());
  await runSql(database, [...tables, ...statements]);
  const server = await startServer({ database: database.url });
  onTestFinished(() => server.stop());
  return server;
}

async function file({ store, account }: TestServer, tool: string, given: Readonly<Record<string, unknown>>) {
  const { id: userId } = (await store.identity.findUserByEmail(account.email))!;
  const { caller } = (await store.permissions.accessOf(userId))!;
  const recordIds = (given.recordIds as string[] | undefined) ?? [given.recordId as string];
  await store.approvals.ask({
    ...{ userId, renderingId: caller.renderingId, clientId: 'notebook', clientName: 'Notebook' },
    ...{ tool, collection: 'orders', recordIds, args: JSON.stringify(given), found: '' },
    policy: { policy: 'ask-person', secondPerson: false },
    content: { arguments: { collectionName: 'orders', ...given }, preview: { count: 1, changes: [] } },
  });
}

async function showInbox({ consoleUrl, account }: TestServer): Promise<string> {
  const browser = createBrowser();
  const page = await browser.press(await browser.open(`${consoleUrl}/inbox`), 'sign-in', { ...account });
  expect(page.status).toBe(200);
  return read(page);
}

test.each(servers.filter(({ dialect }) => dialect in crossing))(
  '$dialect: dry runs that lock each other out are repeated, and the inbox shows both',
  async ({ dialect, create }) => {
    const database = await create();
    const server = await open(database, crossing[dialect]!);
    for (const recordId of ['1', '2'])
      await file(server, 'update', { recordId, attributes: { note: `new ${recordId}` } });
    const text = await showInbox(server);
    expect(text).toContain('one new 1');
    expect(text).toContain('two new 2');
    const [row] = await askSql(database, `select nextval(${dialect === 'postgres' ? "'changes'" : 'changes'}) as n`);
    // Two for the number in the navigation and two for the page, without any repeat.
    expect(Number(row!.n) - 1).toBeGreaterThan(4);
  },
  30_000,
);

test.each(servers.filter(({ dialect }) => dialect in keeping))(
  '$dialect: an approval that the database always refuses does not keep the others from the inbox',
  async ({ dialect, create }) => {
    const server = await open(await create(), keeping[dialect]!);
    await file(server, 'update', { recordId: '1', attributes: { note: 'new 1' } });
    await file(server, 'delete', { recordIds: ['3'] });
    await file(server, 'delete', { recordIds: ['2'] });
    const text = await showInbox(server);
    expect(text).toContain('one new 1');
    expect(text).toContain('Delete record 2');
    expect(text).not.toContain('Delete record 3');
  },
  30_000,
);
