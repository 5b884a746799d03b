import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

describe.each(variants)('keys on $name', (variant) => {
  test('three processes that ask at once for the first time agree on one key', async () => {
    const place = await createPlace(variant);
    const children = await Promise.all([place.child(), place.child(), place.child()]);

    const answers = await Promise.all(children.map((child) => child.ask({ do: 'key' })));

    const [first] = answers;
    expect(answers).toEqual([first, first, first]);
    expect(first!.keys).toEqual([expect.stringMatching(/^\S{16} \S{43}$/)]);
  });

  test('a key is made once for a purpose, and lies sealed', async () => {
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

  test('the newest generation comes first, and older ones stay', async () => {
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

describe('the secret of the installation', () => {
  const make = () => 'a key';

  test('without a setting it is a file, made once', async () => {
    const place = await createPlace(variants[0]!);
    await (await place.open()).keys.of('one', make);
    const before = readFileSync(join(place.dataDir, 'secret'), 'utf8');

    await (await place.open()).keys.of('two', make);

    expect(before).toMatch(/^[\w-]{43}\n$/);
    expect(readFileSync(join(place.dataDir, 'secret'), 'utf8')).toBe(before);
  });

  test('another secret does not open the keys, and the error says what to set', async () => {
    const place = await createPlace(variants[0]!);
    await (await place.open({ secret: 'the right one' })).keys.of('one', make);

    const wrong = (await place.open({ secret: 'a wrong one' })).keys.of('one', make);

    await expect(wrong).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(/^SERVICE_SECRET: .*sealed with another secret/),
    });
  });

  test('an empty secret file is refused, not filled', async () => {
    const place = await createPlace(variants[0]!);
    writeFileSync(join(place.dataDir, 'secret'), '\n');

    await expect((await place.open()).keys.of('one', make)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining('cannot be read or made'),
    });
  });
});
