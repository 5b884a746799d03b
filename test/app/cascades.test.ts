// Rows that the database itself deletes and changes are in the dry run, on the approval page, in the answer and in the
// log. They need the rights of their collections. Each test reads the database itself.
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { refusalOf } from '../agent/attempt.ts';
import { accessOf } from '../agent/shop.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { all, type Music, openTables, wordsOf } from './music.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40))',
  `CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, customer_id INTEGER,
    FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE CASCADE ON UPDATE CASCADE)`,
  `CREATE TABLE items (order_id INTEGER NOT NULL, line INTEGER NOT NULL, article VARCHAR(20), PRIMARY KEY (order_id, line),
    FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE)`,
  `CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY, order_id INTEGER, line INTEGER,
    FOREIGN KEY (order_id, line) REFERENCES items (order_id, line) ON DELETE SET NULL ON UPDATE CASCADE)`,
  `CREATE TABLE staff (id INTEGER NOT NULL PRIMARY KEY, boss INTEGER,
    FOREIGN KEY (boss) REFERENCES staff (id) ON DELETE CASCADE)`,
  `CREATE TABLE visits (customer_id INTEGER, day INTEGER,
    FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE CASCADE)`,
  "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy')",
  'INSERT INTO orders VALUES (10, 1), (11, 1), (20, 2)',
  "INSERT INTO items VALUES (10, 1, 'pen'), (10, 2, 'ink'), (11, 1, 'pad'), (20, 1, 'pen')",
  'INSERT INTO notes VALUES (1, 10, 1), (2, 10, 1), (3, 20, 1), (4, 10, NULL)',
  'INSERT INTO visits VALUES (1, 1), (1, 1), (1, 2), (2, 1)',
  'INSERT INTO staff VALUES (1, NULL), (2, 1), (3, 2), (4, 4), (5, 3)',
];

const cascade = { cause: 'cascade' } as const;
const deleted = (collection: string, ...ids: string[]) => ({
  ...{ collection, change: 'deleted', ...cascade, count: ids.length },
  changes: ids.map((id) => expect.objectContaining({ id })),
});

async function snapshot(music: Music): Promise<Record<string, unknown[]>> {
  const names = ['customers', 'orders', 'items', 'notes', 'visits', 'staff'];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await music.rows(name)] as const)));
}

