// A row scope that the database cannot evaluate is read-only for every kind of write. Start-up, the console and `roles
// push` report it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { RightAtLine } from '../../src/cli/roles/read.ts';
import { checkNames } from '../../src/cli/roles/served-names.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openEngineOver } from '../../src/server/data.ts';
import { servers } from '../databases.ts';
import { createBrowser, type Page } from '../oauth/flow.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { startServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { openHttp } from './callers.ts';
import { all, openMusic, openTables, shareMusic, wordsOf } from './music.ts';

const customize = (agent: HeadlessAgent) => {
  agent.customizeCollection('albums', (albums) =>
    albums
      .addField('size', {
        columnType: 'String',
        dependencies: ['title'],
        getValues: (records) => records.map(({ title }) => (String(title).length > 2 ? 'long' : 'short')),
      })
      .emulateFieldFiltering('size')
      .addAction('Rename', {
        scope: 'Single',
        execute: async ({ collection, filter }) => void (await collection.update(filter, { title: 'New' })),
      }),
  );
  agent.customizeCollection('tracks', (tracks) => tracks.allowNestedWrites('album'));
  agent.addWorkflow({
    ...{ name: 'changes', collection: 'albums' },
    steps: [{ id: 'it', type: 'update-record', mode: 'automatic', values: { title: 'New' } }],
  });
};
const scope = { field: 'size', operator: 'Equal', value: 'long' } as const;
const albumTables = [
  'CREATE TABLE albums (id INTEGER PRIMARY KEY, title VARCHAR(40))',
  'CREATE TABLE tracks (id INTEGER PRIMARY KEY, album_id INTEGER REFERENCES albums(id))',
];
const named = /^FORBIDDEN: .*'size'/;

describe('a write under such a scope', () => {
  const shared = shareMusic(servers[0]!, customize);
  const open = async () => {
    await shared().store.permissions.setScope('Operations', 'albums', scope);
    return shared();
  };

  test('is refused in tools, also in a dry run, while records can be read', async () => {
    const music = await open();
    const before = await music.rows('albums');
    expect(await music.call('list', { collectionName: 'albums', fields: ['id'] })).toMatchObject({
      rows: [[1], [2], [3]],
    });
    const at = { collectionName: 'albums' };
    for (const dryRun of [true, false]) {
      const attributes = { title: 'New' };
      for (const [name, args] of [
        ['create', { ...at, attributes }],
        ['update', { ...at, recordId: '1', attributes }],
        ['delete', { ...at, recordIds: ['3'] }],
        ['executeAction', { ...at, actionName: 'Rename', recordIds: ['1'] }],
        ['update', { collectionName: 'tracks', recordId: '1', attributes: { 'album:title': 'New' } }],
        ['associate', { collectionName: 'artists', relationName: 'albums', parentRecordId: '1', targetRecordId: '2' }],
      ] as const)
        expect(await music.call(name, { ...args, dryRun }), name).toMatch(named);
    }
    expect(await music.rows('albums')).toEqual(before);
  });

  test('is refused over the HTTP API and in a workflow step', async () => {
    const music = await open();
    const before = await music.rows('albums');
    const http = await openHttp(music);
    const data = { type: 'albums', attributes: { title: 'New' } };
    for (const answer of [
      await http.ask('PUT', '/albums/1', { data: { ...data, id: '1' } }),
      await http.ask('POST', '/albums', { data }),
      await http.ask('DELETE', '/albums/3'),
      await http.execute('albums', 'Rename', ['1']),
    ])
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([403, expect.stringContaining("'size'")]);
    const { rows } = (await music.call('listWorkflows', {})) as { readonly rows: readonly (readonly string[])[] };
    const started = (await music.call('triggerWorkflow', { workflowId: rows[0]![0], recordId: '1' })) as object;
    await expect
      .poll(() => music.call('getWorkflowRun', { runId: (started as { runId: string }).runId }), { timeout: 20_000 })
      .toMatchObject({ state: 'failed', failure: { code: 'FORBIDDEN' } });
    expect(await music.rows('albums')).toEqual(before);
  });
});

