// The SQLite that is part of Node (node:sqlite), behind the part of better-sqlite3's interface that knex and Portico use.
//
// Differences from the native driver: a missing parameter is NULL, not an error. Versions that cut text at a NUL
// character when they read it (Node 22) reject such text when it is bound.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Connection, type ConnectionOptions } from './connection.ts';
import { NodeStatement, type RawStatement, withErrorCode } from './node-statement.ts';

interface RawDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  function(name: string, options: object, run: (...values: never[]) => unknown): void;
  close(): void;
}
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: object) => RawDatabase;
  readonly StatementSync: { readonly prototype: object };
}

/** Absent before Node 22.13; rows as arrays and the description of columns came with later versions of Node 22. */
const needed: readonly (keyof RawStatement)[] = ['columns', 'iterate', 'setReturnArrays'];
const require = createRequire(import.meta.url);
let nodeModule: NodeSqlite | undefined;
let cutsText = false;

/** Throws when this Node has no SQLite, or one that lacks what is needed. */
export function loadNodeSqlite(): typeof NodeDatabase {
  if (!nodeModule) {
    const found = loadQuietly();
    const missing = needed.filter((name) => !(name in found.StatementSync.prototype));
    if (missing.length > 0) throw new Error(`node:sqlite has no ${missing.join(', ')}`);
    nodeModule = found;
    const probe = new NodeDatabase(':memory:');
    cutsText = String(probe.prepare("SELECT 'a' || char(0) || 'b'").pluck().get()).length !== 3;
    probe.close();
  }
  return NodeDatabase;
}

/** Node 22 warns on standard error that the module is experimental. The log says which driver is in use. */
function loadQuietly(): NodeSqlite {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return require('node:sqlite') as NodeSqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
}

class NodeDatabase extends Connection<NodeStatement> {
  readonly name: string;
  readonly readonly: boolean;
  readonly memory: boolean;
  readonly #raw: RawDatabase;
  #safe = false;

  constructor(path: string, options: ConnectionOptions = {}) {
    super();
    this.name = path;
    this.readonly = options.readonly ?? false;
    this.memory = path === '' || path === ':memory:';
    if (options.fileMustExist && !this.memory && !existsSync(path)) {
      throw Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' });
    }
    this.#raw = withErrorCode(
      () => new nodeModule!.DatabaseSync(path, { readOnly: this.readonly, allowExtension: false, defensive: true }),
    );
    this.#raw.exec(`PRAGMA busy_timeout = ${options.timeout ?? 5000}`);
  }

  get open(): boolean {
    return this.#raw.isOpen;
  }

  override get inTransaction(): boolean {
    return this.#raw.isOpen && this.#raw.isTransaction;
  }

  override prepare(sql: string): NodeStatement {
    const raw = withErrorCode(() => this.#raw.prepare(sql));
    return new NodeStatement(this, raw, { source: sql, safe: this.#safe, rejectsNul: cutsText });
  }

  override exec(sql: string): this {
    withErrorCode(() => this.#raw.exec(sql));
    return this;
  }

  function(name: string, options: object, run: (...values: never[]) => unknown): this {
    this.#raw.function(name, options, run);
    return this;
  }

  defaultSafeIntegers(on = true): this {
    this.#safe = on;
    return this;
  }

  close(): this {
    if (this.open) this.#raw.close();
    return this;
  }
}
