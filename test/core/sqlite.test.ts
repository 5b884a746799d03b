import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knex from 'knex';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Observation } from '../../src/core/observe.ts';
import { loadSqliteDriver, reportDriver, type SqliteConnection } from '../../src/core/sqlite.ts';
import { createKnexClient } from '../../src/store/database/sqlite-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-sqlite-'));
let files = 0;
const newFile = (): string => join(folder, `${++files}.sqlite`);
const opened: SqliteConnection[] = [];
afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
});
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const kinds = (['native', 'node', 'wasm'] as const).filter((kind) => {
  try {
    return loadSqliteDriver(kind).kind === kind;
  } catch {
    return false;
  }
});
const isNative = kinds[0] === 'native';
if (!isNative) console.warn('\n*** NO NATIVE SQLITE DRIVER: only the others are tested.\n');

describe.each(kinds)('the %s driver', (wish) => {
  const { driver: Driver, kind } = loadSqliteDriver(wish);
  const open = (path: string, options = {}): SqliteConnection => {
    const connection = new Driver(path, options);
    opened.push(connection);
    return connection;
  };

  test('the requested driver is loaded', () => {
    expect(kind).toBe(wish);
  });

  test('values are read as they were bound', () => {
    const db = open(':memory:');
    db.exec('CREATE TABLE t (a)');
    const values = [1, 1.5, -(2 ** 40), 'é 🎩', '', null, Buffer.from([0, 1, 255]), Buffer.alloc(0), 2n ** 40n];
    const insert = db.prepare('INSERT INTO t VALUES (?)');

    for (const value of values) insert.run(value);

    expect(db.prepare('SELECT a FROM t').pluck().all()).toEqual([...values.slice(0, -1), 2 ** 40]);
  });

  test('big integers are exact if requested; only integers become BigInt', () => {
    const db = open(':memory:');
    const statement = db.prepare('SELECT ? AS a, 7 AS b, 2.0 AS c, 1.5 AS d').safeIntegers();

    expect(statement.get(9_007_199_254_740_993n)).toEqual({ a: 9_007_199_254_740_993n, b: 7n, c: 2, d: 1.5 });
    expect(db.prepare('SELECT 9007199254740993').pluck().get()).toBe(9_007_199_254_740_992);
  });

  test('rows are objects, lists that keep columns of one name, or single values', () => {
    const db = open(':memory:');
    const statement = db.prepare("SELECT 1 AS a, 'x' AS b, 2 AS a");

    expect([
      statement.get(),
      statement.raw().get(),
      statement.raw(false).pluck().get(),
      statement.columns().map(({ name }) => name),
      statement.reader,
    ]).toEqual([{ a: 2, b: 'x' }, [1, 'x', 2], 1, ['a', 'b', 'a'], true]);
  });

  test('parameters as a row, as a list, and by name', () => {
    const db = open(':memory:');

    expect([
      db.prepare('SELECT ? || ?').pluck().get('a', 'b'),
      db.prepare('SELECT ? || ?').pluck().get(['a', 'b']),
      db.prepare('SELECT :x || @y || $z').pluck().get({ x: 'a', y: 'b', z: 'c' }),
    ]).toEqual(['ab', 'ab', 'abc']);
  });

  test('run returns the number of changes and the last row id', () => {
    const db = open(':memory:');
    db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE)');

    expect([
      db.prepare("INSERT INTO t (a) VALUES ('x'), ('y')").run(),
      db.prepare("UPDATE t SET a = a || 'z' WHERE id = ?").run(2),
      db.prepare('DELETE FROM t WHERE id = 99').run().changes,
      db.prepare('SELECT a FROM t WHERE id = 99').get(),
    ]).toEqual([{ changes: 2, lastInsertRowid: 2 }, { changes: 1, lastInsertRowid: 2 }, 0, undefined]);
    const returning = db.prepare("INSERT INTO t (a) VALUES ('v'), ('w') RETURNING id");
    expect([returning.reader, returning.run(), returning.database === db]).toEqual([
      true,
      { changes: 2, lastInsertRowid: 4 },
      true,
    ]);
  });

  test('errors carry the codes of SQLite, and the statement can be used again', () => {
    const db = open(':memory:');
    db.exec('CREATE TABLE t (a UNIQUE NOT NULL)');
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    insert.run(1);
    const codeOf = (run: () => unknown): string => {
      try {
        run();
        return 'none';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };

    expect([
      codeOf(() => insert.run(1)),
      codeOf(() => insert.run(null)),
      codeOf(() => insert.run(2)),
      codeOf(() => db.prepare('SELEC')),
      codeOf(() => open(join(folder, 'nope.sqlite'), { fileMustExist: true })),
    ]).toEqual(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_NOTNULL', 'none', 'SQLITE_ERROR', 'SQLITE_CANTOPEN']);
  });

  test('a transaction is atomic, and so is a nested transaction', () => {
    const db = open(':memory:');
    db.exec('CREATE TABLE t (a)');
    const add = db.transaction((a: number, wrong: boolean) => {
      db.prepare('INSERT INTO t VALUES (?)').run(a);
      if (wrong) throw new Error('no');
    });
    const outer = db.transaction(() => {
      add(1, false);
      expect(() => add(2, true)).toThrow('no');
      add(3, false);
    });

    outer.immediate();
    expect(() => add(4, true)).toThrow('no');

    expect([db.prepare('SELECT a FROM t').pluck().all(), db.inTransaction]).toEqual([[1, 3], false]);
  });

  test('an unfinished read does not block other connections', () => {
    const file = newFile();
    const [one, other] = [open(file), open(file, { timeout: 0 })];
    one.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)');

    const first = one.prepare('SELECT a FROM t').pluck().get();
    for (const _ of one.prepare('SELECT a FROM t').iterate()) break;

    expect([first, other.prepare('DELETE FROM t').run().changes]).toEqual([1, 3]);
  });

  test('a writer blocks another for as long as its timeout', () => {
    const file = newFile();
    const [one, other] = [open(file), open(file, { timeout: 50 })];
    one.exec('CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)');

    expect(() => other.exec('INSERT INTO t VALUES (2)')).toThrow('database is locked');
    one.exec('COMMIT');
    expect(other.prepare('SELECT a FROM t').pluck().all()).toEqual([1]);
  });

  test('data_version changes only with commits of other connections', () => {
    const file = newFile();
    const [one, other] = [open(file), open(file)];
    one.exec('CREATE TABLE t (a)');
    const ask = () => [one, other].map((db) => db.pragma('data_version', { simple: true }) as number);

    const before = ask();
    one.exec('INSERT INTO t VALUES (1)');
    const after = ask();

    expect([after[0]! === before[0]!, after[1]! > before[1]!]).toEqual([true, true]);
  });

  test('a connection for reading refuses to write', () => {
    const file = newFile();
    open(file).exec('CREATE TABLE t (a)');

    expect(() => open(file, { readonly: true }).exec('INSERT INTO t VALUES (1)')).toThrow('readonly');
  });

  test('knex works over it, and its transactions take the write lock immediately if configured so', async () => {
    const file = newFile();
    const connection = open(file);
    const db = knex({
      client: createKnexClient({ driver: Driver, open: () => connection, immediate: true }),
      connection: { filename: file },
      useNullAsDefault: true,
    });
    await db.schema.createTable('t', (table) => {
      table.increments('id');
      table.string('name');
    });

    const locked = await db.transaction(async (trx) => {
      const [id] = await trx('t').insert({ name: 'é' });
      let message = '';
      try {
        open(file, { timeout: 0 }).exec('BEGIN IMMEDIATE');
      } catch (error) {
        message = (error as Error).message;
      }
      return [id, message];
    });

    expect([locked, await db('t').where({ name: 'é' }), await db('t').update({ name: 'x' })]).toEqual([
      [1, 'database is locked'],
      [{ id: 1, name: 'é' }],
      1,
    ]);
    await db.destroy();
  });

  test('close releases everything, and can be called twice', () => {
    const file = newFile();
    const db = open(file);
    db.exec('CREATE TABLE t (a)');
    db.prepare('SELECT a FROM t').iterate().next();

    db.close();
    db.close();

    expect([db.open, readdirSync(folder).filter((name) => name.startsWith(`${files}.`))]).toEqual([
      false,
      [`${files}.sqlite`],
    ]);
  });
});

