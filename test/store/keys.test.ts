import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

describe.each(variants)('keys on $name', (variant) => {
  test('three processes that first ask concurrently get the same key', async () => {
    const place = await createPlace(variant);
    const children = await Promise.all([place.child(), place.child(), place.child()]);

    const answers = await Promise.all(children.map((child) => child.ask({ do: 'key' })));

    const [first] = answers;
    expect(answers).toEqual([first, first, first]);
    expect(first!.keys).toEqual([expect.stringMatching(/^\S{16} \S{43}$/)]);
  });

  test('a key is made once for each purpose, and is stored encrypted', async () => {
    const place = await createPlace(variant);
    const { keys } = await place.open();
    let made = 0;
    const make = () => `a very secret key ${++made}`;

    const given = [await keys.of('one', make), await keys.of('one', make), await keys.of('two', make)];

    const rows = await place.tables().knex('installation_keys').select();
    expect(given.map((list) => list.map(({ value }) => value))).toEqual([
      ['a very secret key 1'],
      ['a very secret key 1'],
      ['a very secret key 2'],
    ]);
    expect(rows.length).toBe(2);
    expect(JSON.stringify(rows)).not.toContain('secret');
  });

  test('the newest generation comes first, and older ones are kept', async () => {
    const place = await createPlace(variant);
    const { keys } = await place.open();
    await keys.of('one', () => 'value');
    const { knex } = place.tables();
    const row = await knex('installation_keys').first();
    await knex('installation_keys').insert({ ...row, generation: 2, key_id: 'newer' });

    const given = await keys.of('one', () => 'unused');

    expect(given.map(({ id }) => id)).toEqual(['newer', row.key_id]);
  });
});

describe.each(variants)('rotation on $name', (variant) => {
  test('a new generation signs, older ones verify; it applies immediately and is in the admin log', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    for (const purpose of ['cookies', 'forms']) await store.keys.of(purpose, () => `first ${purpose}`);
    const before = (await store.versions()).keys;

    const made = await store.keys.rotate('cookies');
    const [cookies, forms] = [await store.keys.of('cookies', () => ''), await store.keys.of('forms', () => '')];
    const all = await store.keys.rotate();

    expect([
      made.map(({ purpose, generation }) => `${purpose} ${generation}`),
      cookies.map(({ id }) => id === made[0]!.id),
    ]).toEqual([['cookies 2'], [true, false]]);
    expect([cookies[1]!.value, forms.length, all.map(({ purpose, generation }) => `${purpose} ${generation}`)]).toEqual(
      ['first cookies', 1, ['cookies 3', 'forms 2']],
    );
    expect((await store.versions()).keys - before).toBe(2);
    const log = await place.tables().knex('admin_logs').where('action', 'key.rotate').orderBy('id').pluck('subject');
    expect(log).toEqual(['cookies 2', 'cookies 3', 'forms 2']);
    expect(JSON.stringify(await store.keys.list())).not.toContain(cookies[0]!.value);
  });

  test('a key replaced long enough ago can be retired, the newest never', async () => {
    const place = await createPlace(variant);
    let now = 1_000_000;
    const store = await place.open({ clock: { ...systemClock, now: () => now } });
    await store.keys.of('cookies', () => 'first');
    for (const at of [2_000_000, 3_000_000]) {
      now = at;
      await store.keys.rotate('cookies');
    }
    const states = (await store.keys.list()).map(({ generation, createdAt, replacedAt }) => [
      generation,
      createdAt,
      replacedAt,
    ]);
    const retired = [
      await store.keys.retire(1_999_999),
      await store.keys.retire(2_000_000, 'cookies'),
      await store.keys.retire(9e12),
    ];
    expect(states).toEqual([
      [3, 3_000_000, null],
      [2, 2_000_000, 3_000_000],
      [1, 1_000_000, 2_000_000],
    ]);
    expect(retired.map((keys) => keys.map(({ generation }) => generation))).toEqual([[], [1], [2]]);
    const log = await place.tables().knex('admin_logs').where('action', 'key.retire').orderBy('id').pluck('subject');
    expect(log).toEqual(['cookies 1', 'cookies 2']);
    expect((await store.keys.of('cookies', () => '')).length).toBe(1);
  });
});

test('a signing key keeps its type, and a purpose without a key is an error', async () => {
  const { keys } = await (await createPlace(variants[0]!)).open();
  // The key of an agent that uses this server as its platform has the same type.
  const purposes = ['oauth-signing', 'agent/2/oauth-signing'];
  for (const purpose of purposes) await keys.of(purpose, () => '{"kty":"EC"}');
  await keys.rotate();
  const [newest, ofAgent] = await Promise.all(purposes.map(async (purpose) => (await keys.of(purpose, () => ''))[0]));
  expect(JSON.parse(ofAgent!.value)).toMatchObject({ kty: 'EC', crv: 'P-256', d: expect.any(String) });
  const wrong = [keys.rotate('cookie'), keys.retire(0, 'cookie')];
  expect(JSON.parse(newest!.value)).toMatchObject({ kty: 'EC', crv: 'P-256', d: expect.any(String) });
  for (const refused of wrong) {
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('oauth-signing'),
    });
  }
});

test('with another secret, rotation is refused', async () => {
  const place = await createPlace(variants[0]!);
  await (await place.open({ secret: 'the right one' })).keys.of('one', () => 'a key');
  const other = await place.open({ secret: 'a wrong one' });
  await expect(other.keys.rotate()).rejects.toMatchObject({ code: 'CONFIGURATION' });
  expect((await other.keys.list()).length).toBe(1);
});

describe('the secret of the installation', () => {
  const make = () => 'a key';

  test('without the setting it is a file, created once', async () => {
    const place = await createPlace(variants[0]!);
    await (await place.open()).keys.of('one', make);
    const before = readFileSync(join(place.dataDir, 'secret'), 'utf8');

    await (await place.open()).keys.of('two', make);

    expect(before).toMatch(/^[\w-]{43}\n$/);
    expect(readFileSync(join(place.dataDir, 'secret'), 'utf8')).toBe(before);
  });

  test('with another secret the keys cannot be decrypted, and the error names the setting', async () => {
    const place = await createPlace(variants[0]!);
    await (await place.open({ secret: 'the right one' })).keys.of('one', make);

    const wrong = (await place.open({ secret: 'a wrong one' })).keys.of('one', make);

    await expect(wrong).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(/^SERVICE_SECRET: .*encrypted with another secret/),
    });
  });

  test('an empty secret file is refused, not filled', async () => {
    const place = await createPlace(variants[0]!);
    writeFileSync(join(place.dataDir, 'secret'), '\n');

    await expect((await place.open()).keys.of('one', make)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining('cannot be read or created'),
    });
  });

  test('the storage and the secret are for their owner only, also if others could read the storage before', async () => {
    const place = await createPlace(variants[0]!);
    const file = place.url.replace(/^sqlite:/, '');
    chmodSync(file, 0o644);

    await (await place.open()).keys.of('one', make);

    const modes = [file, join(place.dataDir, 'secret')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]);
  });
});
