// A minimum group size on the wire: tools, the HTTP API and charts show no figure of few records.
import { expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { servers } from '../databases.ts';
import { openHttp } from './callers.ts';
import { openTables } from './music.ts';

const tables = [
  'CREATE TABLE visits (id INTEGER PRIMARY KEY, ward VARCHAR(9) NOT NULL, days INTEGER NOT NULL)',
  "INSERT INTO visits VALUES (1, 'a', 1), (2, 'a', 2), (3, 'a', 3), (4, 'b', 4), (5, 'c', 5), (6, 'c', 6), (7, 'c', 7)",
];
const customize = (agent: HeadlessAgent) =>
  void agent.customizeCollection('visits', (visits) => visits.setMinGroupSize(3, { by: ['ward'] }));

const name = 'visits';

test('tools show no figures of small groups and refuse lists and writes', async () => {
  const music = await openTables(servers[0]!, tables, customize);
  const of = { collectionName: name };
  expect(await music.call('describeCollection', of)).toMatchObject({
    fields: {},
    aggregates: { of: 'at least 3 records', fields: { id: 'Number', ward: 'String', days: 'Number' }, by: ['ward'] },
  });
  const measures = { days: { sum: 'days' } };
  // The one of b would follow from the total and the others.
  expect(await music.call('aggregate', { ...of, measures, groups: ['ward'] })).toEqual({
    columns: ['ward', 'days'],
    rows: [['a', 6]],
    hasMore: false,
    note: 'Groups and figures of fewer than 3 records are not shown, nor others that would reveal them.',
  });
  expect(await music.call('aggregate', { ...of, measures })).toMatchObject({ rows: [[28]] });
  for (const [tool, args] of [
    ['list', {}],
    ['list', { filters: { field: 'id', operator: 'Equal', value: 4 } }],
    ['update', { recordId: '4', attributes: { days: 1 } }],
    ['delete', { recordIds: ['4'], dryRun: true }],
    ['create', { attributes: { id: 9, ward: 'b', days: 1 }, dryRun: true }],
  ] as const)
    expect(await music.call(tool, { ...of, ...args }), tool).toMatch(/^FORBIDDEN: .*figures of at least 3 records/);
});

test('the HTTP API, its charts and the console show no figures of small groups', async () => {
  const music = await openTables(servers[0]!, tables, customize);
  const http = await openHttp(music);
  expect((await http.ask('GET', '/visits')).status).toBe(403);
  expect((await http.ask('GET', '/visits/4')).status).toBe(403);
  expect((await http.ask('GET', '/visits.csv')).status).toBe(403);
  const chart = {
    type: 'Pie',
    sourceCollectionName: name,
    groupByFieldName: 'ward',
    aggregator: 'Sum',
    aggregateFieldName: 'days',
  };
  const drawn = await http.ask('POST', '/stats/visits', { ...chart });
  expect(drawn).toMatchObject({ status: 200 });
  expect(JSON.stringify(drawn.body)).toContain('6');
  expect(JSON.stringify(drawn.body)).not.toMatch(/"key":"[bc]"/);
  const { page } = await music.page(music.clerk, `/data/${name}`);
  expect(page.html).not.toContain('>4<');
});