describe.each(servers)('$dialect', (maker) => {
  const drop = { collectionName: 'customers', recordIds: ['1'] };
  const gone = [
    deleted('orders', '10', '11'),
    deleted('items', '10|1', '10|2', '11|1'),
    {
      ...{ collection: 'notes', change: 'updated', ...cascade, count: 2 },
      changes: ['1', '2'].map((id) => ({
        id,
        fields: { order_id: { before: 10, after: null }, line: { before: 1, after: null } },
      })),
    },
    { collection: 'visits', change: 'deleted', ...cascade, count: 3 },
  ];
  const sorted = (answer: unknown) =>
    (answer as { alsoWritten?: { collection: string }[] }).alsoWritten?.sort((a, b) =>
      a.collection < b.collection ? -1 : 1,
    );
  const wanted = [...gone].sort((a, b) => (a.collection < b.collection ? -1 : 1));

  test('a delete reports cascaded changes of any depth in dry run, answer and log', async () => {
    const music = await openTables(maker, tables);
    const before = await snapshot(music);
    const dry = await music.call('delete', { ...drop, dryRun: true });
    expect(sorted(dry)).toEqual(wanted);
    expect(await snapshot(music)).toEqual(before);
    expect(sorted(await music.call('delete', drop))).toEqual(wanted);
    expect(await snapshot(music)).toEqual({
      ...before,
      customers: ['2 Bo', '3 Cy'],
      orders: ['20 2'],
      items: ['20 1 pen'],
      notes: ['1  ', '2  ', '3 20 1', '4 10 '],
      visits: ['2 1'],
    });
    const [entry] = await music.written();
    const logged = [...(entry?.effects ?? [])].map(
      ({ collection, change, count }) => `${collection} ${change} ${count}`,
    );
    expect(logged.sort()).toEqual(['items deleted 3', 'notes updated 2', 'orders deleted 2', 'visits deleted 3']);
  });

  test('a cyclic self relation is followed once, and records of the call are not reported twice', async () => {
    const music = await openTables(maker, tables);
    const call = { collectionName: 'staff', recordIds: ['1', '3', '4'] };
    const answer = await music.call('delete', call);
    expect(answer).toMatchObject({ count: 3, alsoWritten: [deleted('staff', '2', '5')] });
    expect(await music.rows('staff')).toEqual([]);
  });

  test('a changed key cascades to foreign keys, and to primary keys that contain them', async () => {
    const music = await openTables(maker, tables);
    const call = { collectionName: 'orders', recordId: '10', attributes: { id: 99 } };
    const moved = [
      {
        ...{ collection: 'items', change: 'updated', ...cascade, count: 2 },
        changes: ['99|1', '99|2'].map((id) => ({ id, fields: { order_id: { before: 10, after: 99 } } })),
      },
      {
        ...{ collection: 'notes', change: 'updated', ...cascade, count: 2 },
        changes: ['1', '2'].map((id) => ({ id, fields: { order_id: { before: 10, after: 99 } } })),
      },
    ];
    expect(sorted(await music.call('update', { ...call, dryRun: true }))).toEqual(moved);
    expect(sorted(await music.call('update', call))).toEqual(moved);
    expect(await music.rows('notes')).toEqual(['1 99 1', '2 99 1', '3 20 1', '4 10 ']);
    const same = { collectionName: 'orders', recordId: '99', attributes: { id: 99 } };
    expect(sorted(await music.call('update', same))).toBeUndefined();
  });

  test('a cascade needs the permissions of the reached collections, else nothing is written', async () => {
    const music = await openTables(maker, tables);
    const before = await snapshot(music);
    const refuse = async (permissions: Parameters<Music['permit']>[0], words: RegExp) => {
      await music.permit({ '*': all, ...permissions });
      for (const dryRun of [true, false]) expect(await music.call('delete', { ...drop, dryRun })).toMatch(words);
    };
    await refuse({ items: { ...all, delete: false } }, /^FORBIDDEN: .*also delete records of 'items'/);
    await refuse({ notes: { ...all, edit: false } }, /^FORBIDDEN: .*also change records of 'notes'/);
    await refuse({ notes: { ...all, fields: { line: 'read' } } }, /^FORBIDDEN: .*also change records of 'notes'/);
    await refuse({ items: { ...all, browse: false, delete: false } }, /^FORBIDDEN: (?!.*items).*other records/);
    expect(await snapshot(music)).toEqual(before);
    expect(await music.call('delete', { collectionName: 'customers', recordIds: ['3'] })).toMatchObject({ count: 1 });
  });

  test('a cascade from more records than one statement names is followed to its end', async () => {
    const numbers = Array.from({ length: 501 }, (_, n) => 100 + n);
    const music = await openTables(maker, [
      ...tables,
      `INSERT INTO orders VALUES ${numbers.map((id) => `(${id}, 1)`).join(', ')}`,
      "INSERT INTO items VALUES (600, 1, 'last')",
    ]);
    await music.permit({ '*': all, items: { ...all, delete: false } });
    await music.run('DELETE FROM items WHERE order_id < 600');
    expect(await music.call('delete', { ...drop, dryRun: true })).toMatch(
      /^FORBIDDEN: .*also delete records of 'items'/,
    );
    await music.permit({ '*': all });
    expect(await music.call('delete', drop)).toMatchObject({ count: 1 });
    expect([await music.rows('orders'), await music.rows('items')]).toEqual([['20 2'], []]);
    const [entry] = await music.written();
    const logged = [...(entry?.effects ?? [])].map(({ collection, count }) => `${collection} ${count}`);
    expect(logged.sort()).toEqual(['items 1', 'orders 503', 'visits 3']);
  });

  test('a role can forbid cascades from a collection and into a collection', async () => {
    const music = await openTables(maker, tables);
    const before = await snapshot(music);
    for (const name of ['items', 'customers']) {
      await music.permit({ '*': all, [name]: { ...all, cascades: 'deny' } });
      expect(await music.call('delete', drop)).toMatch(/^FORBIDDEN: .*your role does not allow/);
      expect(await music.call('delete', { collectionName: 'customers', recordIds: ['3'], dryRun: true })).toMatchObject(
        {
          count: 1,
        },
      );
    }
    expect(await snapshot(music)).toEqual(before);
  });

  test('a cascade into records outside the row scope or into a table that is not served is refused without a count', async () => {
    const music = await openTables(maker, tables, (agent) => {
      agent.removeCollection('visits');
    });
    const { team } = (await music.store.identity.findUserByEmail(music.clerk.email))!;
    await music.store.permissions.setScope(team, 'items', { field: 'article', operator: 'NotEqual', value: 'pen' });
    const before = await snapshot(music);
    const refused = async (collectionName: string, id: string) => {
      for (const dryRun of [true, false]) {
        const answer = await music.call('delete', { collectionName, recordIds: [id], dryRun });
        expect(answer).toMatch(/^FORBIDDEN: .*would also delete or change other records, and you may not do that/);
        expect(answer).not.toMatch(/items|visits|[0-9]/);
      }
    };
    await refused('orders', '10');
    await music.run('DELETE FROM visits WHERE customer_id = 1');
    await refused('customers', '1');
    expect(await music.call('delete', { collectionName: 'orders', recordIds: ['11'] })).toMatchObject({ count: 1 });
    await music.store.permissions.setScope(team, 'items', null);
    await refused('customers', '2');
    expect(await music.call('delete', { collectionName: 'customers', recordIds: ['1'] })).toMatchObject({ count: 1 });
    expect((await snapshot(music)).customers).toEqual(before.customers?.slice(1));
  });

  test('a cascade that would move records out of the row scope is refused', async () => {
    const music = await openTables(maker, tables);
    const { team } = (await music.store.identity.findUserByEmail(music.clerk.email))!;
    await music.store.permissions.setScope(team, 'notes', { field: 'order_id', operator: 'Present' });
    await music.run('UPDATE notes SET order_id = 20, line = 1 WHERE order_id IS NULL OR line IS NULL');
    const before = await snapshot(music);
    expect(await music.call('delete', drop)).toMatch(/^FORBIDDEN: .*no longer see them/);
    expect(await snapshot(music)).toEqual(before);
  });

  test('triggers of the written and the reached tables are reported, but only for the same kind of write', async () => {
    const make = {
      sqlite: 'CREATE TRIGGER busy AFTER DELETE ON items BEGIN SELECT 1; END',
      mariadb: 'CREATE TRIGGER busy AFTER DELETE ON items FOR EACH ROW SET @x = 1',
      postgres: 'CREATE TRIGGER busy AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION nothing()',
    };
    const nothing = "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'";
    const statements = [...(maker.dialect === 'postgres' ? [nothing] : []), make[maker.dialect]];
    const music = await openTables(maker, [...tables, ...statements]);
    const note = { unseen: ["The table of 'items' has triggers; their effects are not shown."] };
    const item = { collectionName: 'items', recordId: '20|1', attributes: { article: 'ink' } };
    expect(await music.call('update', item)).not.toHaveProperty('unseen');
    expect(await music.call('delete', { ...drop, dryRun: true })).toMatchObject(note);
    expect(await music.call('delete', drop)).toMatchObject(note);
    expect(await music.call('delete', { collectionName: 'items', recordIds: ['20|1'] })).toMatchObject(note);
  });

  test('the policy of a reached collection requires approval, which a change of the reached records invalidates', async () => {
    const music = await openTables(maker, tables);
    await music.permit({ '*': all, items: { ...all, approval: { delete: 'ask-person' } } });
    expect(await music.call('delete', { collectionName: 'customers', recordIds: ['3'] })).toMatchObject({ count: 1 });
    const ask = async () => {
      const pending = (await music.call('delete', drop)) as { approve: string };
      return music.page(music.clerk, new URL(pending.approve).pathname.replace(/^.*(?=\/approvals\/)/, ''));
    };
    const { page, press } = await ask();
    expect(wordsOf(page)).toMatch(/3 records of items (are|will be) deleted/);
    await music.run("INSERT INTO items VALUES (11, 2, 'new')");
    expect(wordsOf(await press('approve'))).toContain('Outdated A record changed first');
    await (await ask()).press('approve');
    expect(await music.call('delete', drop)).toMatchObject({ count: 1 });
    expect(await music.rows('items')).toEqual(['20 1 pen']);
  });

  test('a cascade into more records than the engine may read is refused, and nothing is written', async () => {
    const database = await maker.create();
    onTestFinished(() => database.drop());
    await runSql(database, tables);
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, { clock: systemClock, observe: () => undefined }),
    );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000, rowsLimit: 4 };
    const engine = await agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
    onTestFinished(() => engine.close());
    const access = accessOf();
    // An order, an item, a note and a visit.
    const { count } = await engine.delete(access, { collection: 'customers', ids: [2] });
    const { code, message } = await refusalOf(engine.delete(access, { collection: 'customers', ids: [1] }));
    const left = [];
    for (const collection of ['customers', 'orders', 'items']) left.push(await engine.count(access, { collection }));
    expect([count, code, message, left]).toEqual([
      1,
      'INVALID_ARGUMENT',
      'ids: the database would delete or change more than 4 other records with these. Delete the others first, in several calls.',
      [2, 2, 3],
    ]);
  });

  test('a cascade into a table that the data source leaves out is refused, and nothing is written', async () => {
    const database = await maker.create();
    onTestFinished(() => database.drop());
    await runSql(database, tables);
    const agent = createHeadlessAgent().addDataSource(
      () => createSqlSource(database.url, { clock: systemClock, observe: () => undefined }),
      { exclude: ['visits'] },
    );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
    const engine = await agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
    onTestFinished(() => engine.close());
    const remove = (id: number) => engine.delete(accessOf(), { collection: 'customers', ids: [id] });
    const { code, message } = await refusalOf(remove(2));
    const left = await engine.count(accessOf(), { collection: 'customers' });
    expect([code, message, left, (await remove(3)).count]).toEqual([
      'FORBIDDEN',
      "You may not delete from 'customers': the database would also delete or change other records, and you may not do that.",
      3,
      1,
    ]);
  });
});
