// Statements of the SQLite that is part of Node. It frees them when they are garbage.
import type { RunResult } from './wasm-statement.ts';

interface Column {
  readonly name: string;
  readonly column: string | null;
  readonly table: string | null;
  readonly database: string | null;
  readonly type: string | null;
}

/** `StatementSync` of node:sqlite. The declarations of the oldest supported Node do not have it. */
export interface RawStatement {
  all(...values: unknown[]): unknown[];
  get(...values: unknown[]): unknown;
  iterate(...values: unknown[]): IterableIterator<unknown>;
  run(...values: unknown[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  columns(): Column[];
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
  setAllowUnknownNamedParameters?(on: boolean): void;
}

/** The names of SQLite's result codes, as better-sqlite3 gives them. */
const primaryNames =
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(
    ' ',
  );
/** Of the extended codes, callers distinguish only these. */
const constraintNames: Readonly<Record<number, string>> = {
  275: 'CHECK',
  787: 'FOREIGNKEY',
  1299: 'NOTNULL',
  1555: 'PRIMARYKEY',
  1811: 'TRIGGER',
  2067: 'UNIQUE',
};

export function withErrorCode<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    if (errcode !== undefined) Object.assign(error as Error, { code: nameOf(errcode) });
    throw error;
  }
}

function nameOf(code: number): string {
  const constraint = constraintNames[code];
  if (constraint) return `SQLITE_CONSTRAINT_${constraint}`;
  return `SQLITE_${primaryNames[code & 0xff] ?? 'ERROR'}`;
}

interface StatementParts {
  readonly source: string;
  readonly safe: boolean;
  /** Text with a NUL character would be cut when it is read. */
  readonly rejectsNul: boolean;
}

/** A statement that can run again if its first run fails on a value. Others may write, and run with big integers. */
const onlyReads = /^\s*(?:select|pragma|values|explain)\b/i;

export class NodeStatement {
  /** The connection, for comparison. */
  readonly database: object;
  readonly source: string;
  readonly reader: boolean;
  readonly #raw: RawStatement;
  readonly #columns: readonly Column[];
  readonly #rejectsNul: boolean;
  #shape: 'object' | 'raw' | 'pluck' = 'object';
  #safe: boolean;

  constructor(database: object, raw: RawStatement, { source, safe, rejectsNul }: StatementParts) {
    this.database = database;
    this.source = source;
    this.#raw = raw;
    this.#columns = raw.columns();
    this.reader = this.#columns.length > 0;
    this.#safe = safe;
    this.#rejectsNul = rejectsNul;
    // As in better-sqlite3.
    raw.setAllowUnknownNamedParameters?.(true);
  }

  run(...values: unknown[]): RunResult {
    return withErrorCode(() => {
      this.#raw.setReadBigInts(true);
      const { changes, lastInsertRowid } = this.#raw.run(...this.#bind(values));
      return { changes: Number(changes), lastInsertRowid: this.#safe ? lastInsertRowid : Number(lastInsertRowid) };
    });
  }

  get(...values: unknown[]): unknown {
    return this.#read(values, (bound, toRow) => {
      const row = this.#raw.get(...bound);
      return row === undefined ? undefined : toRow(row);
    });
  }

  all(...values: unknown[]): unknown[] {
    return this.#read(values, (bound, toRow) => this.#raw.all(...bound).map(toRow));
  }

  *iterate(...values: unknown[]): IterableIterator<unknown> {
    this.#raw.setReadBigInts(true);
    this.#raw.setReturnArrays(this.#shape !== 'object');
    const rows = withErrorCode(() => this.#raw.iterate(...this.#bind(values)));
    try {
      for (;;) {
        const next = withErrorCode(() => rows.next());
        if (next.done) return;
        yield this.#toRow(next.value);
      }
    } finally {
      // Without it, a statement that was not read to its end would hold the lock.
      rows.return?.();
    }
  }

  raw(on = true): this {
    this.#shape = on ? 'raw' : 'object';
    return this;
  }

  pluck(on = true): this {
    this.#shape = on ? 'pluck' : 'object';
    return this;
  }

  safeIntegers(on = true): this {
    this.#safe = on;
    return this;
  }

  columns(): readonly Column[] {
    return this.#columns;
  }

  finalize(): void {
    // Nothing to do: the garbage collector frees it, and closing the connection does.
  }

  /** Integers come as numbers, which is fast, until one is too large. The native driver rounds it. */
  #read<T>(values: readonly unknown[], run: (bound: unknown[], toRow: (row: unknown) => unknown) => T): T {
    const bound = this.#bind(values);
    const toRow = (row: unknown) => this.#toRow(row);
    const read = (bigIntegers: boolean): T => {
      this.#raw.setReadBigInts(bigIntegers);
      this.#raw.setReturnArrays(this.#shape !== 'object');
      return withErrorCode(() => run(bound, toRow));
    };
    if (this.#safe || !onlyReads.test(this.source)) return read(true);
    try {
      return read(false);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_OUT_OF_RANGE') throw error;
      return read(true);
    }
  }

  #bind(values: readonly unknown[]): unknown[] {
    const positional: unknown[] = [];
    let named: Record<string, unknown> | undefined;
    for (const value of values.flat()) {
      if (this.#rejectsNul && typeof value === 'string' && value.includes('\0')) {
        throw new RangeError('text with a NUL character cannot be bound by the SQLite of this Node');
      }
      if (isNamed(value)) named = { ...named, ...value };
      else positional.push(value);
    }
    return named ? [named, ...positional] : positional;
  }

  /** Buffers as in better-sqlite3, and numbers unless big integers are asked for. */
  #toRow(row: unknown): unknown {
    if (this.#shape === 'object') {
      const copied: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(row as object)) copied[name] = this.#toValue(value);
      return copied;
    }
    const list = row as unknown[];
    if (this.#shape === 'pluck') return this.#toValue(list[0]);
    for (let at = 0; at < list.length; at++) {
      const value = list[at];
      if (typeof value === 'bigint' || (typeof value === 'object' && value !== null)) list[at] = this.#toValue(value);
    }
    return list;
  }

  #toValue(value: unknown): unknown {
    if (typeof value === 'bigint') return this.#safe ? value : Number(value);
    return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
  }
}

const isNamed = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
