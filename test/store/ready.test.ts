import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import { servers } from '../databases.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

describe.each(variants)('readiness on $name', (variant) => {
  test('an open store is ready', async () => {
    const store = await (await createPlace(variant)).open();

    expect(await store.ready()).toBeUndefined();
  });

  test('settings are stored and replaced', async () => {
    const { settings } = await (await createPlace(variant)).open();

    await settings.set('key', 'one');
    await settings.set('key', 'two');

    expect([await settings.get('key'), await settings.get('nope')]).toEqual(['two', undefined]);
  });
});

describe.each(servers.filter(({ dialect }) => dialect === 'postgres'))('readiness on $dialect', (server) => {
  test('a lost database is reported, and the process continues', async () => {
    const database = await server.create();
    const config = loadConfig({ env: { SERVICE_STORAGE_URL: database.url } });
    const store = await openStore({ config, observe: () => undefined, clock: systemClock });

    await database.drop(true);

    await expect(store.ready()).rejects.toMatchObject({ code: 'SOURCE_UNAVAILABLE' });
    await store.close();
  });
});
