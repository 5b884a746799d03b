import { describe, expect, test } from 'vitest';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

describe.each(variants)('versions on $name', (variant) => {
  test('a change in one process is visible to the next read of another', async () => {
    const place = await createPlace(variant);
    const [one, other] = [await place.open(), await place.open()];
    const seen = [await other.versions()];

    for (let turn = 0; turn < 3; turn++) {
      await one.permissions.setRole('Member', {});
      seen.push(await other.versions());
      await one.oauth.revokeGrant('g');
      seen.push(await other.versions());
    }

    expect(seen.map(({ permissions, grants }) => [permissions, grants])).toEqual([
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 2],
      [3, 3],
      [4, 3],
      [4, 4],
    ]);
    expect(await one.versions()).toEqual(await other.versions());
  });

  test('a read that begins after a commit does not share one that began before it', async () => {
    const place = await createPlace(variant);
    const [one, other] = [await place.open(), await place.open()];
    const early = Array.from({ length: 5 }, async () => other.versions());

    await one.permissions.setRole('Member', {});
    const late = await Promise.all(Array.from({ length: 5 }, async () => other.versions()));

    await Promise.all(early);
    expect(late.map(({ permissions }) => permissions)).toEqual([2, 2, 2, 2, 2]);
  });

  test('a read works during a write of the same process, and sees only committed changes', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    const before = await store.versions();

    const writing = store.permissions.setRole('Member', {});
    const meanwhile: number[] = [];
    let done = false;
    writing.then(() => {
      done = true;
    });
    while (!done) {
      meanwhile.push((await store.versions()).permissions);
      await new Promise(setImmediate);
    }

    expect(new Set([before.permissions, ...meanwhile])).toEqual(new Set([1, ...meanwhile.filter((n) => n === 2)]));
    expect((await store.versions()).permissions).toBe(2);
  });
});

describe.each(variants.filter(({ name }) => name === 'sqlite'))('versions on $name', (variant) => {
  test('the versions are returned without a promise', async () => {
    const store = await (await createPlace(variant)).open();

    expect(store.versions()).toEqual({ permissions: 1, grants: 1, keys: 1, workflows: 1 });
  });
});
