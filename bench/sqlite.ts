// The drivers of SQLite that load on this Node, beside each other. Run: npx tsx bench/sqlite.ts, and with other versions
// of Node. Rounds of all drivers alternate, and the output is the minimum of each, because the machine is never idle.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSqliteDriver, type SqliteConnection, type SqliteKind } from '../src/core/sqlite.ts';

const ROWS = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));

interface Contestant {
  readonly kind: SqliteKind;
  readonly connection: SqliteConnection;
}

function open(kind: SqliteKind): Contestant | undefined {
  try {
    const connection = new (loadSqliteDriver(kind).driver)(join(folder, `${kind}.sqlite`));
    if (kind !== 'wasm') connection.pragma('journal_mode = wal');
    connection.exec('create table orders (id integer primary key, status text, total real, note text)');
    return { kind, connection };
  } catch {
    return undefined;
  }
}

const contestants = (['native', 'node', 'wasm'] as const).flatMap((kind) => open(kind) ?? []);

const tasks: Readonly<Record<string, { readonly times: number; run(connection: SqliteConnection): void }>> = {
  'insert of a row in a transaction': {
    times: ROWS,
    run(connection) {
      connection.exec('delete from orders');
      const insert = connection.prepare('insert into orders values (?, ?, ?, ?)');
      connection.transaction(() => {
        for (let id = 0; id < ROWS; id++) insert.run(id, ['new', 'paid', 'sent'][id % 3], id / 4, `note ${id}`);
      })();
    },
  },
  'read of a row by its key': {
    times: 1000,
    run(connection) {
      const read = connection.prepare('select * from orders where id = ?').raw();
      for (let id = 0; id < 1000; id++) read.get(id);
    },
  },
  'read of 1,000 rows': {
    times: 100,
    run(connection) {
      const read = connection.prepare('select * from orders where id >= ? limit 1000').raw();
      for (let at = 0; at < 100; at++) read.all(at * 100);
    },
  },
  'sum over 20,000 rows': {
    times: 10,
    run(connection) {
      const sum = connection.prepare('select status, sum(total) from orders group by status').raw();
      for (let at = 0; at < 10; at++) sum.all();
    },
  },
};

console.log(`Node ${process.version}, microseconds`);
for (const [name, { times, run }] of Object.entries(tasks)) {
  const best: Partial<Record<SqliteKind, number>> = {};
  for (let round = 0; round < 5; round++) {
    for (const { kind, connection } of contestants) {
      const began = performance.now();
      run(connection);
      best[kind] = Math.min(best[kind] ?? Number.POSITIVE_INFINITY, ((performance.now() - began) * 1000) / times);
    }
  }
  console.log(
    name,
    Object.entries(best)
      .map(([kind, micros]) => `${kind} ${micros.toFixed(1)}`)
      .join(', '),
  );
}
for (const { connection } of contestants) connection.close();
rmSync(folder, { recursive: true });
