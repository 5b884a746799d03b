// Notes in the storage: the cost of a list, the exact meaning of its filters, and concurrent writes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createNotes, threadLimits } from '../../src/store/notes/notes.ts';
import { readNotes } from '../../src/store/notes/search.ts';
import type { NewNote } from '../../src/store/notes/types.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { createEnvironmentInfoReader } from '../../src/store/permissions/roles.ts';
import { dropSpares } from './spares.ts';
import { cleanUpAfterAll, createPlace, openPair, type Variant, variants } from './stores.ts';

afterAll(dropSpares);

async function open(variant: Variant) {
  const place = await createPlace(variant);
  const [store, other] = await openPair(place, variant);
  const { id } = await store.identity.addUser({ email: 'ada@b.example', firstName: 'Ada', lastName: 'Byron' });
  const { renderingId } = (await store.permissions.caller(id))!;
  const about: NewNote = { title: 'A note', collection: 'orders', recordId: '1', userId: id, renderingId };
  const idsOf = async (wish: object, from: OpenedStore = store) =>
    (await from.notes.list({ limit: 100, ...wish })).notes.map((note) => note.id);
  return { place, store, other, about, idsOf };
}

describe.each(variants)('notes on $name', (variant) => {
  cleanUpAfterAll();
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(variant);
  });
  let subjects = 0;
  /** Each test uses its own record. */
  const begin = () => ({ ...opened, about: { ...opened.about, recordId: `record ${++subjects}` } });

  test('a page takes one statement, and its messages one more; user, team and time range are resolved first', async () => {
    const { place, store, about } = begin();
    for (let note = 0; note < 5; note++) await store.notes.create({ ...about, content: `first of ${note}` });
    const database = place.tables();
    const notes = createNotes(database, createEnvironmentInfoReader(null), systemClock);
    // A process reads its environment once.
    await notes.list({ limit: 1 });
    const statements: string[] = [];
    database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
    const page = await notes.list({
      limit: 3,
      collection: 'orders',
      recordId: about.recordId,
      updatedAt: { from: 0 },
    });
    expect([page.notes.length, page.notes[0]?.messages.length, page.notes[0]?.user.name, statements.length]).toEqual([
      3,
      1,
      'Ada Byron',
      2,
    ]);
    statements.length = 0;
    const named = await notes.list({
      limit: 3,
      userEmail: 'ada@b.example',
      teamName: 'Operations',
      updatedAt: { from: 0 },
    });
    expect([named.notes.length, statements.length]).toEqual([3, 5]);
    statements.length = 0;
    await notes.list({ limit: 3, withMessages: false });
    const none = await notes.list({ limit: 3, collection: 'nothing' });
    expect([none, statements.length]).toEqual([{ notes: [] }, 2]);
  });

  test('a range with few or many notes returns the same notes', async () => {
    const { place, store, about } = begin();
    const database = place.tables();
    const { environmentId } = await store.identity.place();
    for (let note = 0; note < 24; note++) {
      const id = await store.notes.create({ ...about, title: `Note ${note % 3}`, collection: note % 2 ? 'a' : 'b' });
      const [updated_at, archived_at] = [10 ** 13 + ((note * 7) % 24), note % 3 ? 10 ** 13 + ((note * 5) % 24) : null];
      await database.knex('notes').where({ id }).update({ updated_at, archived_at });
    }
    const ids = async (wish: object, most: number): Promise<number[]> =>
      (await readNotes(database, environmentId, { limit: 6, ...wish }, most)).map(({ id }) => id);
    const [low, high] = [{ to: 10 ** 13 + 9 }, { from: 10 ** 13 + 4 }];
    const found = [];
    for (const more of [
      {},
      { collection: 'a' },
      { title: 'note 2' },
      { archived: true },
      { after: Date.now() + 10 ** 9 },
    ]) {
      for (const range of [{ updatedAt: low }, { archivedAt: high }, { updatedAt: high, archivedAt: low }]) {
        const [walked, picked] = [await ids({ ...range, ...more }, 0), await ids({ ...range, ...more }, 1000)];
        expect(picked).toEqual(walked);
        found.push(walked.length);
      }
    }
    expect(found).not.toContain(0);
  });

  test('concurrent notes have different times, and later ids have later times', async () => {
    const { store, other, about } = begin();
    await Promise.all(Array.from({ length: 12 }, (_, at) => (at % 2 ? store : other).notes.create(about)));
    const { notes } = await store.notes.list({ limit: 100, recordId: about.recordId });
    const byId = notes.toSorted((a, b) => b.id - a.id);
    expect(notes).toEqual(byId);
    expect(new Set(notes.map(({ createdAt }) => createdAt)).size).toBe(12);
  });

  test('concurrent messages are all stored and counted', async () => {
    const { store, other, about } = begin();
    const id = await store.notes.create(about);
    const { userId } = about;
    await Promise.all(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? store : other).notes.addMessage(id, { userId, content: `${at}` })),
    );
    const note = await other.notes.find(id);
    expect([note?.messages.map(({ content }) => content).toSorted(), note?.messageCount]).toEqual([
      ['0', '1', '2', '3', '4', '5', '6', '7'],
      8,
    ]);
    expect(note?.updatedAt).toBeGreaterThan(note!.createdAt + 7);
  });

  test('names compare by their bytes: case and trailing spaces matter', async () => {
    const { store, about: one, idsOf } = begin();
    const about = { ...one, title: 'A name' };
    const [plain, upper, blank, record] = [
      await store.notes.create(about),
      await store.notes.create({ ...about, collection: 'Orders' }),
      await store.notes.create({ ...about, collection: 'orders ', recordId: `${about.recordId} ` }),
      await store.notes.create({ ...about, collection: 'é', recordId: 'é' }),
    ];
    expect([
      await idsOf({ collection: 'orders', title: 'name' }),
      await idsOf({ collection: 'Orders' }),
      await idsOf({ collection: 'orders ' }),
      await idsOf({ recordId: about.recordId }),
      await idsOf({ recordId: `${about.recordId} ` }),
      await idsOf({ recordId: 'é' }),
      await idsOf({ recordId: 'e\u0301' }),
      await idsOf({ teamName: 'operations' }),
      await idsOf({ teamName: 'Operations ' }),
      await idsOf({ teamName: 'Operations', title: 'name' }),
      await idsOf({ userEmail: 'Ada@B.example', title: 'name' }),
      await idsOf({ title: 'NAME' }),
      await idsOf({ title: 'n%e' }),
    ]).toEqual([
      [plain],
      [upper],
      [blank],
      [upper, plain],
      [blank],
      [record],
      [],
      [],
      [],
      [record, blank, upper, plain],
      [record, blank, upper, plain],
      [record, blank, upper, plain],
      [],
    ]);
    const { notes } = await store.notes.list({ limit: 4, title: 'name' });
    expect(notes.map(({ collection }) => collection)).toEqual(['é', 'orders ', 'Orders', 'orders']);
  });

  test('notes outlive their disabled author and deleted team, and are deleted with their environment', async () => {
    const { place, store, about, idsOf } = begin();
    const bo = await store.identity.addUser({ email: 'bo@b.example', team: 'North' });
    const { renderingId } = (await store.permissions.caller(bo.id))!;
    const id = await store.notes.create({ ...about, userId: bo.id, renderingId, content: 'Mine' });
    await store.members.change(bo.id, { team: 'Operations' });
    await store.identity.setDisabled(bo.id, true);
    const before = await store.rights.read();
    await store.rights.apply(
      before,
      before.filter(({ kind, path }) => !(kind === 'team' && path[0] === 'North')),
    );
    const note = await store.notes.find(id);
    expect([note?.team, note?.user, note?.messages[0]?.user.email]).toEqual([
      'North',
      { id: bo.id, name: 'bo@b.example', email: 'bo@b.example' },
      'bo@b.example',
    ]);
    const { knex } = place.tables();
    const one = await store.rights.read();
    const staging = { kind: 'environment', path: ['Staging'], value: 'Staging' } as const;
    await store.rights.apply(one, [...one, staging]);
    const elsewhere = await place.open({ environment: 'Staging' });
    const inStaging = await elsewhere.notes.create({ ...about, content: 'There' });
    expect([
      await idsOf({ recordId: about.recordId }),
      await store.notes.find(inStaging),
      await idsOf({}, elsewhere),
    ]).toEqual([[id], undefined, [inStaging]]);
    expect(await store.notes.change(inStaging, { archived: true })).toBeUndefined();
    const two = await store.rights.read();
    await store.rights.apply(
      two,
      two.filter(({ kind, path }) => !(kind === 'environment' && path[0] === 'Staging')),
    );
    expect([
      await knex('notes').where({ record_id: about.recordId }).pluck('id'),
      await knex('note_messages').whereIn('content', ['Mine', 'There']).pluck('content'),
    ]).toEqual([[id], ['Mine']]);
  });

  test('a full thread refuses more messages', async () => {
    const { store, about } = begin();
    const { userId } = about;
    const id = await store.notes.create({ ...about, content: 'x'.repeat(threadLimits.characters - 1) });
    const { messages } = (await store.notes.find(id))!;
    const long = 'y'.repeat(threadLimits.characters + 1);
    expect([
      await store.notes.addMessage(id, { userId, content: 'two' }),
      await store.notes.addMessage(id, { userId, content: '1' }),
      await store.notes.editMessage(id, messages[0]!.id, long),
      await store.notes.editMessage(id, messages[0]!.id, 'short'),
      await store.notes.addMessage(id, { userId, content: 'two' }),
    ]).toEqual(['full', expect.any(Number), 'full', true, expect.any(Number)]);
  });
});
