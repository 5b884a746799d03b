// What the three databases say when they refuse a write, made into a Refusal: by their codes, and by the parts of their
// messages that name columns and keys, never by the parts that hold values.
import { AppError } from '../../../core/errors.ts';
import { Refusal, type RefusalKind } from '../refusal.ts';
import type { Dialect } from './codec.ts';
import type { Facts } from './introspect.ts';
import type { Write } from './statements-write.ts';

export interface Said {
  readonly dialect: Dialect;
  /** The statement that failed; undefined when none ran. */
  readonly write: Write | undefined;
  readonly facts: Facts | undefined;
}

/** Undefined for an error that is no refusal. */
export function readRefusal(error: unknown, said: Said): Refusal | undefined {
  if (error instanceof Refusal || error instanceof AppError || !(error instanceof Error)) return undefined;
  const found = readers[said.dialect](error as DatabaseError, said);
  return found && new Refusal(found[0], found[1], error);
}

type Found = readonly [kind: RefusalKind, columns: readonly string[]] | undefined;

/** The parts of the drivers' errors that are read. */
type DatabaseError = Error & {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlMessage?: string;
  readonly detail?: string;
  readonly column?: string;
  readonly table?: string;
  readonly constraint?: string;
};

const readers: Readonly<Record<Dialect, (error: DatabaseError, said: Said) => Found>> = { sqlite, mysql, postgres };

/** The native driver gives extended codes, the WebAssembly one messages alone. */
function sqlite({ code = '', message }: DatabaseError, { write }: Said): Found {
  const [, list = ''] = /constraint failed: (.*)$/.exec(message) ?? [];
  const columns = list.split(', ').map((name) => name.slice(name.indexOf('.') + 1));
  if (/UNIQUE constraint failed/.test(message)) return ['unique', list.startsWith('index ') ? [] : columns];
  if (/NOT NULL constraint failed/.test(message)) return ['null', columns];
  if (/CHECK constraint failed/.test(message)) return ['check', namedIn(list, write)];
  if (/FOREIGN KEY constraint failed/.test(message)) return [isDelete(write) ? 'referenced' : 'reference', []];
  if (/datatype mismatch|cannot store \w+ value/i.test(message)) return ['value', namedIn(message, write)];
  if (/^SQLITE_READONLY/.test(code) || /readonly database/.test(message)) return ['read-only', []];
  if (/^SQLITE_BUSY/.test(code) || /database is locked/.test(message)) return ['conflict', []];
  return undefined;
}

const mysqlKinds: Readonly<Record<number, RefusalKind>> = {
  1048: 'null',
  1364: 'null',
  1406: 'too long',
  1264: 'out of range',
  1265: 'value',
  1292: 'value',
  1366: 'value',
  1416: 'value',
  4025: 'check',
  3819: 'check',
  1205: 'conflict',
  1213: 'conflict',
  1020: 'conflict',
  1142: 'read-only',
  1143: 'read-only',
  1290: 'read-only',
  1836: 'read-only',
};

function mysql({ errno = 0, sqlMessage = '' }: DatabaseError, { write, facts }: Said): Found {
  if (errno === 1062 || errno === 1586) {
    const [, key = ''] = /for key '(?:[^']*\.)?([^'.]+)'$/.exec(sqlMessage) ?? [];
    const columns = (facts?.keys ?? []).filter((part) => part.table === write?.table && part.key === key);
    return ['unique', columns.flatMap(({ column }) => (column === null ? [] : [column]))];
  }
  if (errno === 1451 || errno === 1217) return ['referenced', []];
  if (errno === 1452 || errno === 1216) {
    const [, list = ''] = /FOREIGN KEY \(([^)]*)\)/.exec(sqlMessage) ?? [];
    return ['reference', [...list.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => name.replaceAll('``', '`'))];
  }
  const kind = mysqlKinds[errno];
  if (!kind) return undefined;
  if (kind === 'check') return [kind, namedIn(/[`'](?:[^`'.]*\.)?([^`'.]+)[`']/.exec(sqlMessage)?.[1] ?? '', write)];
  // `column 'a' at row 1`, or `column `db`.`table`.`a` at row 1`; before it may stand a value.
  const [, plain, quoted] =
    /(?:column|field) (?:'([^']*)'|(?:`[^`]*`\.)*`([^`]*)`)(?: at row \d+)?[^'`]*$/i.exec(sqlMessage) ?? [];
  const column = plain ?? quoted;
  return [kind, column === undefined ? [] : [column]];
}

function postgres({ code = '', column, constraint = '', detail = '', table }: DatabaseError, said: Said): Found {
  const { write, facts } = said;
  switch (code) {
    case '23502':
      return ['null', column ? [column] : []];
    case '23505':
    case '23P01':
      return ['unique', keyColumns(detail)];
    case '23503':
      if (isDelete(write) || (table !== undefined && table !== ownName(write, facts))) return ['referenced', []];
      return ['reference', keyColumns(detail)];
    case '23001':
      return ['referenced', []];
    case '23514':
      return ['check', namedIn(constraint, write)];
    case '22001':
      return ['too long', suspects(write, isTooLong)];
    case '22003':
      return ['out of range', suspects(write, isOutOfRange)];
    case '22P02':
    case '22007':
    case '22008':
    case '22P03':
    case '22021':
      return ['value', []];
    case '40001':
    case '40P01':
    case '55P03':
      return ['conflict', []];
    case '42501':
    case '25006':
    case '55000':
    case '428C9':
      return ['read-only', []];
    default:
      return undefined;
  }
}

/** The names of `Key (a, "b c")=(1, 2) ...`, in whatever language the rest is. */
function keyColumns(detail: string): string[] {
  const [, list = ''] = /^[^(]*\((.*?)\)=\(/.exec(detail) ?? [];
  return [...list.matchAll(/"((?:[^"]|"")*)"|([^\s,"()]+)/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

/** The columns of the statement whose names stand in the name or the text of a constraint; all of them when none does. */
function namedIn(text: string, write: Write | undefined): string[] {
  const all = columnsOf(write).map(({ name }) => name);
  const words = text.toLowerCase();
  const named = all.filter((name) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${literal(name.toLowerCase())}(?![\\p{L}\\p{N}])`, 'u').test(words),
  );
  return named.length ? named : all;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** What the database calls the written table, without its schema. */
function ownName(write: Write | undefined, facts: Facts | undefined): string | undefined {
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

function suspects(write: Write | undefined, isSuspect: (type: string, value: unknown) => boolean): string[] {
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
