// The writing side of a SQL source: sessions over a driver's transaction, with the texts kept by shape.
import { isAppError } from '../../../core/errors.ts';
import { Refusal } from '../refusal.ts';
import type { Delete, Insert, ReadOptions, Row, Select, Session, Update, Writing, Written } from '../source.ts';
import type { Dialect } from './codec.ts';
import type { Connection, Driver, Prepared } from './driver.ts';
import type { Facts } from './introspect.ts';
import { readRefusal } from './refusals.ts';
import { bindValues, type StatementContext } from './statements.ts';
import { buildWrite, type Write, writeKey } from './statements-write.ts';
import type { Bind } from './terms.ts';
import { needsBigIntegers } from './types-sqlite.ts';

export interface WritingOptions {
  readonly driver: Driver;
  readonly dialect: Dialect;
  readonly context: StatementContext;
  /** What the database holds; after `describe`. */
  readonly facts: () => Facts | undefined;
  readonly read: (connection: Connection, select: Select, watch: ReadOptions['watch']) => Promise<Row[]>;
}

interface WriteText {
  readonly prepared: Prepared;
  readonly binds: readonly Bind[];
  readonly decoders: readonly (((value: unknown) => unknown) | undefined)[];
}

const mostTexts = 300;

export function createWriting({ driver, dialect, context, facts, read }: WritingOptions): Writing {
  const texts = new Map<string, WriteText>();
  let made = 0;

  function returns(write: Write): boolean {
    if (dialect !== 'mysql') return true;
    return facts()?.isMariadb === true && !('set' in write);
  }

  function find(write: Write, values: unknown[]): WriteText {
    const key = writeKey(write, context, values);
    let text = texts.get(key);
    if (text) texts.delete(key);
    else {
      const { sql, binds } = buildWrite(write, returns(write), context);
      text = {
        // A write cannot be repeated to read its integers again, so they come with all their bits at once.
        prepared: {
          sql,
          operation: operationOf(write),
          table: write.table,
          name: `portico_w${++made}`,
          uses: 0,
          bigIntegers: true,
        },
        binds,
        decoders: write.returning.map((path) => context.shapes.facts(path, write.table).codec.decode),
      };
    }
    texts.set(key, text);
    if (texts.size > mostTexts) texts.delete(texts.keys().next().value as string);
    text.prepared.uses++;
    return text;
  }

  async function run(connection: Connection, write: Write, { watch }: ReadOptions): Promise<Written> {
    const values: unknown[] = [];
    const text = find(write, values);
    watch?.(text.prepared.sql);
    const { rows, affected, insertedId } = await connection.run(text.prepared, bind(text, values, write));
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
        throw readRefusal(error, { dialect, write: last, facts: facts() }) ?? error;
      }
    },
  };
}

const operationOf = (write: Write) => ('rows' in write ? 'INSERT' : 'set' in write ? 'UPDATE' : 'DELETE');

/** A value that its column cannot hold is found when it is encoded. */
function bind(text: WriteText, values: readonly unknown[], write: Write): unknown[] {
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

/** A condition may come to nothing, which is not true. */
function isTrue(value: unknown): boolean {
  return value === true || value === 't' || value === 1 || value === 1n || value === '1';
}
