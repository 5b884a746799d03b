// Rows of files on every store, and the transitions that only one of several processes can make.
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { FileRow } from '../../src/store/files/types.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const file = (id: string, more: Partial<FileRow> = {}): FileRow => ({
  id,
  kind: 'upload',
  userId: 7,
  state: 'asked',
  sealed: 'sealed name',
  bytes: 0,
  parts: 0,
  expiresAt: systemClock.now() + 60_000,
  ...more,
});

describe.each(variants)('files on $name', (variant) => {
  test('of several concurrent calls in two processes, one changes the state of a file', async () => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    await one.files.add(file('a'));
    const moved = await Promise.all([one, two, one, two].map(({ files }) => files.move('a', 'asked', 'arriving')));
    expect([moved.filter(Boolean), (await two.files.find('a'))?.state]).toEqual([[true], 'arriving']);
  });

  test('parts are read as they were stored, in any process, and are deleted with the file', async () => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    const part = 'x'.repeat(470_000);
    await one.files.add(file('a', { state: 'arriving' }));
    await one.files.putPart('a', 0, part);
    await one.files.putPart('a', 1, 'end');
    const finished = await one.files.finish('a', { bytes: 262_150, parts: 2 });
    const found = await two.files.find('a');
    const read = [await two.files.findPart('a', 0), await two.files.findPart('a', 1), await two.files.findPart('a', 2)];
    await two.files.remove('a');
    expect([finished, found?.state, found?.bytes, found?.parts, read[0] === part, read[1], read[2]]).toEqual([
      true,
      'ready',
      262_150,
      2,
      true,
      'end',
      undefined,
    ]);
    expect([await one.files.find('a'), await one.files.findPart('a', 0)]).toEqual([undefined, undefined]);
  });

  test('a failed upload can be sent again', async () => {
    const place = await createPlace(variant);
    const { files } = await place.open();
    await files.add(file('a', { state: 'arriving' }));
    await files.putPart('a', 0, 'half');
    await files.restart('a');
    expect([(await files.find('a'))?.state, await files.findPart('a', 0)]).toEqual(['asked', undefined]);
  });

  test('an expired file is not found or counted, and is swept with its parts', async () => {
    let now = systemClock.now();
    const clock: Clock = { ...systemClock, now: () => now };
    const place = await createPlace(variant);
    const { files } = await place.open({ clock });
    await files.add(file('a', { state: 'ready', expiresAt: now + 1000 }));
    await files.putPart('a', 0, 'part');
    await files.add(file('b', { expiresAt: now + 9000 }));
    const before = await files.countOf(7);
    now += 1000;
    const after = [
      await files.find('a'),
      await files.move('a', 'ready', 'taken'),
      await files.countOf(7),
      await files.countOf(8),
    ];
    await files.sweep();
    const { knex } = place.tables();
    expect([before, after, await knex('files').pluck('id_hash'), await knex('file_parts').pluck('id_hash')]).toEqual([
      2,
      [undefined, false, 1, 0],
      ['b'],
      [],
    ]);
  });
});
