// Several environments in one storage: each process serves one, with its own permissions and row scopes.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { openEnvironment } from '../../src/server/environment.ts';
import { cleanUpAfterEach, createPlace, type Place, variants } from './stores.ts';

cleanUpAfterEach();

const none = { browse: false, read: false, edit: false, add: false, delete: false, export: false };
const scope = (value: number) => ({ field: 'id', operator: 'Equal', value });

async function addEnvironment({ tables }: Place, name: string): Promise<void> {
  const { knex, insert } = tables();
  const project = await knex('projects').first('id');
  await insert(knex, 'environments', { project_id: project.id, name, created_at: 1 });
}

describe.each(variants)('on $name', (variant) => {
  test('each has its own permissions and scopes; a new team gets a rendering in every environment', async () => {
    const place = await createPlace(variant);
    await place.open();
    await addEnvironment(place, 'Staging');
    const production = await place.open({ environment: 'Production' });
    const staging = await place.open({ environment: 'Staging' });
    const { id } = await production.identity.addUser({
      email: 'ada@b.example',
      team: 'South',
      role: 'Clerk',
    });
    await production.permissions.setRole('Clerk', { orders: { ...none, browse: true } });
    await production.permissions.setScope('South', 'orders', scope(1));
    await staging.permissions.setRole('Clerk', { orders: { ...none, edit: true } });
    await staging.permissions.setScope('South', 'orders', scope(2));
    const seen = [];
    for (const store of [production, staging]) {
      const access = (await store.permissions.accessOf(id))!;
      const { environment } = await store.identity.place();
      seen.push([environment, access.can('browse', 'orders'), access.can('edit', 'orders'), access.scope('orders')]);
    }
    expect(seen).toEqual([
      ['Production', true, false, scope(1)],
      ['Staging', false, true, scope(2)],
    ]);
  });
});

describe('which environment is served', () => {
  test('the only one, even after another is added or it is renamed; one of several must be named', async () => {
    const place = await createPlace(variants[0]!);
    const first = await place.open();
    const before = await first.identity.place();
    await addEnvironment(place, 'Staging');
    await place.tables().knex('environments').where({ name: 'Production' }).update({ name: 'Live' });
    const second = await place.open();
    expect([before.environment, (await first.identity.place()).environment]).toEqual(['Production', 'Live']);
    await expect(second.identity.place()).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message:
        "SERVICE_ENVIRONMENT: the storage has several environments, and a process serves one. Set it to one of 'Live', 'Staging'.",
    });
    // Operations on the whole project need no environment.
    await second.identity.addUser({ email: 'bo@b.example' });
  });

  test('an unknown name is an error that lists the environments', async () => {
    const place = await createPlace(variants[0]!);
    const store = await place.open({ environment: 'production' });
    await expect(store.identity.place()).rejects.toMatchObject({
      message: "SERVICE_ENVIRONMENT: the storage has no environment 'production'. Set it to one of 'Production'.",
    });
    expect(await store.permissions.accessOf(1).catch((error: Error) => error.message)).toMatch(/^SERVICE_ENVIRONMENT/);
  });

  test('a deleted environment refuses access', async () => {
    const place = await createPlace(variants[0]!);
    const store = await place.open();
    const { id } = await store.identity.addUser({ email: 'ada@b.example', level: 'admin' });
    await store.identity.place();
    const { knex } = place.tables();
    await knex('role_permissions').delete();
    await knex('renderings').delete();
    await knex('environments').delete();
    await expect(store.permissions.accessOf(id)).rejects.toMatchObject({ code: 'CONFIGURATION' });
  });
});

test('each has its own secret, whether generated or configured', async () => {
  const place = await createPlace(variants[0]!);
  await place.open();
  await addEnvironment(place, 'Staging');
  const [production, staging] = [
    await place.open({ environment: 'Production' }),
    await place.open({ environment: 'Staging' }),
  ];
  const secretsOf = (store: typeof staging) => openEnvironment(store, undefined).secrets();
  const generated = [await secretsOf(production), await secretsOf(staging)];
  expect(generated.map((secrets) => secrets.length)).toEqual([1, 1]);
  expect(generated[0]).not.toEqual(generated[1]);
  expect([await secretsOf(production), await secretsOf(staging)]).toEqual(generated);

  await openEnvironment(staging, 'of staging').claim();
  // A generated secret beside a configured one would be a second key to the environment.
  expect([await secretsOf(production), await secretsOf(staging)]).toEqual([generated[0], []]);
  await openEnvironment(production, 'of production').claim();
  expect(await openEnvironment(production, 'of production').secrets()).toEqual(['of production']);
  for (const [store, secret] of [
    [production, 'of staging'],
    [staging, 'of production'],
  ] as const)
    await expect(openEnvironment(store, secret).claim()).rejects.toMatchObject({ code: 'CONFIGURATION' });
});

test('set by a setting of the process, by flag or environment', () => {
  const env = { SERVICE_ENVIRONMENT: 'Staging' };
  expect([loadConfig({ env }).environment, loadConfig({ env, flags: { environment: 'Live' } }).environment]).toEqual([
    'Staging',
    'Live',
  ]);
});
