// Dry runs, pending approvals and refused writes rely on a rollback. Tables without transactions cannot roll back, so
// they are read-only. The test reads the database itself.
import { expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { openTables } from './music.ts';

const only = (dialect: string) => servers.filter((server) => server.dialect === dialect);

const table = (name: string, engine: string) => [
  `CREATE TABLE ${name} (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(10), safe_id INTEGER) ENGINE=${engine}`,
  `INSERT INTO ${name} VALUES (1, 'one', 1), (2, 'two', 2)`,
];
const tables = [
  ...table('safe', 'InnoDB'),
  ...table('old', 'MyISAM'),
  ...table('crashsafe', 'Aria'),
  ...table('volatile', 'MEMORY'),
  ...table('counted', 'InnoDB'),
  'CREATE TRIGGER count_it AFTER DELETE ON counted FOR EACH ROW UPDATE `old` SET safe_id = OLD.id WHERE id = 1',
];
const readOnly = ['old', 'crashsafe', 'volatile', 'counted'];

test.each(only('mariadb'))('$dialect: every kind of write to them is refused', async (maker) => {
  const music = await openTables(maker, tables, (agent) =>
    agent
      .customizeCollection('safe', (safe) =>
        safe.addManyToOneRelation('older', 'old', { foreignKey: 'safe_id' }).allowNestedWrites('older'),
      )
      .customizeCollection('old', (old) =>
        old.addAction('Rename', {
          scope: 'Single',
          execute: async (context, result) => {
            await context.collection.update(context.filter, { name: 'code' });
            return result.success('Renamed');
          },
        }),
      ),
  );
  const snapshot = () => Promise.all(['safe', ...readOnly].map((name) => music.rows(name)));
  const before = await snapshot();
  const one = { recordIds: ['1'] };
  const attributes = { name: 'x' };
  for (const collectionName of readOnly)
    for (const dryRun of [true, false]) {
      const refused = expect.stringMatching(new RegExp(`^READ_ONLY: '${collectionName}'.*ENGINE=InnoDB`));
      const call = (name: string, args: object) => music.call(name, { collectionName, dryRun, ...args });
      expect(await call('delete', one)).toEqual(refused);
      expect(await call('update', { ...one, attributes })).toEqual(refused);
      expect(await call('create', { attributes: { id: 3, ...attributes } })).toEqual(refused);
    }
  const nested = { collectionName: 'safe', ...one, attributes: { 'older:name': 'nested' } };
  expect(await music.call('update', nested)).toMatch(/^READ_ONLY: 'old'/);
  const rename = { collectionName: 'old', actionName: 'Rename', ...one };
  expect(JSON.stringify(await music.call('executeAction', rename))).toContain('ACTION_FAILED');
  expect(await snapshot()).toEqual(before);
  expect(await music.call('update', { collectionName: 'safe', ...one, attributes })).toMatchObject({ count: 1 });
  const warned = music.observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
  for (const name of readOnly)
    expect(warned).toContainEqual(expect.stringMatching(new RegExp(`'${name}' is read-only: .*ENGINE=InnoDB`)));
});

test.each(only('postgres'))(
  '$dialect: a foreign table of a wrapper other than postgres_fdw is read-only',
  async (maker) => {
    const music = await openTables(maker, [
      'CREATE EXTENSION file_fdw',
      'CREATE SERVER files FOREIGN DATA WRAPPER file_fdw',
      "CREATE FOREIGN TABLE machine (line text) SERVER files OPTIONS (filename '/etc/hostname')",
    ]);
    expect(await music.call('create', { collectionName: 'machine', attributes: { line: 'x' } })).toMatch(
      /^READ_ONLY: 'machine'.*file_fdw/,
    );
  },
);

// A file must contain a test.
if (servers.every(({ dialect }) => dialect === 'sqlite')) test.skip('needs a database server', () => {});
