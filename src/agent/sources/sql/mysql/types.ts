// The native types of MariaDB and MySQL. The driver returns dates, decimals and large integers as text (driver.ts).

import { stringifyJson } from '../../lossless-json.ts';
import { isGeometry } from '../../values/geometry.ts';
import {
  type Codec,
  checkLabel,
  decodeDigits,
  decodeInstant,
  decodeJson,
  decodeTime,
  encodeDay,
  encodeInstant,
  families,
  finite,
  identity,
} from '../codec.ts';
import { zoneless } from '../zoneless.ts';

interface MysqlColumn {
  readonly dataType: string;
  readonly columnType: string;
  /** MariaDB stores JSON as a text with a check constraint. */
  readonly checkedJson: boolean;
  readonly charset: string | null;
  /** Whether its texts are compared case-sensitively. */
  readonly isBinary: boolean;
  readonly labels: readonly string[];
}

/** Returns undefined if the column cannot be served. */
export function mysqlCodec(column: MysqlColumn): Codec | undefined {
  const { dataType, columnType } = column;
  if (column.checkedJson || dataType === 'json') return json;
  if (columnType.startsWith('tinyint(1)') || columnType === 'bit(1)') return boolean;
  if (dataType === 'enum') return enumeration(column.labels);
  if (dataType === 'set') return set(column.labels);
  if (isGeometry(dataType)) return geometry;
  if (textual.has(dataType)) {
    const codec = text(column.charset ?? 'ascii', column.isBinary);
    return /^(?:(?:medium|long)?text|varchar\(\d{4,}\))/.test(columnType) ? { ...codec, units } : codec;
  }
  return codecs[dataType];
}

