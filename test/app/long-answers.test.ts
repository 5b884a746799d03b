// A streamed answer ends when its reader loses the right to it. Later pages are not read, and the connection is cut, so
// the file does not look complete.

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { ApplicationToken } from '../../src/store/oauth/token-types.ts';
import { servers } from '../databases.ts';
import { sessionToken } from '../rest/front-end.ts';
import { all, type Music, openTables } from './music.ts';

const ROWS = 12_000;
const page = 1000;

const tables = {
  sqlite: `INSERT INTO things WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT i, hex(zeroblob(1500)) FROM n`,
  mariadb: `INSERT INTO things SELECT seq, repeat('0', 3000) FROM seq_1_to_${ROWS}`,
  postgres: `INSERT INTO things SELECT i, repeat('0', 3000) FROM generate_series(1, ${ROWS}) i`,
} as const;

async function open(url: string, token: string): Promise<IncomingMessage> {
  const request = get(url, { headers: { authorization: `Bearer ${token}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Counts the remaining lines, and checks whether the answer is complete. */
async function drain(response: IncomingMessage): Promise<{ readonly lines: number; readonly isWhole: boolean }> {
  let lines = 0;
  response.on('data', (bytes: Buffer) => {
    for (const byte of bytes) if (byte === 10) lines++;
  });
  response.on('error', () => undefined);
  await new Promise((resolve) => response.once('close', resolve));
  return { lines, isWhole: response.complete };
}

const ways: Readonly<Record<string, (music: Music) => Promise<unknown>>> = {
  async disabled({ store, clerk }) {
    await store.identity.setDisabled((await store.identity.findUserByEmail(clerk.email))!.id, true);
  },
  'right to export taken': ({ permit }) => permit({ '*': { ...all, export: false } }),
  'collection hidden': ({ permit }) => permit({ '*': { ...all, browse: false } }),
};

test.each(servers)(
  '$dialect: an export stops when its reader loses the permission',
  { timeout: 120_000 },
  async (maker) => {
    for (const take of Object.values(ways)) {
      const ends: (() => Promise<void>)[] = [];
      onTestFinished(async () => {
        for (const end of ends) await end();
      });
      const music = await openTables(
        maker,
        ['CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, body VARCHAR(4000) NOT NULL)', tables[maker.dialect]],
        undefined,
        (end) => ends.unshift(end),
      );
      const token = await sessionToken(music.apiUrl, music.clerk);
      const response = await open(`${music.apiUrl}/things.csv?fields[things]=id,body`, token);
      expect(response.statusCode).toBe(200);
      await once(response, 'readable');
      await take(music);
      const { lines, isWhole } = await drain(response);
      // Rights are checked again for each page, so the current page and the next one may still be sent.
      expect({ lines: lines <= 4 * page, isWhole }).toEqual({ lines: true, isWhole: false });
      await music.store.activity.flush();
      const [entry] = (await music.store.activity.list({ limit: 3 })).filter(({ action }) => action === 'export');
      expect(entry).toMatchObject({ outcome: expect.stringMatching(/denied|failed/) });
    }
  },
);

/** Exports the log, and takes the right while it is read. */
async function exportLog(
  take: (store: Music['store'], made: { readonly token: ApplicationToken }) => Promise<unknown>,
) {
  const music = await openTables(servers[0]!, ['CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY)']);
  const { id } = (await music.store.identity.findUserByEmail(music.account.email))!;
  for (let at = 0; at < 9000; at++)
    music.store.activity.record({
      ...{
        userId: id,
        renderingId: 1,
        collection: `things ${'x'.repeat(200)}`,
        clientId: 'c'.repeat(900),
        clientName: 'n'.repeat(900),
        action: 'list',
      },
      ...{ type: 'read', outcome: 'completed', startedAt: at, durationMs: 1 },
    });
  await music.store.activity.flush();
  const reader = await music.store.identity.addUser({ email: 'reader@example.com', level: 'admin' });
  const asked = { userId: reader.id, name: 'log', scopes: ['activity_logs:read'] };
  const made = await music.store.tokens.create(asked);
  const { project, environment } = await music.store.identity.place();
  const logs = `/v1/project/${encodeURIComponent(project)}/environment/${environment}/activity-logs/export`;
  const response = await open(music.mcpUrl.replace(/\/mcp$/, logs), made.secret);
  expect(response.statusCode).toBe(200);
  await once(response, 'readable');
  await take(music.store, made);
  const { lines, isWhole } = await drain(response);
  expect({ lines: lines < 8000, isWhole }).toEqual({ lines: true, isWhole: false });
}

test('an export of the log stops when its token is revoked', () =>
  exportLog((store, { token }) => store.tokens.revoke(token.id)));

test('an export of the log stops when its user loses the Admin role', () =>
  exportLog((store, { token }) => store.members.change(token.userId, { level: 'developer' })));
