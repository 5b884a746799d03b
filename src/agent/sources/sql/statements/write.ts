// Builds the SQL of Insert, Update and Delete, like read.ts for reads: the text contains no values and is built once
// for each shape. The table has no alias, since not every database allows one for a written table.

import { filterRefersTo, joinsReferTo } from '../../references.ts';
import type { Condition, Delete, Insert, Join, Path, Update } from '../../statement.ts';
import type { Codec } from '../codec.ts';
import {
  createSqlWriter,
  placeholdersOf,
  type Root,
  type SqlWriter,
  type Statement,
  type StatementContext,
  TRUE,
} from './read.ts';
import type { Bind } from './terms.ts';

export type Write = Insert | Update | Delete;

/** The key of the shape. Appends the values to `values`, in the order of the text's placeholders. */
export function writeKey(write: Write, { shapes }: StatementContext, values: unknown[]): string {
  const { table, returning } = write;
  const ids = (paths: readonly Path[]) => paths.map((path) => shapes.facts(path, table).id).join(',');
  let key: string;
  if ('rows' in write) {
    key = `+${table}\n${ids(write.columns)}*${write.rows.length}`;
    for (const row of write.rows) values.push(...row);
  } else {
    key = `${'set' in write ? `=${table}\n${ids(write.set.map(([path]) => path))}` : `-${table}`}\n${ids(write.key)}`;
    if ('set' in write) for (const [, value] of write.set) values.push(value);
    key += shapes.condition(write, table, values);
  }
  key += `\n>${ids(returning)}`;
  for (const check of 'checks' in write ? write.checks : []) key += `?${shapes.condition(check, table, values)}`;
  return key;
}

/** `returns`: whether the database returns rows for this kind of statement. */
export function buildWrite(write: Write, returns: boolean, context: StatementContext): Statement {
  const { table } = write;
  const own = 'rows' in write ? write.rows.length * write.columns.length : 'set' in write ? write.set.length : 0;
  // Within the statement, a table is referenced by its bare name, without its schema.
  const { name: alias } = context.placeOf(table);
  const writer = createSqlWriter(context, own, alias);
  const root: Root = { table, alias, aliases: new Map(), scopes: new Map() };
  const head =
    'rows' in write
      ? insertHead(write, writer, context)
      : 'set' in write
        ? updateHead(write, writer, context)
        : undefined;
  const name = writer.table(table);
  const where = 'rows' in write ? { sql: '', binds: [] } : writeWhere(write, writer, root, context);
  const tail = returns ? returningOf(write, writer, root, context) : { sql: '', binds: [] };
  const sql = `${head?.sql ?? `delete from ${name}`}${where.sql}${tail.sql}`;
  return { sql: placeholdersOf(sql, context.dialect), binds: [...(head?.binds ?? []), ...where.binds, ...tail.binds] };
}

function insertHead(
  { table, columns, rows }: Insert,
  writer: SqlWriter,
  { dialect, shapes }: StatementContext,
): Statement {
  const name = writer.table(table);
  if (columns.length === 0)
    return { sql: `insert into ${name} ${dialect === 'mysql' ? '() values ()' : 'default values'}`, binds: [] };
  const codecs = columns.map((path) => shapes.facts(path, table).codec);
  const one = `(${codecs.map(({ storedParameter = '?' }) => storedParameter).join(', ')})`;
  const binds = rows.flatMap((_, row) => codecs.map((codec, at) => storedBind(codec, row * columns.length + at)));
  const list = columns.map((path) => writer.name(path.field.column)).join(', ');
  return { sql: `insert into ${name} (${list}) values ${rows.map(() => one).join(', ')}`, binds };
}

function updateHead({ table, set }: Update, writer: SqlWriter, { shapes }: StatementContext): Statement {
  const binds: Bind[] = [];
  const parts = set.map(([path], index) => {
    const { codec } = shapes.facts(path, table);
    binds.push(storedBind(codec, index));
    return `${writer.name(path.field.column)} = ${codec.storedParameter ?? '?'}`;
  });
  return { sql: `update ${writer.table(table)} set ${parts.join(', ')}`, binds };
}

function storedBind(codec: Codec, value: number): Bind {
  const encode = codec.stored ?? codec.encode;
  return { value, encode: (given) => (given === null ? null : encode(given)) };
}

/**
 * Conditions are evaluated in place for each row: an index finds the row by its key, and a row that another transaction
 * changed meanwhile is evaluated in its current state. MySQL does not allow a subselect on the written table unless it
 * is wrapped in a derived table.
 */
function writeWhere(write: Update | Delete, writer: SqlWriter, root: Root, { dialect }: StatementContext): Statement {
  const { table, joins: list } = write;
  const needsSubquery = joinsReferTo(list, table) || filterRefersTo(write.where, table) || list.some(hasTypeCondition);
  if (dialect !== 'mysql' || write.key.length === 0 || !needsSubquery) {
    const { sql, binds } = writer.condition(root, write);
    return sql === TRUE ? { sql: '', binds } : { sql: ` where ${sql}`, binds };
  }
  const inner = writer.root(write.table);
  const joins = writer.joins(inner, write.joins);
  const where = writer.where(inner, write.where);
  const own = write.key.map((path) => writer.column(root, path)).join(', ');
  const found = write.key.map((path) => writer.column(inner, path)).join(', ');
  const select = `select ${found} from ${writer.table(write.table)} as ${writer.name(inner.alias)} ${joins.map(({ sql }) => sql).join(' ')} where ${where.sql}`;
  return {
    sql: ` where (${own}) in (select * from (${select}) as ${writer.name('found')})`,
    binds: [...joins.flatMap(({ binds }) => binds), ...where.binds],
  };
}

/**
 * Whether a join depends on a type column of its own record. MariaDB does not evaluate that again for each record if
 * the condition is in place.
 */
function hasTypeCondition({ via, joins }: Join): boolean {
  return via.some(({ only }) => only !== undefined) || joins.some(hasTypeCondition);
}

function returningOf(write: Write, writer: SqlWriter, root: Root, { shapes, dialect }: StatementContext): Statement {
  const parts = write.returning.map((path) => {
    const column = writer.column(root, path);
    const { read, storedParameter } = shapes.facts(path, write.table).codec;
    // MySQL: values written through a function are also read through one.
    return (dialect === 'postgres' || storedParameter !== undefined) && read ? read(column) : column;
  });
  const binds: Bind[] = [];
  const checks: readonly Condition[] = 'checks' in write ? write.checks : [];
  for (const check of checks) {
    const { sql, binds: more } = writer.condition(root, check);
    parts.push(`(${sql})`);
    binds.push(...more);
  }
  return { sql: ` returning ${parts.join(', ') || '1'}`, binds };
}
