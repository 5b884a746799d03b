// Every record that a call writes, in any collection, is in its dry run, on its approval page, in its answer and in the
// activity log. Each test reads the database itself.
import { describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { servers } from '../databases.ts';
import { all, type Music, openMusic, wordsOf } from './music.ts';

const allow = (agent: HeadlessAgent) => {
  agent.customizeCollection('tracks', (tracks) => tracks.allowNestedWrites('album'));
};

describe.each(servers)('$dialect', (maker) => {
  const rename = { collectionName: 'tracks', recordId: '1', attributes: { 'album:title': 'New' } };
  const renamed = {
    collection: 'albums',
    change: 'updated',
    cause: 'relation',
    count: 1,
    changes: [{ id: '1', fields: { title: { before: 'One', after: 'New' } } }],
  };

  test('a nested write of a related record is in the dry run, the answer and the log', async () => {
    const music = await openMusic(maker, allow);
    const dry = await music.call('update', { ...rename, dryRun: true });
    expect(dry).toEqual({ dryRun: true, count: 1, changes: [{ id: '1', fields: {} }], alsoWritten: [renamed] });
    expect(await music.rows('albums')).toContain('1 One 1');
    expect(await music.call('update', rename)).toMatchObject({ count: 1, ids: ['1'], alsoWritten: [renamed] });
    expect(await music.rows('albums')).toContain('1 New 1');
    const [entry] = await music.written();
    expect(entry).toMatchObject({
      ...{ action: 'update', collection: 'tracks', recordIds: ['1'] },
      effects: [{ collection: 'albums', change: 'updated', cause: 'relation', count: 1, ids: ['1'] }],
    });
  });

  test('the approval page shows a nested write, and the log entry of the write names its approval', async () => {
    const music = await openMusic(maker, allow);
    await music.permit({ '*': { ...all, approval: { edit: 'ask-person' } } });
    const pending = (await music.call('update', rename)) as { approve: string };
    const path = new URL(pending.approve).pathname.replace(/^.*(?=\/approvals\/)/, '');
    const { page, press } = await music.page(music.clerk, path);
    expect(wordsOf(page)).toContain('Other changes 1 record of albums is changed through a relation');
    expect(wordsOf(page)).toContain('Record 1 Field Now After title One New');
    const words = wordsOf(page);
    expect(words).toContain('no field that you can see changes. Other changes');
    expect(words).toContain('makes the changes on this page, once. If a record changes first, the approval no longer');
    await press('approve');
    expect(await music.call('update', rename)).toMatchObject({ count: 1, alsoWritten: [renamed] });
    const [entry] = await music.written();
    expect(entry).toMatchObject({ action: 'update', outcome: 'completed', approvalId: path.split('/').at(-1) });
  });

  test('an approval is invalid if the related record has changed since', async () => {
    const music = await openMusic(maker, allow);
    await music.permit({ '*': { ...all, approval: { edit: 'ask-person' } } });
    const pending = (await music.call('update', rename)) as { approve: string };
    const path = new URL(pending.approve).pathname.replace(/^.*(?=\/approvals\/)/, '');
    const { press } = await music.page(music.clerk, path);
    await music.run("UPDATE albums SET title = 'Other' WHERE id = 1");
    expect(wordsOf(await press('approve'))).toContain('Outdated A record changed first');
    expect(await music.call('update', rename)).toMatchObject({ status: 'pending' });
    expect(await music.rows('albums')).toContain('1 Other 1');
  });

  test('a related record that a nested write creates is reported', async () => {
    const music = await openMusic(maker, allow);
    const call = { collectionName: 'tracks', recordId: '4', attributes: { 'album:title': 'Ghost' } };
    const fields = (id: string | null) => [
      { id, fields: expect.objectContaining({ title: { before: null, after: 'Ghost' } }) },
    ];
    const created = { collection: 'albums', change: 'created', cause: 'relation', count: 1 };
    expect(await music.call('update', { ...call, dryRun: true })).toMatchObject({
      alsoWritten: [{ ...created, changes: fields(null) }],
    });
    const answer = (await music.call('update', call)) as { alsoWritten: { changes: { id: string }[] }[] };
    const { id } = answer.alsoWritten[0]!.changes[0]!;
    expect(answer).toMatchObject({ alsoWritten: [{ ...created, changes: fields(id) }] });
    expect(await music.rows('albums')).toContain(`${id} Ghost `);
    const [entry] = await music.written();
    expect(entry).toMatchObject({ effects: [{ ...created, ids: [id] }] });
  });

  test('nested writes are off by default, and the refusal names the call that links records', async () => {
    const music = await openMusic(maker);
    const before = [await music.rows('albums'), await music.rows('tracks'), await music.rows('artists')];
    const hint =
      "nested writes to 'albums' are off. To link: list 'albums', then send {\"album_id\": <its key>}. To change it: update 'albums'.";
    for (const attributes of [{ 'album:title': 'X' }, { album: { title: 'X' } }, { 'album:artist:name': 'X' }])
      for (const dryRun of [false, true])
        expect(await music.call('update', { ...rename, attributes, dryRun })).toContain(hint);
    const create = { collectionName: 'tracks', attributes: { name: 'e', 'album:title': 'X' } };
    expect(await music.call('create', create)).toContain(hint);
    expect(await music.call('describeCollection', { collectionName: 'tracks' })).toMatchObject({
      relations: { album: 'one albums' },
    });
    expect([await music.rows('albums'), await music.rows('tracks'), await music.rows('artists')]).toEqual(before);
  });

  test('allowing nested writes for a relation does not allow them for relations behind it', async () => {
    const music = await openMusic(maker, allow);
    expect(await music.call('describeCollection', { collectionName: 'tracks' })).toMatchObject({
      relations: { album: 'one albums (nested writes)' },
    });
    const call = { ...rename, attributes: { 'album:artist:name': 'X' } };
    expect(await music.call('update', call)).toContain('send {"artist_id": <its key>}');
    expect(await music.rows('artists')).toEqual(['1 Ada x', '2 Bo y']);
  });

  test('a nested write needs the permissions of the other collection, and hidden fields stay hidden', async () => {
    const music = await openMusic(maker, allow);
    await music.permit({ '*': all, albums: { ...all, edit: false } });
    expect(await music.call('update', rename)).toMatch(/^FORBIDDEN/);
    await music.permit({ '*': all, albums: { ...all, fields: { title: 'hidden' } } });
    expect(await music.call('update', rename)).toMatch(/^INVALID_RECORD/);
    await music.permit({ '*': all, albums: { ...all, fields: { artist_id: 'hidden' } } });
    expect(await music.call('update', { ...rename, dryRun: true })).toMatchObject({ alsoWritten: [renamed] });
    expect(await music.rows('albums')).toContain('1 One 1');
  });

  test('the approval policy of the other collection applies to a nested write', async () => {
    const music = await openMusic(maker, allow);
    await music.permit({ '*': all, albums: { ...all, approval: { edit: 'ask-person' } } });
    expect(await music.call('update', rename)).toMatchObject({ status: 'pending' });
    expect(await music.rows('albums')).toContain('1 One 1');
  });

  test('a nested write that creates a record needs the right to add, and follows its policy', async () => {
    const music = await openMusic(maker, allow);
    const before = [await music.rows('albums'), await music.rows('tracks')];
    const update = { collectionName: 'tracks', recordId: '4', attributes: { 'album:title': 'Ghost' } };
    const create = { collectionName: 'tracks', attributes: { name: 'e', 'album:title': 'Ghost' } };
    const both = async () => [
      ...[await music.call('update', update), await music.call('update', { ...update, dryRun: true })],
      ...[await music.call('create', create), await music.call('create', { ...create, dryRun: true })],
    ];
    await music.permit({ '*': all, albums: { ...all, add: false } });
    for (const answer of await both()) expect(answer).toMatch(/^FORBIDDEN: .*albums/);
    await music.permit({ '*': all, albums: { ...all, approval: { add: 'ask-person' } } });
    for (const answer of [await music.call('update', update), await music.call('create', create)])
      expect(answer).toMatchObject({ status: 'pending' });
    expect([await music.rows('albums'), await music.rows('tracks')]).toEqual(before);
  });

  test('writes through an imported field or replaced field writing are reported', async () => {
    const music = await openMusic(maker, (agent) =>
      agent.customizeCollection('tracks', (tracks) =>
        tracks
          .importField('album_title', { path: 'album:title' })
          .addField('label', {
            columnType: 'String',
            dependencies: ['name'],
            getValues: (rows) => rows.map(({ name }) => name),
          })
          .replaceFieldWriting('label', (label) => ({ 'album:title': label as string })),
      ),
    );
    for (const field of ['album_title', 'label']) {
      const call = { ...rename, attributes: { [field]: 'New' }, dryRun: true };
      expect(await music.call('update', call)).toMatchObject({ alsoWritten: [renamed] });
    }
    expect(await music.call('update', { ...rename, attributes: { label: 'New' } })).toMatchObject({
      alsoWritten: [renamed],
    });
  });

  test('writes of hooks are in the answer and the log, and a dry run announces the hooks that run afterwards', async () => {
    const music = await openMusic(maker, (agent) =>
      agent.customizeCollection('tracks', (tracks) =>
        tracks
          .addHook('Before', 'Update', async ({ collection }) => {
            await collection('notes').create([{ body: 'before' }]);
          })
          .addHook('After', 'Update', async ({ collection }) => {
            await collection('albums').update(
              { conditionTree: { field: 'artist_id', operator: 'Present' } },
              { title: 'Hooked' },
            );
          }),
      ),
    );
    await music.permit({ '*': all, notes: { ...all, browse: false, read: false } });
    const call = { ...rename, attributes: { name: 'z' } };
    const hidden = { collection: null, change: 'created', cause: 'code', count: 1 };
    expect(await music.call('update', { ...call, dryRun: true })).toMatchObject({
      alsoWritten: [hidden],
      unseen: ["Code runs after each update of 'tracks'; its changes are not shown."],
    });
    expect(await music.rows('notes')).toEqual([]);
    const albums = { collection: 'albums', change: 'updated', cause: 'code', count: 2 };
    const hooked = (id: string, before: string) => ({ id, fields: { title: { before, after: 'Hooked' } } });
    const changes = [hooked('1', 'One'), hooked('2', 'Two')];
    expect(await music.call('update', call)).toMatchObject({ alsoWritten: [hidden, { ...albums, changes }] });
    const [note, ...others] = await music.rows('notes');
    // A database server does not reuse the sequence number of the dry run.
    const [id] = /^\d+/.exec(String(note)) ?? [];
    expect([note, others, await music.rows('albums')]).toEqual([
      `${id} before`,
      [],
      ['1 Hooked 1', '2 Hooked 2', expect.stringMatching(/^3 None/)],
    ]);
    const [entry] = await music.written();
    expect(entry?.effects).toEqual([
      { ...hidden, collection: 'notes', ids: [id] },
      { ...albums, ids: ['1', '2'] },
    ]);
    await music.permit({ '*': { ...all, approval: { edit: 'ask-person' } } });
    const pending = (await music.call('update', call)) as { approve: string };
    const { page } = await music.page(
      music.clerk,
      new URL(pending.approve).pathname.replace(/^.*(?=\/approvals\/)/, ''),
    );
    expect(wordsOf(page)).toContain('makes the changes on this page, once. Code or triggers can make more.');
  });

  test('linked pairs are logged under the junction collection', async () => {
    const music = await openMusic(maker, (agent) =>
      agent.customizeCollection('playlists', (playlists) =>
        playlists.addManyToManyRelation('songs', 'tracks', 'playlist_track', {
          originKey: 'playlist_id',
          foreignKey: 'track_id',
        }),
      ),
    );
    const link = {
      collectionName: 'playlists',
      relationName: 'songs',
      parentRecordId: '1',
      targetRecordId: ['1', '3'],
    };
    expect(await music.call('associate', link)).toMatchObject({ count: 1, collection: 'playlist_track', ids: ['1|1'] });
    const [entry] = await music.written();
    expect(entry).toMatchObject({
      ...{ collection: 'playlists', recordIds: ['1'] },
      effects: [{ collection: 'playlist_track', change: 'created', cause: 'call', count: 1, ids: ['1|1'] }],
    });
  });
});

interface Listed {
  readonly action: string;
  readonly type: string;
  readonly call: { readonly dryRun?: boolean };
}

/** Entries over the public API, newest first, and as lines of the export. */
async function overApi(music: Music) {
  const { id } = (await music.store.identity.findUserByEmail(music.account.email))!;
  const { secret } = await music.store.tokens.create({ userId: id, name: 'program', scopes: ['activity_logs:read'] });
  const logs = new URL('/v1/project/My%20project/environment/Production/activity-logs', music.mcpUrl).href;
  const ask = (query: string) => fetch(`${logs}${query}`, { headers: { authorization: `Bearer ${secret}` } });
  const list = (await (await ask('?limit=100&details=true')).json()) as { data: Listed[] };
  const csv = await (await ask('/export?format=csv')).text();
  return { data: list.data, csv: csv.split('\r\n') };
}

describe('the activity log', () => {
  const maker = servers[0]!;
  const call = { collectionName: 'tracks', recordId: '1', attributes: { 'album:title': 'New' } };

  test('marks a dry run in the list, on its page, over the API and in exports', async () => {
    const music = await openMusic(maker, allow);
    await music.call('update', { ...call, dryRun: true });
    await music.call('update', { ...call, recordId: '99', dryRun: true });
    await music.call('update', call);
    await music.store.activity.flush();
    const { page, open } = await music.page(music.clerk, '/activity');
    const rows = [...page.html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => row!.replace(/<[^>]*>/g, ' '));
    expect(rows.slice(1).map((row) => /(?:dry run(?:, failed)?|completed)$/.exec(row.trim())?.[0])).toEqual(
      expect.arrayContaining(['completed', 'dry run', 'dry run, failed']),
    );
    const entries = await music.store.activity.search({ limit: 10 });
    const dry = entries.find(({ dryRun, outcome }) => dryRun && outcome === 'completed')!;
    expect(wordsOf(await open(`/activity/${dry.id}`))).toContain('Outcome dry run');
    const { data, csv } = await overApi(music);
    expect(data.map(({ type, call }) => [type, call.dryRun]).sort()).toEqual([
      ['read', true],
      ['read', true],
      ['write', undefined],
    ]);
    expect(csv.filter((line) => /,update,.*,true,,$/.test(line))).toHaveLength(2);
  });

  test('links an approved write to its approval, and lists its other writes', async () => {
    const music = await openMusic(maker, allow);
    await music.permit({ '*': { ...all, approval: { edit: 'ask-person' } } });
    const { approve } = (await music.call('update', call)) as { approve: string };
    const path = new URL(approve).pathname.replace(/^.*(?=\/approvals\/)/, '');
    const { press, open } = await music.page(music.clerk, path);
    await press('approve');
    await music.call('update', call);
    const entry = (await music.written()).find(({ action }) => action === 'update')!;
    const shown = await open(`/activity/${entry.id}`);
    expect(shown.html).toContain(`${path}"`);
    expect(wordsOf(shown)).toContain('albums: 1 updated (relation): 1');
    const effects = [{ collection: 'albums', change: 'updated', cause: 'relation', count: 1, ids: ['1'] }];
    const { data } = await overApi(music);
    expect(data.find(({ action, type }) => action === 'update' && type === 'write')).toMatchObject({
      call: { approvalId: path.split('/').at(-1), effects },
    });
  });

  test("records a download of an action's file, and no HEAD request", async () => {
    const music = await openMusic(maker, (agent) =>
      agent.customizeCollection('tracks', (tracks) =>
        tracks.addAction('Print', {
          scope: 'Single',
          generateFile: true,
          execute: (_, result) => result.file('paper', 'a.txt', 'text/plain'),
        }),
      ),
    );
    const args = { collectionName: 'tracks', actionName: 'Print', recordIds: ['1'] };
    const { url } = (await music.call('executeAction', args)) as { url: string };
    await fetch(url, { method: 'HEAD' });
    expect(await (await fetch(url)).text()).toBe('paper');
    await music.store.activity.flush();
    const { id: userId } = (await music.store.identity.findUserByEmail(music.clerk.email))!;
    expect(await music.store.activity.search({ action: 'openFile', limit: 10 })).toMatchObject([
      { userId, type: 'read', collection: 'tracks', outcome: 'completed', team: expect.any(String) },
    ]);
  });
});
