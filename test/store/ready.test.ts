import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import { servers } from '../databases.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

describe.each(variants)('readiness on $name', (variant) => {
  test('a store that is open is ready', async () => {
    const store = await (await createPlace(variant)).open();

    expect(await store.ready()).toBeUndefined();
  });

  test('settings are kept and replaced', async () => {
    const { settings } = await (await createPlace(variant)).open();

    await settings.set('key', 'one');
    await settings.set('key', 'two');

    expect([await settings.get('key'), await settings.get('nope')]).toEqual(['two', undefined]);
  });
});

describe.each(servers.filter(({ dialect }) => dialect === 'postgres'))('readiness on $dialect', (server) => {
  test('a database that went away is said to be, and the process lives', async () => {
    const database = await server.create();
    const config = loadConfig({ env: { SERVICE_STORAGE_URL: database.url } });
    const store = await openStore({ config, observe: () => undefined, clock: systemClock });

    await database.drop(true);

    await expect(store.ready()).rejects.toMatchObject({ code: 'SOURCE_UNAVAILABLE' });
    await store.close();
  });
});
