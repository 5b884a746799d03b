// A server over tracks, albums and artists, with an assistant of a clerk. Tests use it for writes beyond the records
// that a call names.
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { LoggedActivity } from '../../src/store/audit/activity-types.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { TestServer as Maker, TestDatabase } from '../databases.ts';
import { type Account, createBrowser, type Page } from '../oauth/flow.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { callTool } from './call.ts';

const keys = {
  sqlite: 'INTEGER PRIMARY KEY',
  mariadb: 'INTEGER AUTO_INCREMENT PRIMARY KEY',
  postgres: 'SERIAL PRIMARY KEY',
} as const;

const statements = (key: string): string[] => [
  `CREATE TABLE artists (id ${key}, name VARCHAR(40) NOT NULL, secret VARCHAR(40))`,
  `CREATE TABLE albums (id ${key}, title VARCHAR(40) NOT NULL, artist_id INTEGER REFERENCES artists(id))`,
  `CREATE TABLE tracks (id ${key}, name VARCHAR(40) NOT NULL, album_id INTEGER REFERENCES albums(id))`,
  `CREATE TABLE playlists (id ${key}, name VARCHAR(40) NOT NULL)`,
  'CREATE TABLE playlist_track (playlist_id INTEGER NOT NULL REFERENCES playlists(id), track_id INTEGER NOT NULL REFERENCES tracks(id), PRIMARY KEY (playlist_id, track_id))',
  `CREATE TABLE notes (id ${key}, body VARCHAR(80) NOT NULL)`,
  "INSERT INTO artists (name, secret) VALUES ('Ada', 'x'), ('Bo', 'y')",
  "INSERT INTO albums (title, artist_id) VALUES ('One', 1), ('Two', 2), ('None', NULL)",
  "INSERT INTO tracks (name, album_id) VALUES ('a', 1), ('b', 1), ('c', 2), ('d', NULL)",
  "INSERT INTO playlists (name) VALUES ('mine')",
  'INSERT INTO playlist_track VALUES (1, 3)',
];

export interface Music extends TestServer {
  readonly database: TestDatabase;
  readonly clerk: Account;
  /** The answer as JSON, or the text of an error. */
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  rows(table: string): Promise<unknown[]>;
  /** Activity log entries of writes, newest first. */
  written(): Promise<readonly LoggedActivity[]>;
  run(...sql: string[]): Promise<void>;
  permit(collections: Readonly<Record<string, CollectionPermission>>): Promise<void>;
  /** The console page as the signed-in user sees it. */
  page(
    account: Account,
    path: string,
  ): Promise<{ readonly page: Page; press(button: string): Promise<Page>; open(path: string): Promise<Page> }>;
}

export const all: CollectionPermission = {
  browse: true,
  read: true,
  edit: true,
  add: true,
  delete: true,
  export: true,
};

type AtEnd = (end: () => Promise<void>) => void;

/** Closes at the end of the test, or as `atEnd` schedules it. */
export async function openMusic(
  maker: Maker,
  customize?: (agent: HeadlessAgent) => void,
  atEnd?: AtEnd,
): Promise<Music> {
  return openTables(maker, statements(keys[maker.dialect]), customize, atEnd);
}

/** Shares one server between all tests of a group. Call it in their `describe`. */
export function shareMusic(maker: Maker, customize: (agent: HeadlessAgent) => void): () => Music {
  const ends: (() => Promise<void>)[] = [];
  let music: Music;
  beforeAll(async () => {
    music = await openMusic(maker, customize, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => music;
}

/** The same server over other tables. */
export async function openTables(
  maker: Maker,
  tables: readonly string[],
  customize?: (agent: HeadlessAgent) => void,
  atEnd: AtEnd = onTestFinished,
  { env = {}, app = {} }: Pick<TestServerOptions, 'env' | 'app'> = {},
): Promise<Music> {
  const database = await maker.create();
  atEnd(() => database.drop());
  await runSql(database, tables);
  const server = await startServer({
    database: database.url,
    env: { SERVICE_AGENT_ORIGINS: frontOrigin, ...env },
    app: { ...app, ...(customize && { customize }) },
  });
  atEnd(() => server.stop());
  const permit: Music['permit'] = (collections) => server.store.permissions.setRole('Clerk', collections);
  await permit({ '*': all });
  const clerk = await server.addUser({ email: 'kim@example.test', role: 'Clerk' });
  const { id } = (await server.store.identity.findUserByEmail(clerk.email))!;
  const scopes = ['mcp:read', 'mcp:write', 'mcp:action'] as const;
  const { secret } = await server.store.tokens.create({ userId: id, name: 'assistant', scopes: [...scopes] });
  return {
    ...server,
    ...{ database, clerk, permit },
    async call(name, args) {
      const answer = await callTool(server.mcpUrl, secret, name, args);
      return 'json' in answer ? answer.json : 'error' in answer ? answer.error : answer;
    },
    rows: async (table) =>
      (await askSql(database, `SELECT * FROM ${table} ORDER BY 1, 2`)).map((row) => Object.values(row).join(' ')),
    written: () => server.store.activity.search({ type: 'write', limit: 10 }),
    run: (...sql) => runSql(database, sql),
    async page(account, path) {
      const browser = createBrowser();
      const page = await browser.press(await browser.open(server.consoleUrl + path), 'sign-in', { ...account });
      return {
        page,
        press: (button) => browser.press(page, button),
        open: (other) => browser.open(server.consoleUrl + other),
      };
    },
  };
}

/** The visible text of a page. */
export const wordsOf = (page: Page): string =>
  page.html
    .replace(/^.*<main/s, '<main')
    .replace(/<(style|svg|script).*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
