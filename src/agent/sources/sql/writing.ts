// Writes of a SQL source: sessions on top of a driver's transaction, with statement texts cached by shape.
import { isAppError } from '../../../core/errors.ts';
import type { Observe } from '../../../core/observe.ts';
import { Refusal, type RefusalKind } from '../refusal.ts';
import type { ReadOptions, Session, Writing } from '../source.ts';
import type { Delete, Insert, Row, Select, Update, WriteResult } from '../statement.ts';
import type { Dialect } from './codec.ts';
import type { Connection, Driver, Prepared } from './driver.ts';
import type { Facts } from './introspection/introspect.ts';
import { readRefusal } from './refusals.ts';
import { needsBigIntegers } from './sqlite/types.ts';
import type { StatementContext } from './statements/read.ts';
import type { Bind } from './statements/terms.ts';
import { bindValues } from './statements/terms.ts';
import { buildWrite, type Write, writeKey } from './statements/write.ts';

interface WritingOptions {
  readonly driver: Driver;
  readonly dialect: Dialect;
  readonly context: StatementContext;
  /** The result of the last `describe`; undefined before the first. */
  readonly facts: () => Facts | undefined;
  readonly observe: Observe;
  /** Translates an error that is not a refusal. */
  readonly translateFailure: (error: unknown, write: { readonly table: string }) => unknown;
  readonly read: (connection: Connection, select: Select, watch: ReadOptions['watch']) => Promise<Row[]>;
}

interface WriteText {
  readonly prepared: Prepared;
  readonly binds: readonly Bind[];
  readonly decoders: readonly (((value: unknown) => unknown) | undefined)[];
}

const MAX_CACHED_STATEMENTS = 300;

/** Refusals with details that only the database's error has. */
const detailedRefusals: ReadonlySet<RefusalKind> = new Set(['trigger', 'expression', 'policy', 'denied', 'rule']);

export function createWriting({
  driver,
  dialect,
  context,
  facts,
  observe,
  translateFailure,
  read,
}: WritingOptions): Writing {
  const texts = new Map<string, WriteText>();
  let count = 0;

  function returns(write: Write): boolean {
    if (dialect !== 'mysql') return true;
    return facts()?.isMariadb === true && !('set' in write);
  }

  function prepareWrite(write: Write, values: unknown[]): WriteText {
    const key = writeKey(write, context, values);
    let text = texts.get(key);
    if (text) texts.delete(key);
    else {
      const { sql, binds } = buildWrite(write, returns(write), context);
      text = {
        // A write cannot run again to reread its integers, so all integers arrive as 64 bits.
        prepared: {
          sql,
          operation: operationOf(write),
          table: write.table,
          name: `portico_w${++count}`,
          uses: 0,
          bigIntegers: true,
        },
        binds,
        decoders: write.returning.map((path) => context.shapes.facts(path, write.table).codec.decode),
      };
    }
    texts.set(key, text);
    if (texts.size > MAX_CACHED_STATEMENTS) texts.delete(texts.keys().next().value as string);
    text.prepared.uses++;
    return text;
  }

  async function run(connection: Connection, write: Write, { watch }: ReadOptions): Promise<WriteResult> {
    const values: unknown[] = [];
    const text = prepareWrite(write, values);
    watch?.(text.prepared.sql);
    const { rows, affected, insertedId } = await connection.run(text.prepared, encodeValues(text, values, write));
    if (!returns(write)) return { count: affected, rows: [], ...(insertedId !== undefined && { insertedId }) };
    const width = write.returning.length;
    for (const row of rows)
      for (let at = 0; at < row.length; at++)
        row[at] = at < width ? decode(row[at], text.decoders[at]) : isTrue(row[at]);
    return { count: rows.length, rows };
  }

  return {
    get returning() {
      const all = dialect !== 'mysql';
      const some = all || facts()?.isMariadb === true;
      return { insert: some, update: all, delete: some, joinedChecks: all };
    },
    async transaction(work, options) {
      let last: Write | undefined;
      try {
        return await driver.transaction((connection) => {
          const write = (statement: Write) => {
            last = statement;
            return run(connection, statement, options);
          };
          const session: Session = {
            read: (select) => read(connection, select, options.watch),
            insert: (insert: Insert) => write(insert),
            update: (update: Update) => write(update),
            delete: (remove: Delete) => write(remove),
          };
          return work(session);
        }, options);
      } catch (error) {
        const refusal = readRefusal(error, { dialect, write: last, facts: facts() });
        const table = last?.table ?? 'a table';
        // Logged, because the error of the caller lacks these details.
        if (refusal && detailedRefusals.has(refusal.kind) && refusal !== error)
          observe({ type: 'warning', message: `A write to '${table}' was refused: ${refusal.kind}.`, cause: error });
        if (isAppError(error, 'OUTCOME_UNKNOWN')) {
          const message = `The outcome of a write to '${table}' is unknown: its connection was lost, or its time limit ended, during COMMIT.`;
          observe({ type: 'warning', message, cause: error.cause });
        }
        throw refusal ?? translateFailure(error, { table });
      }
    },
  };
}

const operationOf = (write: Write) => ('rows' in write ? 'INSERT' : 'set' in write ? 'UPDATE' : 'DELETE');

/** Throws a Refusal if a value does not fit its column. */
function encodeValues(text: WriteText, values: readonly unknown[], write: Write): unknown[] {
  return text.binds.map((one, index) => {
    try {
      return bindValues([one], values)[0];
    } catch (error) {
      if (!isAppError(error, 'INVALID_VALUE')) throw error;
      const path =
        'rows' in write
          ? write.columns[index % write.columns.length]
          : 'set' in write
            ? write.set[index]?.[0]
            : undefined;
      throw new Refusal('value', path ? [path.field.column] : [], error);
    }
  });
}

function decode(value: unknown, decoder: ((value: unknown) => unknown) | undefined): unknown {
  if (value === null || value === undefined) return null;
  let decoded: unknown = value;
  try {
    if (decoder) decoded = decoder(value);
  } catch (error) {
    if (error !== needsBigIntegers) throw error;
  }
  if (typeof decoded !== 'bigint') return decoded;
  const number = Number(decoded);
  return Number.isSafeInteger(number) ? number : String(decoded);
}

/** A condition may evaluate to null, which is not true. */
function isTrue(value: unknown): boolean {
  return value === true || value === 't' || value === 1 || value === 1n || value === '1';
}
