// Maps the errors of the three databases for refused writes to a Refusal. It uses their codes and the parts of messages
// that name columns and keys, never the parts with values.
import { AppError } from '../../../core/errors.ts';
import { Refusal, type RefusalKind } from '../refusal.ts';
import { isGeometry } from '../values/geometry.ts';
import type { Dialect } from './codec.ts';
import { type DatabaseError, isRaised } from './failures.ts';
import type { Facts } from './introspection/introspect.ts';
import type { Write } from './statements/write.ts';

interface RefusalContext {
  readonly dialect: Dialect;
  /** The statement that failed; undefined if no statement ran. */
  readonly write: Write | undefined;
  readonly facts: Facts | undefined;
}

/** Returns undefined if the error is not a refusal. */
export function readRefusal(error: unknown, context: RefusalContext): Refusal | undefined {
  if (error instanceof Refusal || error instanceof AppError || !(error instanceof Error)) return undefined;
  const found = refusalReaders[context.dialect](error as DatabaseError, context);
  return found && new Refusal(found[0], found[1], error);
}

type RefusalFinding = readonly [kind: RefusalKind, columns: readonly string[]] | undefined;

const refusalReaders: Readonly<Record<Dialect, (error: DatabaseError, context: RefusalContext) => RefusalFinding>> = {
  sqlite,
  mysql,
  postgres,
};

/** The native driver reports extended codes; the WebAssembly one reports only messages. */
function sqlite({ code = '', message, resultCode }: DatabaseError, context: RefusalContext): RefusalFinding {
  const { write } = context;
  const [, list = ''] = /constraint failed: (.*)$/.exec(message) ?? [];
  const columns = list.split(', ').map((name) => name.slice(name.indexOf('.') + 1));
  if (/^SQLITE_CONSTRAINT_TRIGGER/.test(code) || resultCode === CONSTRAINT_TRIGGER) return ['trigger', []];
  if (/UNIQUE constraint failed/.test(message)) return ['unique', list.startsWith('index ') ? [] : columns];
  if (/NOT NULL constraint failed/.test(message)) return ['null', columns];
  if (/CHECK constraint failed/.test(message)) return ['check', findNamedColumns(list, write)];
  if (/FOREIGN KEY constraint failed/.test(message)) return foreignKey(undefined, context);
  if (/datatype mismatch|cannot store \w+ value/i.test(message)) return ['value', findNamedColumns(message, write)];
  if (/^integer overflow|^malformed JSON|JSON path/.test(message)) return ['expression', []];
  if (/^SQLITE_TOOBIG/.test(code) || /too big/.test(message)) return ['too long', []];
  if (/^SQLITE_READONLY/.test(code) || /readonly database/.test(message)) return ['read-only', []];
  if (/^SQLITE_(BUSY|LOCKED)/.test(code) || /is locked/.test(message)) return ['conflict', []];
  return undefined;
}

/** The extended result code of RAISE(ABORT, ...). */
const CONSTRAINT_TRIGGER = 1811;

const mysqlKinds: Readonly<Record<number, RefusalKind>> = {
  1048: 'null',
  1364: 'null',
  1406: 'too long',
  1264: 'out of range',
  1265: 'value',
  1292: 'value',
  1366: 'value',
  1416: 'value',
  1411: 'value',
  4025: 'check',
  3819: 'check',
  1369: 'policy',
  1526: 'partition',
  1748: 'partition',
  1644: 'trigger',
  1442: 'trigger',
  1365: 'expression',
  1690: 'expression',
  3140: 'value',
  3141: 'value',
  1118: 'too long',
  1153: 'too long',
  1205: 'conflict',
  1213: 'conflict',
  1020: 'conflict',
  1206: 'conflict',
  1614: 'conflict',
  3101: 'conflict',
  3572: 'conflict',
  1142: 'denied',
  1143: 'denied',
  1227: 'denied',
  1370: 'denied',
  1288: 'read-only',
  1290: 'read-only',
  1348: 'read-only',
  1471: 'read-only',
  1792: 'read-only',
  1836: 'read-only',
  1036: 'read-only',
  1099: 'read-only',
  1223: 'read-only',
};

