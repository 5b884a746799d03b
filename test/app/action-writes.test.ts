// The answer and the activity log list every record that action code writes through Portico. This holds for every way
// to execute the action, and when the action fails afterwards.
import { describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { servers } from '../databases.ts';
import { openHttp } from './callers.ts';
import { all, type Music, shareMusic } from './music.ts';

const customize = (agent: HeadlessAgent) => {
  agent.customizeCollection('albums', (albums) =>
    albums
      .addAction('Rename', {
        scope: 'Single',
        async execute({ collection, filter }) {
          await collection.update(filter, { title: 'New' });
        },
      })
      .addAction('Tidy', {
        scope: 'Global',
        async execute({ collection }, result) {
          await collection.create([{ title: 'Six', 'artist:name': 'Cy' }]);
          await collection.update({ conditionTree: { field: 'id', operator: 'In', value: [1, 2] } }, { title: 'Both' });
          await collection.delete({ conditionTree: { field: 'title', operator: 'Equal', value: 'None' } });
          return result.success('Tidied');
        },
      })
      .addAction('Break', {
        scope: 'Single',
        async execute({ collection, filter }) {
          await collection.update(filter, { title: 'Half' });
          throw new Error('no more');
        },
      })
      .addAction('Refuse', {
        scope: 'Single',
        async execute({ collection, filter }, result) {
          await collection.update(filter, { title: 'Half' });
          return result.error('Not today');
        },
      }),
  );
};

const effect = (change: string, ids: readonly string[], collection = 'albums') => ({
  ...{ collection, change, cause: 'code', count: ids.length, ids },
});
const renamed = (title: string) => ({
  ...effect('updated', ['1']),
  changes: [{ id: '1', fields: { title: { before: 'One', after: title } } }],
});
const lastOf = async (music: Music) => (await music.written())[0];

describe.each(servers)('$dialect', (maker) => {
  const shared = shareMusic(maker, (agent) => {
    customize(agent);
    agent.addWorkflow({
      ...{ name: 'renames', collection: 'albums' },
      steps: [{ id: 'it', type: 'trigger-action', mode: 'automatic', action: 'Rename' }],
    });
  });
  /** Resets the albums to their initial rows. */
  const open = async () => {
    await shared().run(
      "UPDATE albums SET title = 'One' WHERE id = 1",
      "UPDATE albums SET title = 'Two' WHERE id = 2",
      'DELETE FROM albums WHERE id > 2',
      "INSERT INTO albums (id, title) VALUES (3, 'None')",
    );
    await shared().permit({ '*': all });
    return shared();
  };

  test('over MCP, the answer has the values before and after, and the log has the ids', async () => {
    const music = await open();
    const answer = await music.call('executeAction', {
      ...{ collectionName: 'albums', actionName: 'Rename', recordIds: ['1'] },
    });
    const { ids, ...told } = renamed('New');
    expect(answer).toEqual({ result: 'success', message: 'Success', alsoWritten: [told] });
    expect(await lastOf(music)).toMatchObject({
      ...{ action: 'executeAction', recordIds: ['1'], outcome: 'completed', effects: [effect('updated', ['1'])] },
    });
  });

  test('over MCP, the answer and the log list creates, updates and deletes in several collections', async () => {
    const music = await open();
    const answer = await music.call('executeAction', { collectionName: 'albums', actionName: 'Tidy' });
    const [album, artist] = ['4', '3'];
    expect(answer).toMatchObject({ message: 'Tidied' });
    const { alsoWritten } = answer as { readonly alsoWritten: readonly Record<string, unknown>[] };
    const kinds = alsoWritten.map(({ collection, change, count, changes }) => [
      ...[collection, change, count],
      (changes as { id: string }[]).map(({ id }) => id),
    ]);
    expect(kinds.sort()).toEqual([
      ['albums', 'created', 1, [album]],
      ['albums', 'deleted', 1, ['3']],
      ['albums', 'updated', 2, ['1', '2']],
      ['artists', 'created', 1, [artist]],
    ]);
    const { effects = [] } = (await lastOf(music))!;
    expect(effects).toHaveLength(4);
    expect(effects).toEqual(
      expect.arrayContaining([
        effect('created', [album]),
        effect('created', [artist], 'artists'),
        effect('updated', ['1', '2']),
        effect('deleted', ['3']),
      ]),
    );
  });

  test('the answer omits the name of a collection that the caller may not see', async () => {
    const music = await open();
    await music.permit({ albums: { ...all, actions: { '*': { trigger: true } } } });
    const answer = await music.call('executeAction', { collectionName: 'albums', actionName: 'Tidy' });
    expect(answer).toMatchObject({
      alsoWritten: expect.arrayContaining([{ collection: null, change: 'created', cause: 'code', count: 1 }]),
    });
  });

  test.each([
    ['Break', 'ACTION_FAILED', 'failed'],
    ['Refuse', 'ACTION_REFUSED', 'failed'],
  ])(
    'writes that a failed action leaves behind are in the error and the log: %s',
    async (actionName, code, outcome) => {
      const music = await open();
      const call = { collectionName: 'albums', actionName, recordIds: ['1'] };
      const text = String(await music.call('executeAction', call));
      expect(text).toMatch(new RegExp(`^${code}`));
      expect(text).toContain('Written before the error, and not rolled back: 1 record of albums updated (1).');
      expect(await lastOf(music)).toMatchObject({ outcome, code, effects: [effect('updated', ['1'])] });
      const http = await openHttp(music);
      const other = await http.execute('albums', actionName, ['2']);
      expect(JSON.stringify(other.body)).toContain('"alsoWritten":[{"collection":"albums","change":"updated"');
      expect(await lastOf(music)).toMatchObject({ outcome, code, effects: [effect('updated', ['2'])] });
    },
  );

  test('over the HTTP API, the answer and the log list the writes', async () => {
    const music = await open();
    const http = await openHttp(music);
    const { status, body } = await http.execute('albums', 'Rename', ['1']);
    expect([status, body]).toMatchObject([200, { success: 'Success', meta: { alsoWritten: [renamed('New')] } }]);
    expect(await lastOf(music)).toMatchObject({ recordIds: ['1'], effects: [effect('updated', ['1'])] });
  });

  test('in a workflow step, the log lists the writes', async () => {
    const music = await open();
    const { rows } = (await music.call('listWorkflows', {})) as { readonly rows: readonly (readonly string[])[] };
    await music.call('triggerWorkflow', { workflowId: rows[0]![0], recordId: '1' });
    const entryOf = async () => (await music.written()).find(({ action }) => action === 'action');
    await expect
      .poll(entryOf, { timeout: 20_000 })
      .toMatchObject({ outcome: 'completed', effects: [effect('updated', ['1'])] });
  });
});
