import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import { cleanUpAfterEach, createEmptyPlace, variants } from './stores.ts';

cleanUpAfterEach();

const all = [
  '001-first-tables',
  '002-first-rows',
  '003-action-permissions',
  '004-idempotency-keys',
  '005-files',
  '006-approvals',
  '007-console-sessions',
  '008-application-tokens',
  '009-allowed-networks',
  '010-accounts',
  '011-connections',
  '012-identities',
  '013-agent-sessions',
  '014-agent-schemas',
  '015-notes',
  '016-log-search',
  '017-quotas',
  '018-workflows',
  '019-remote-servers',
  '020-remote-settings',
  '021-note-pairs',
  '022-log-pairs',
  '023-activity-details',
  '024-approval-results',
  '025-run-collections',
  '026-lost-leases',
  '027-callback-problem',
  '028-workflow-version',
  '029-start-rules',
  '030-waiting-mails',
  '031-meanings',
];

describe.each(variants)('schema on $name', (variant) => {
  test('four processes that start concurrently migrate once', async () => {
    const place = await createEmptyPlace(variant);
    const children = await Promise.all([place.child(), place.child(), place.child(), place.child()]);

    const answers = await Promise.all(children.map((child) => child.ask({ do: 'open' })));

    const { knex } = place.tables();
    expect({
      ran: answers.map(({ migrations, error }) => error ?? migrations).filter((ran) => ran?.length),
      places: await knex('environments').join('projects', 'projects.id', 'project_id').pluck('environments.name'),
      roles: await knex('roles').orderBy('id').pluck('name'),
      renderings: (await knex('renderings').pluck('id')).length,
    }).toEqual({ ran: [all], places: ['Production'], roles: ['Administrator', 'Member'], renderings: 1 });
  });

  test('the next start finishes an interrupted migration', async () => {
    const place = await createEmptyPlace(variant);
    await (await place.open()).close();
    const { knex } = place.tables();
    await knex('schema_migrations').delete();
    await knex.schema.dropTable('installation_keys');

    const store = await place.open();

    expect(await store.keys.of('test', () => 'a key')).toMatchObject([{ value: 'a key' }]);
    expect(await knex('projects').pluck('name')).toEqual(['My project']);
  });

  test('a storage of a newer version is refused', async () => {
    const place = await createEmptyPlace(variant);
    await (await place.open()).close();
    await place.tables().knex('schema_migrations').insert({ name: '999-from-the-future', applied_at: 1 });

    await expect(place.open()).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining("newer Portico (it has '999-from-the-future')"),
    });
  });

  test('names compare by their bytes', async () => {
    const place = await createEmptyPlace(variant);
    const store = await place.open();

    await store.settings.set('Name', 'upper');
    await store.settings.set('name', 'lower');

    expect([await store.settings.get('Name'), await store.settings.get('name')]).toEqual(['upper', 'lower']);
  });
});

describe('the URL of the storage', () => {
  const open = (url: string) =>
    openStore({
      config: loadConfig({ env: { SERVICE_STORAGE_URL: url } }),
      observe: () => undefined,
      clock: systemClock,
    });

  test.each([
    'oracle://ada:hunter22@db/x',
    'mysql://ada:hunter22@db',
    'postgres://ada:hunter22%zz@db/x',
    'mysql://ada:hunter22@127.0.0.1:1/x',
    'postgres://ada:hunter22@127.0.0.1:1/x',
    'sqlite:',
    'sqlite:/dev/null/x.sqlite',
  ])('%s is refused with the name of its variable, without the password', async (url) => {
    const error = await open(url).catch((reason: Error) => reason);

    expect(error).toMatchObject({ code: 'CONFIGURATION', message: expect.stringContaining('SERVICE_STORAGE_URL') });
    expect((error as Error).message).not.toContain('hunter22');
  });

  test('a database in memory needs no file', async () => {
    const store = await open('sqlite::memory:');

    const added = await store.identity.addUser({ email: 'ada@example.com', password: 'correct horse' });
    await store.identity.setDisabled(added.id, true);

    expect(await store.versions()).toEqual({ permissions: 3, grants: 1, keys: 1, workflows: 1 });
    await store.close();
  });
});

describe.each(variants.filter(({ server }) => server.dialect === 'sqlite'))('files of $name', (variant) => {
  test('only the owner may read the files', async () => {
    const place = await createEmptyPlace(variant);
    const config = loadConfig({
      env: { SERVICE_DATA_DIR: join(place.dataDir, 'made'), SERVICE_SQLITE: variant.sqlite },
    });
    const store = await openStore({ config, observe: () => undefined, clock: systemClock });
    await store.keys.of('test', () => 'a key');
    const mode = (...path: string[]) => (statSync(join(config.dataDir, ...path)).mode & 0o777).toString(8);

    const journals = store.sqliteKind !== 'wasm' ? [mode('portico.sqlite-wal'), mode('portico.sqlite-shm')] : [];

    expect([mode(), mode('portico.sqlite'), mode('secret'), ...new Set(journals)]).toEqual([
      '700',
      '600',
      '600',
      ...(store.sqliteKind !== 'wasm' ? ['600'] : []),
    ]);
    await store.close();
  });
});