test.each<[string, object]>([
  ['under Not', { aggregator: 'Not', conditions: [scope] }],
  [
    'under Not and Or',
    {
      aggregator: 'Or',
      conditions: [
        { field: 'id', operator: 'Equal', value: 1 },
        { aggregator: 'Not', conditions: [scope] },
      ],
    },
  ],
  ['beside a stored field', { aggregator: 'And', conditions: [{ field: 'id', operator: 'Present' }, scope] }],
  ['negated by its operator', { field: 'size', operator: 'NotEqual', value: 'short' }],
  ['of related records', { some: 'tracks', where: { field: 'album:size', operator: 'Equal', value: 'long' } }],
  ['of no related record', { none: 'tracks', where: { field: 'album:size', operator: 'Equal', value: 'long' } }],
])('a scope by code %s is read-only too', async (_, filter) => {
  const music = await openTables(
    servers[0]!,
    [...albumTables, "INSERT INTO albums VALUES (1, 'One'), (2, 'B')"],
    customize,
  );
  await music.store.permissions.setScope('Operations', 'albums', filter);
  const before = await music.rows('albums');
  expect(await music.call('list', { collectionName: 'albums', fields: ['id'] })).toHaveProperty('rows');
  const at = { collectionName: 'albums' };
  for (const [name, args] of [
    ['create', { attributes: { title: 'New' } }],
    ['update', { recordId: '1', attributes: { title: 'New' } }],
    ['delete', { recordIds: ['2'] }],
    ['executeAction', { actionName: 'Rename', recordIds: ['1'] }],
  ] as const)
    expect(await music.call(name, { ...at, ...args }), name).toMatch(/^FORBIDDEN: .*size'/);
  expect(await music.rows('albums')).toEqual(before);
});

test('a delete that would cascade to such records is refused', async () => {
  const tables = [
    'CREATE TABLE artists (id INTEGER PRIMARY KEY, name VARCHAR(40))',
    'CREATE TABLE albums (id INTEGER PRIMARY KEY, title VARCHAR(40), artist_id INTEGER REFERENCES artists(id) ON DELETE CASCADE)',
    'CREATE TABLE tracks (id INTEGER PRIMARY KEY, album_id INTEGER REFERENCES albums(id))',
    "INSERT INTO artists VALUES (1, 'Ada'), (2, 'Bo')",
    "INSERT INTO albums VALUES (1, 'One', 1)",
  ];
  const music = await openTables(servers[0]!, tables, customize);
  await music.store.permissions.setScope('Operations', 'albums', scope);
  const remove = (id: string) => music.call('delete', { collectionName: 'artists', recordIds: [id] });
  expect(await remove('1')).toMatch(/^FORBIDDEN: .*'albums', and cannot evaluate 'size'/);
  expect(await remove('2')).toMatchObject({ count: 1 });
  expect(await music.rows('albums')).toEqual(['1 One 1']);
});

const textOf = (page: Page) => wordsOf(page).replaceAll('&#39;', "'");
const text = "Team 'Operations' can only read 'albums'. The database cannot evaluate 'size' of its row scope";

test('the console warns before such a scope is saved, and on its page if a role may write', async () => {
  const music = await openMusic(servers[0]!, customize);
  const browser = createBrowser();
  const address = `${music.consoleUrl}/teams/Operations/albums`;
  const page = await browser.press(await browser.open(address), 'sign-in', { ...music.account });
  const review = await browser.press(await browser.press(page, 'json'), 'review', { filter: JSON.stringify(scope) });
  expect(textOf(review)).toContain(text);
  await music.store.permissions.setScope('Operations', 'albums', scope);
  expect(textOf(await browser.open(address))).toContain(text);
  const reads = { ...all, edit: false, add: false, delete: false };
  await music.store.permissions.setRole('Administrator', { '*': reads });
  await music.permit({ '*': reads });
  expect(textOf(await browser.open(address))).not.toContain('can only read');
});

test('the start logs a warning', async () => {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  const folder = mkdtempSync(join(tmpdir(), 'portico-scopes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await runSql(database, albumTables);
  const env = { SERVICE_STORAGE_URL: `sqlite:${folder}/storage.db`, SERVICE_AGENT_ORIGINS: frontOrigin };
  const start = async (account?: { email: string; password: string }) => {
    const server = await startServer({ database: database.url, env, app: { customize }, ...(account && { account }) });
    onTestFinished(() => server.stop());
    return server;
  };
  const first = await start();
  await first.store.permissions.setRole('Clerk', { '*': all });
  await first.store.permissions.setScope('Operations', 'albums', scope);
  const second = await start(first.account);
  await expect
    .poll(() => second.observed.flatMap((one) => (one.type === 'warning' ? [one.message] : [])), { timeout: 20_000 })
    .toContainEqual(expect.stringContaining(text));
});

test('`roles push` warns with the line of the file', async () => {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(database, albumTables);
  const line = (kind: 'scope' | 'permission', path: readonly string[], value: unknown, at: number) =>
    ({ kind, path, value, line: at, column: 1 }) as RightAtLine;
  const rights = [
    line('permission', ['Clerk', 'Production', '*'], all, 3),
    line('scope', ['South', 'Production', 'albums'], scope, 7),
    line('scope', ['North', 'Production', 'albums'], { field: 'title', operator: 'Equal', value: 'One' }, 8),
  ];
  const engine = await openEngineOver(
    loadConfig({ env: { SERVICE_DATABASE_URL: database.url } }),
    customize as never,
  )({
    ...{ observe: () => undefined, clock: systemClock },
    limits: { pageSizeLimit: 1000, queryTimeoutMs: 30_000 },
  });
  onTestFinished(() => engine.close());
  const found = checkNames(rights, { engine, file: 'roles.yaml', environment: 'Production' });
  expect(found.readOnly).toEqual([
    `roles.yaml:7: ${text.replace('Operations', 'South')}, so writes are refused. These roles have write permission there: Clerk.`,
  ]);
});