const textual = new Set(['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'inet4', 'inet6']);

// Parameters are sent as doubles or texts. A safe integer is exact as a double. All other numbers are cast to DECIMAL,
// since MySQL compares a text and a number as doubles.
const number: Codec = {
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  decode: (value) => (typeof value === 'number' ? value : decodeDigits(Buffer.isBuffer(value) ? bits(value) : value)),
  kindOf: (value) => (Number.isSafeInteger(value) ? '' : 'd'),
  encode: finite((value) => (Number.isSafeInteger(value) ? value : plainDigits(value))),
  parameter: (kind) => (kind === 'd' ? 'cast(? as decimal(65, 30))' : '?'),
};

const float: Codec = {
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  inexact: true,
  decode: (value) => shortest(Number(value)),
  encode: finite(Number),
  parameter: () => 'cast(? as float)',
};

const double: Codec = {
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  inexact: true,
  encode: finite(Number),
};

const boolean: Codec = {
  type: 'Boolean',
  operators: families.ordered,
  sortable: true,
  decode: (value) => (Buffer.isBuffer(value) ? value.some((byte) => byte !== 0) : Number(value) !== 0),
  encode: (value) => (value ? 1 : 0),
  grouped: (column) => `(${column} <> 0)`,
};

// The server formats a date as text in a third of the time the driver takes.
const asText = (column: string): string => `cast(${column} as char)`;

const instant: Codec = {
  type: 'Date',
  operators: families.ordered,
  sortable: true,
  read: asText,
  decode: decodeInstant,
  encode: finite(encodeInstant),
};

const binary: Codec = { type: 'Binary', operators: families.equality, sortable: false, encode: identity };

const json: Codec = {
  type: 'Json',
  operators: families.presence,
  sortable: false,
  decode: decodeJson,
  encode: stringifyJson,
};

/** Sorts by label position, but compares as text unless converted to a number. */
function enumeration(labels: readonly string[]): Codec {
  return {
    type: 'Enum',
    operators: families.ordered,
    sortable: true,
    encode: String,
    ranked: {
      column: (column) => `(${column} + 0)`,
      encode: (value) => labels.indexOf(checkLabel(labels, value)) + 1,
      decode: (value) => labels[Number(value) - 1] ?? '',
    },
  };
}

/** A list of labels, stored as bits and returned in label order. */
function set(labels: readonly string[]): Codec {
  const bitsOf = (items: readonly unknown[]): string =>
    String(items.reduce<bigint>((bits, item) => bits | (1n << BigInt(labels.indexOf(checkLabel(labels, item)))), 0n));
  return {
    type: ['Enum'],
    operators: families.array,
    sortable: false,
    decode: (value) => (value === '' ? [] : String(value).split(',')),
    encode: String,
    stored: (value) => (value as readonly unknown[]).join(','),
    bits: bitsOf,
  };
}

/** Well-known text, such as `POLYGON((0 0,1 0,1 1,0 0))`. */
const geometry: Codec = {
  type: 'String',
  operators: families.presence,
  sortable: false,
  read: (column) => `st_astext(${column})`,
  encode: String,
  // MariaDB converts unreadable input to null. The column then gets a text instead, which it rejects.
  storedParameter: "(select coalesce(st_geomfromtext(v.t), if(v.t is null, null, '')) from (select ? as t) as v)",
};

/**
 * Comparing a value with a character outside the column's character set is a server error. Such a comparison converts
 * the column to utf8mb4. All other comparisons use the bare column, which keeps its indexes usable.
 */
function text(charset: string, isBinary: boolean): Codec {
  const base = {
    type: 'String',
    operators: families.text,
    sortable: true,
    decode: (value: unknown) => (typeof value !== 'string' && Buffer.isBuffer(value) ? value.toString('utf8') : value),
    encode: String,
  } as const;
  if (charset === 'utf8mb4') return base;
  const fits = representable[charset] ?? representable.ascii!;
  const widened = (column: string) => `convert(${column} using utf8mb4)`;
  const compared = (column: string, kind: string) =>
    kind === 'w' ? `${widened(column)}${isBinary ? ' collate utf8mb4_bin' : ''}` : column;
  return {
    ...base,
    text: widened,
    kindOf: (value) => (fits.test(String(value)) ? '' : 'w'),
    equal: compared,
    ordered: compared,
  };
}

/** Texts of single bytes need no conversion. */
const units = (column: string): string =>
  `case octet_length(${column}) when char_length(${column}) then char_length(${column}) else octet_length(convert(${column} using utf16)) div 2 end`;

/** Conservative patterns of texts that each character set can represent. */
const representable: Readonly<Record<string, RegExp>> = {
  ascii: /^[\x20-\x7e\s]*$/,
  latin1: /^[\x20-\x7e\xa0-\xff\s]*$/,
  utf8mb3: /^[^\ud800-\udfff]*$/,
  utf8: /^[^\ud800-\udfff]*$/,
};

const codecs: Readonly<Record<string, Codec>> = {
  tinyint: number,
  smallint: number,
  mediumint: number,
  int: number,
  integer: number,
  bigint: number,
  bit: { ...number, grouped: (column) => `(${column} + 0)`, summed: (column) => `(${column} + 0)` },
  year: number,
  decimal: number,
  numeric: number,
  float,
  double,
  date: {
    type: 'Dateonly',
    operators: families.ordered,
    sortable: true,
    read: asText,
    encode: finite(encodeDay),
  },
  datetime: zoneless(instant),
  timestamp: instant,
  time: { type: 'Time', operators: families.ordered, sortable: true, decode: decodeTime, encode: String },
  uuid: {
    type: 'Uuid',
    operators: families.ordered,
    sortable: true,
    decode: (value) => String(value).toLowerCase(),
    encode: String,
  },
  binary,
  varbinary: binary,
  tinyblob: binary,
  blob: binary,
  mediumblob: binary,
  longblob: binary,
  point: {
    type: 'Point',
    operators: families.presence,
    sortable: false,
    decode: (value) => {
      const { x, y } = value as { x: number; y: number };
      return [x, y];
    },
    encode: identity,
    stored: (value) => `POINT(${(value as number[]).join(' ')})`,
    storedParameter: 'st_geomfromtext(?)',
  },
};

/**
 * FLOAT arrives as the nearest double. The stored value is the one with the fewest digits that give the same float.
 */
function shortest(value: number): number {
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** Digits without an exponent: MySQL reads numbers with an exponent as doubles. */
function plainDigits(value: unknown): string {
  const [, sign = '', whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/i.exec(String(value)) ?? [];
  if (exponent === undefined) return String(value);
  const shift = Number(exponent);
  const digits = whole + fraction;
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - 1)}${digits}`;
  return sign + digits.padEnd(1 + shift, '0');
}

function bits(value: Buffer): string {
  return BigInt(`0x${value.toString('hex') || '0'}`).toString();
}
