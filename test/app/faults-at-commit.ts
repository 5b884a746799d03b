// Faults during writes: the served database loses a COMMIT or its answer, either database is unavailable, or another
// program locks either file. The activity log always matches the database, or says that the outcome is unknown.
import { expect } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import type { TestServer as Maker, TestDatabase } from '../databases.ts';
import { startServer } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { randomOf } from '../workflow/faults.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';
import { type Fate, openWire, type Wire } from './wire.ts';

type Ends = (() => Promise<unknown>)[];

interface Place {
  readonly url: string;
  /** Each fault ends after a pause. */
  readonly faults: readonly ((random: () => number) => Promise<void>)[];
  mend(): void;
}

const pause = (random: () => number) => systemClock.sleep(100 + random() * 400);

/** Another connection locks the file, as another process would. */
function fileOf({ url }: TestDatabase): Place {
  const { driver: Database } = loadSqliteDriver();
  return {
    url,
    mend: () => undefined,
    faults: [
      async (random) => {
        const other = new Database(url.slice('sqlite:'.length));
        for (;;)
          try {
            other.pragma('busy_timeout = 0');
            other.exec('begin exclusive');
            break;
          } catch {
            await systemClock.sleep(5);
          }
        await pause(random);
        other.exec('rollback');
        other.close();
      },
    ],
  };
}

async function wired({ url }: TestDatabase, ends: Ends, fates: readonly Fate[]): Promise<Place> {
  const through = new URL(url);
  const wire: Wire = await openWire({ host: through.hostname, port: Number(through.port) });
  ends.push(() => wire.close());
  through.port = String(wire.port);
  return {
    url: through.href,
    mend: () => wire.mend(),
    faults: [
      async (random) => {
        wire.cut();
        await pause(random);
        wire.mend();
      },
      async (random) => {
        wire.strike(fates[Math.floor(random() * fates.length)]!);
        await pause(random);
        wire.mend();
      },
    ],
  };
}

export interface Seen {
  readonly acknowledged: number;
  readonly faults: number;
  readonly unknown: number;
}

/** More than two writers change during one fault and the pause after it. */
const RECORDS_A_FAULT = 200;

/** Makes `faults` faults under two writers, and checks the log against the database. */
export async function proveFaultsAtCommit(
  maker: Maker,
  { faults, seed }: { readonly faults: number; readonly seed: number },
): Promise<Seen> {
  const random = randomOf(seed);
  const ends: Ends = [];
  try {
    const [served, kept] = [await maker.create(), await maker.create()];
    ends.push(served.drop, kept.drop);
    const records = faults * RECORDS_A_FAULT;
    await runSql(served, [
      'CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)',
      // Before the faults: a statement of the test that waits for a lock would block its release.
      `INSERT INTO things VALUES ${Array.from({ length: records }, (_, n) => `(${n + 1}, 'old')`).join(', ')}`,
    ]);
    const isFile = maker.dialect === 'sqlite';
    const data = isFile ? fileOf(served) : await wired(served, ends, ['not asked', 'not told', 'silent', 'away']);
    const storage = isFile ? fileOf(kept) : await wired(kept, ends, ['not asked', 'not told', 'away']);
    const server = await startServer({
      database: data.url,
      env: { SERVICE_STORAGE_URL: storage.url, SERVICE_QUERY_SECONDS: '2' },
    });
    ends.push(() => server.stop());
    const { token } = await signedIn(server);
    const acknowledged = new Map<number, string>();
    let next = 0;
    let isOver = false;
    const write = async (): Promise<void> => {
      while (!isOver && next < records) {
        const id = ++next;
        const name = id % 2 ? 'update' : 'delete';
        const args = {
          collectionName: 'things',
          recordIds: [String(id)],
          ...(id % 2 && { attributes: { name: 'new' } }),
        };
        const answer = await callTool(server.mcpUrl, token, name, args).catch(() => undefined);
        if (answer && 'json' in answer) acknowledged.set(id, name);
        await systemClock.sleep(10);
      }
    };
    const writers = [write(), write()];
    const all = [...data.faults, ...storage.faults];
    for (let made = 0; made < faults; made++) {
      await all[made % all.length]!(random);
      await systemClock.sleep(random() * 100);
    }
    data.mend();
    storage.mend();
    isOver = true;
    await Promise.all(writers);
    // Wait until the server has recovered.
    await expect
      .poll(() => callTool(server.mcpUrl, token, 'list', { collectionName: 'things' }), { timeout: 15_000 })
      .toHaveProperty('json');
    const rows = await askSql(served, 'SELECT id, name FROM things');
    const now = new Map(rows.map(({ id, name }) => [Number(id), String(name)]));
    const isDone = (id: number) => now.get(id) !== 'old';
    const read = async () => {
      await server.store.activity.flush();
      const entries = [...(await server.store.activity.list({ limit: 1000 }))];
      for (let page = entries; page.length === 1000; entries.push(...page))
        page = [...(await server.store.activity.list({ limit: 1000, before: page.at(-1)!.id }))];
      return entries.filter(({ type }) => type === 'write');
    };
    /** All mismatches between the log and the database. The outcome `unknown` is not one. */
    const wrong = async () => {
      const entries = await read();
      const said = new Map(entries.map(({ recordIds, outcome }) => [Number(recordIds?.[0]), outcome]));
      const found: string[] = [];
      for (const id of acknowledged.keys())
        if (said.get(id) !== 'completed') found.push(`${id} was acknowledged, its entry says ${said.get(id)}`);
      for (let id = 1; id <= next; id++) {
        const outcome = said.get(id);
        if (outcome === undefined && now.has(id) && now.get(id) === 'new')
          found.push(`${id} was written without an entry`);
        if (outcome === 'completed' && !isDone(id)) found.push(`${id} is said to be done`);
        if (outcome === 'failed' && isDone(id) && now.has(id)) found.push(`${id} is said to have failed`);
      }
      return found;
    };
    await expect.poll(wrong, { timeout: 15_000, interval: 300 }).toEqual([]);
    const unknown = (await read()).filter(({ outcome }) => outcome === 'unknown').length;
    return { acknowledged: acknowledged.size, faults, unknown };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