describe('the WebAssembly driver', () => {
  const { driver: Wasm } = loadSqliteDriver('wasm');

  test('the next process removes a lock of a killed process', async () => {
    const file = newFile();
    const script = join(folder, 'killed.ts');
    const module = join(import.meta.dirname, '../../src/core/sqlite.ts');
    writeFileSync(
      script,
      `import { loadSqliteDriver } from ${JSON.stringify(module)};
const db = new (loadSqliteDriver('wasm').driver)(${JSON.stringify(file)});
db.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1); BEGIN IMMEDIATE; INSERT INTO t VALUES (2)');
process.send('locked');
setInterval(() => db.inTransaction, 1000);`,
    );
    const child = fork(script, { execArgv: ['--import', 'tsx'] });
    await once(child, 'message');
    const early = new Wasm(file, { timeout: 0 });
    expect(() => early.prepare('SELECT a FROM t').all()).toThrow('database is locked');
    early.close();

    child.kill('SIGKILL');
    await once(child, 'exit');

    const left = existsSync(`${file}.lock`);
    const db = new Wasm(file, { timeout: 0 });
    opened.push(db);
    expect([left, db.prepare('SELECT a FROM t').pluck().all()]).toEqual([true, [1]]);
  });

  test('a lock is kept while a connection of this process is open', () => {
    const file = newFile();
    const db = new Wasm(file, { timeout: 0 });
    opened.push(db);
    mkdirSync(`${file}.lock`);

    opened.push(new Wasm(file, { timeout: 0 }));

    expect(existsSync(`${file}.lock`)).toBe(true);
    rmSync(`${file}.lock`, { recursive: true });
  });

  test('it refuses what it would otherwise get wrong silently', () => {
    const db = new Wasm(':memory:');
    opened.push(db);

    expect(() => db.prepare('SELECT ?').get('a\0b')).toThrow('NUL');
    expect(() => db.prepare(Array(300).fill('SELECT 1 AS a').join(' UNION ALL '))).toThrow('UNION');
  });
});