function mysql(
  { errno = 0, sqlMessage = '', sqlState = '' }: DatabaseError,
  { write, facts }: RefusalContext,
): RefusalFinding {
  if (errno === 1062 || errno === 1586 || errno === 1022 || errno === 1169) {
    const [, key = ''] = /for key '(?:[^']*\.)?([^'.]+)'$/.exec(sqlMessage) ?? [];
    const columns = (facts?.keys ?? []).filter((part) => part.table === write?.table && part.key === key);
    return ['unique', columns.flatMap(({ column }) => (column === null ? [] : [column]))];
  }
  // A cascade would duplicate a key in another table.
  if (errno === 1761 || errno === 1762) return ['unique', []];
  if (errno === 1451 || errno === 1217) return ['referenced', []];
  if (errno === 1452 || errno === 1216) {
    const [, list = ''] = /FOREIGN KEY \(([^)]*)\)/.exec(sqlMessage) ?? [];
    return ['reference', [...list.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => name.replaceAll('``', '`'))];
  }
  if (errno === 1416 || errno === 3037) return ['value', findSuspects(write, isGeometry)];
  const kind = mysqlKinds[errno] ?? (sqlState === '45000' ? 'trigger' : undefined);
  if (!kind) return undefined;
  if (kind === 'check')
    return [kind, findNamedColumns(/[`'](?:[^`'.]*\.)?([^`'.]+)[`']/.exec(sqlMessage)?.[1] ?? '', write)];
  if (kind === 'expression' || kind === 'trigger' || kind === 'policy') return [kind, []];
  // `Field 'a' doesn't have a default value` or `Column 'a' cannot be null`: these messages contain no values.
  if (kind === 'null') return [kind, /'([^']*)'/.exec(sqlMessage)?.slice(1) ?? []];
  // `column 'a' at row 1` or `column `db`.`table`.`a` at row 1`, possibly after a value.
  const [, plain, quoted] =
    /(?:column|field) (?:'([^']*)'|(?:`[^`]*`\.)*`([^`]*)`)(?: at row \d+)?[^'`]*$/i.exec(sqlMessage) ?? [];
  const column = plain ?? quoted;
  return [kind, column === undefined ? [] : [column]];
}

function postgres(error: DatabaseError, context: RefusalContext): RefusalFinding {
  const { code = '', column, constraint = '', detail = '', hint = '', routine, dataType } = error;
  const { write } = context;
  if (isRaised(error)) return ['trigger', []];
  switch (code) {
    case '23502':
      return ['null', column ? [column] : []];
    case '23505':
      return ['unique', keyColumns(detail)];
    case '23P01':
      return ['exclusion', keyColumns(detail)];
    case '23503':
      return foreignKey(keyColumns(detail), context, error.table);
    case '23001':
      return ['referenced', []];
    case '23514':
      // A check constraint has a name. A row without a matching partition raises the same code without a name.
      if (constraint === '' && /=\s*\(/.test(detail)) return ['partition', keyColumns(detail)];
      if (dataType !== undefined) return ['check', columnsOfDomain(dataType, write)];
      return ['check', findNamedColumns(constraint, write)];
    case '44000':
      return ['policy', []];
    case '22001':
      return ['too long', findSuspects(write, isTooLong)];
    case '54000':
      return ['too long', []];
    case '22003':
      return ['out of range', findSuspects(write, isOutOfRange)];
    case '22012':
    case '2201E':
    case '2201F':
    case '22011':
    case '2202E':
    case '21000':
      return ['expression', []];
    case '40001':
    case '40P01':
    case '55P03':
    case '55006':
      return ['conflict', []];
    case '42501':
      return [routine === 'ExecWithCheckOptions' ? 'policy' : 'denied', []];
    case '0A000':
      return routine === 'RevalidateCachedQuery' ? undefined : ['rule', []];
    case '25006':
    case '428C9':
      return ['read-only', []];
    case '55000':
      return /REFRESH MATERIALIZED VIEW/.test(hint) ? undefined : ['read-only', []];
    default:
      return /^22/.test(code) ? ['value', []] : /^(38|39|P0)/.test(code) ? ['trigger', []] : undefined;
  }
}

/**
 * Determines which end of a foreign key failed. `columns` are those the database names: either the referencing or the
 * referenced key. `holder` is the table with the foreign key, which may be a partition.
 */
function foreignKey(
  columns: readonly string[] | undefined,
  { write, facts }: RefusalContext,
  holder?: string,
): RefusalFinding {
  if (isDelete(write)) return ['referenced', []];
  const table = write?.table;
  const keys = facts?.foreignKeys ?? [];
  const own = keys.filter((key) => key.table === table).map((key) => key.columns);
  const foreign = keys.filter((key) => key.target === table).map((key) => key.targetColumns);
  const written = columnsOf(write).map(({ name }) => name);
  const pointing = own.flat().filter((name) => written.includes(name));
  if (write === undefined || 'rows' in write) return ['reference', columns ?? pointing];
  if (columns === undefined) {
    const isPointedTo = foreign.flat().some((name) => written.includes(name));
    return isPointedTo && pointing.length === 0 ? ['referenced', []] : ['reference', pointing];
  }
  const among = (lists: readonly (readonly string[])[]) =>
    lists.some((list) => list.length === columns.length && list.every((name) => columns.includes(name)));
  const [points, isPointedTo] = [among(own), among(foreign)];
  const isReference = points === isPointedTo ? holder === tableNameOf(write, facts) : points;
  return isReference ? ['reference', columns] : ['referenced', []];
}

/** The written columns with this domain as their type. */
function columnsOfDomain(type: string, write: Write | undefined): string[] {
  return columnsOf(write)
    .filter(({ nativeType }) => nativeType.split('.').at(-1)!.replaceAll('"', '') === type)
    .map(({ name }) => name);
}

/** The names in `Key (a, "b c")=(1, 2) ...`, independent of the message language. */
function keyColumns(detail: string): string[] {
  const [, list = ''] = /^[^(]*\((.*?)\) ?= ?\(/.exec(detail) ?? [];
  return [...list.matchAll(/"((?:[^"]|"")*)"|([^\s,"()]+)/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

/** The columns of the statement that appear in the name or text of a constraint. */
function findNamedColumns(text: string, write: Write | undefined): string[] {
  const words = text.toLowerCase();
  return columnsOf(write)
    .map(({ name }) => name)
    .filter((name) =>
      new RegExp(`(?<![\\p{L}\\p{N}])${literal(name.toLowerCase())}(?![\\p{L}\\p{N}])`, 'u').test(words),
    );
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The name of the written table in the database, without its schema. */
function tableNameOf(write: Write | undefined, facts: Facts | undefined): string | undefined {
  return facts?.tables.find(({ name }) => name === write?.table)?.place?.name ?? write?.table;
}

function isDelete(write: Write | undefined): boolean {
  return write !== undefined && !('rows' in write) && !('set' in write);
}

interface WrittenColumn {
  readonly name: string;
  readonly nativeType: string;
  readonly values: readonly unknown[];
}

function columnsOf(write: Write | undefined): WrittenColumn[] {
  if (write === undefined || isDelete(write)) return [];
  if ('rows' in write)
    return write.columns.map(({ field }, at) => ({
      name: field.column,
      nativeType: field.nativeType,
      values: write.rows.map((row) => row[at]),
    }));
  return (write as Extract<Write, { set: unknown }>).set.map(([{ field }, value]) => ({
    name: field.column,
    nativeType: field.nativeType,
    values: [value],
  }));
}

function findSuspects(write: Write | undefined, isSuspect: (type: string, value: unknown) => boolean): string[] {
  return columnsOf(write)
    .filter(({ nativeType, values }) => values.some((value) => value !== null && isSuspect(nativeType, value)))
    .map(({ name }) => name);
}

function isTooLong(type: string, value: unknown): boolean {
  const [, most] = /^(?:character(?: varying)?|bit(?: varying)?)\((\d+)\)/.exec(type) ?? [];
  return most !== undefined && [...String(value)].length > Number(most);
}

const integers: Readonly<Record<string, bigint>> = { smallint: 15n, integer: 31n, bigint: 63n };

function isOutOfRange(type: string, value: unknown): boolean {
  const [whole = ''] = String(value).replace('-', '').split('.');
  const bits = integers[type];
  if (bits !== undefined) return !/^\d+$/.test(whole) || BigInt(whole) >= 2n ** bits;
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,(\d+))?\)/.exec(type) ?? [];
  if (precision !== undefined)
    return !/^\d+$/.test(whole) || whole.replace(/^0+/, '').length > Number(precision) - Number(scale);
  return /^(real|double)/.test(type) && Math.abs(Number(value)) > 3e38;
}
