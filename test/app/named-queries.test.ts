// A named query on the wire: tools and the HTTP API take its parameters as filters. A row scope that it would not apply
// prevents the start.
import { expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { refuseUnscopedQueries } from '../../src/server/agent/query-scopes.ts';
import { servers } from '../databases.ts';
import { openHttp } from './callers.ts';
import { openMusic } from './music.ts';

const customize = (agent: HeadlessAgent) =>
  void agent.addQuery('long_albums', {
    sql: 'select a.artist_id, a.title, count(t.id) as tracks from albums a left join tracks t on t.album_id = a.id group by a.artist_id, a.title having count(t.id) >= :least',
    parameters: { least: { type: 'Number' } },
    rowScope: { artists: 'artist_id' },
    ignoreRowScopes: ['tracks'],
  });

const filters = { field: 'least', operator: 'Equal', value: 1 };

test('tools and the HTTP API take the parameters of a query as filters', async () => {
  const music = await openMusic(servers[0]!, customize);
  const of = { collectionName: 'long_albums' };
  expect(await music.call('describeCollection', of)).toMatchObject({
    kind: 'view',
    fields: { artist_id: 'Number?', title: 'String?', tracks: 'Number?', least: 'Number parameter!' },
    parameters: 'send in filters with Equal; ! needed',
    relations: { artist: 'one artists' },
  });
  expect(await music.call('list', { ...of, fields: ['artist:name', 'title', 'tracks'], filters })).toMatchObject({
    rows: [
      ['Ada', 'One', 2],
      ['Bo', 'Two', 1],
    ],
  });
  const measures = { all: { sum: 'tracks' } };
  expect(await music.call('aggregate', { ...of, measures, filters })).toMatchObject({ rows: [[3]] });
  expect(await music.call('aggregate', { ...of, measures })).toBe(
    `INVALID_ARGUMENT: filter: 'long_albums' needs its parameter 'least'. Send it in the filters with Equal, and other conditions beside it with And, such as {"field":"least","operator":"Equal","value":1}.`,
  );
  const http = await openHttp(music);
  const query = new URLSearchParams({ filters: JSON.stringify({ field: 'least', operator: 'equal', value: 2 }) });
  const listed = await http.ask('GET', `/long_albums?${query}`);
  expect(listed.status).toBe(200);
  expect(JSON.stringify(listed.body)).toContain('One');
  expect(JSON.stringify(listed.body)).not.toContain('Two');
  expect((await http.ask('GET', '/long_albums')).status).toBe(400);
});

test('a row scope that the query cannot apply prevents the start, and hides the query if it is added later', async () => {
  const music = await openMusic(servers[0]!, customize);
  await refuseUnscopedQueries(music.store, music.engine, { serverUrl: null });
  await music.store.permissions.setScope('Operations', 'albums', { field: 'id', operator: 'Equal', value: 1 });
  await expect(refuseUnscopedQueries(music.store, music.engine, { serverUrl: null })).rejects.toThrow(
    "addQuery('long_albums') reads 'albums', of which team 'Operations' has a row scope. Add rowScope: { albums:",
  );
  expect(await music.call('list', { collectionName: 'long_albums', filters })).toMatch(/^UNKNOWN_COLLECTION/);
});