describe('the choice of the driver', () => {
  /** Runs a process that cannot load the native package, as if its build had failed. */
  const askWithoutNative = (wish: string): string => {
    const hook = join(folder, 'no-native.cjs');
    writeFileSync(
      hook,
      `const Module = require('node:module');
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (name === 'better-sqlite3') throw new Error('not installed');
  return resolve.call(this, name, ...rest);
};`,
    );
    const module = JSON.stringify(join(import.meta.dirname, '../../src/core/sqlite.ts'));
    const script = join(folder, 'choice.ts');
    writeFileSync(
      script,
      `import { loadSqliteDriver } from ${module};
try { console.log(loadSqliteDriver(${JSON.stringify(wish)}).kind); } catch (error) { console.log(error.message); }`,
    );
    return execFileSync(process.execPath, ['--require', hook, '--import', 'tsx', script], { encoding: 'utf8' }).trim();
  };

  test.runIf(isNative)('native if it loads', () => {
    expect(loadSqliteDriver().kind).toBe('native');
  });

  const hasNode = kinds.includes('node');

  test('otherwise that of Node or WebAssembly, unless native is set explicitly', () => {
    expect([askWithoutNative('auto'), askWithoutNative('native')]).toEqual([
      hasNode ? 'node' : 'wasm',
      'SERVICE_SQLITE: the native SQLite driver cannot be loaded. Install it (npm install better-sqlite3), or set SERVICE_SQLITE to auto, node or wasm.',
    ]);
  });

  test('a package without its binary, as without a compiler, counts as missing', async () => {
    const modules = createRequire(import.meta.url)('node:module') as {
      _load(name: string, ...rest: unknown[]): unknown;
    };
    const load = modules._load;
    modules._load = (name, ...rest) => {
      if (name !== 'better-sqlite3') return load.call(modules, name, ...rest);
      return function Unbuilt() {
        throw new Error('Could not locate the bindings file.');
      };
    };
    onTestFinished(() => {
      modules._load = load;
      vi.resetModules();
    });
    vi.resetModules();
    const fresh = await import('../../src/core/sqlite.ts');
    expect(fresh.loadSqliteDriver('auto').kind).toBe(hasNode ? 'node' : 'wasm');
    expect(() => fresh.loadSqliteDriver('native')).toThrow(
      /^SERVICE_SQLITE: the native SQLite driver cannot be loaded/,
    );
  });

  test('WebAssembly is a warning in the log, the driver of Node a line, and the native driver nothing', () => {
    const observed: Observation[] = [];
    for (const kind of ['native', 'node', 'wasm'] as const) reportDriver(kind, (one) => void observed.push(one));
    expect(observed).toEqual([
      { type: 'sqlite.chosen', driver: 'node:sqlite' },
      { type: 'warning', message: expect.stringMatching(/^SQLite runs as WebAssembly: .*npm install better-sqlite3/) },
    ]);
  });

  test.runIf(!hasNode)('node is refused if the version of Node has no driver', () => {
    expect(() => loadSqliteDriver('node')).toThrow('Use Node 24, or set SERVICE_SQLITE to auto, native or wasm.');
  });
});
