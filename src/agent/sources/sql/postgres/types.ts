// The native types of PostgreSQL. Values arrive in the server's text form (driver.ts), in UTC and ISO format.
// Parameters are texts too. Their casts make a value outside the column's range compare as false instead of raising an
// error.
import { fail } from '../../../../core/errors.ts';
import type { Collation, PrimitiveType } from '../../column-types.ts';
import { stringifyJson } from '../../lossless-json.ts';
import {
  type Codec,
  checkLabel,
  decodeDigits,
  decodeInstant,
  decodeInteger,
  decodeJson,
  decodeTime,
  encodeDay,
  encodeInstant,
  families,
  identity,
  isInt64,
  notFinite,
} from '../codec.ts';
import { zoneless } from '../zoneless.ts';

export interface PostgresType {
  /** `int4`, `text` or the name of an enum, with domains resolved. */
  readonly name: string;
  readonly kind: 'base' | 'enum' | 'array' | 'other';
  readonly element?: PostgresType;
  readonly labels?: readonly string[];
  /** As written in SQL, quoted where needed. */
  readonly sql: string;
}

/** `declared`: the type of the column as PostgreSQL writes it, such as `character varying(40)`. */
export function postgresCodec(type: PostgresType, declared?: string): Codec {
  if (type.kind === 'enum') return enumeration(type.sql, type.labels ?? []);
  if (type.kind === 'array' && type.element) {
    const element = postgresCodec(type.element);
    // Array elements of a type with its own `read` SQL are served as texts.
    return array(element.read ? unknown : element, type.element);
  }
  if (declared && /^character varying\(\d{1,3}\)$/.test(declared)) return shortText;
  const [, digits, scale = '0'] = /^numeric\((\d+),(\d+)\)$/.exec(declared ?? '') ?? [];
  if (Number(digits) <= 15) return { ...numeric, scale: Number(scale) };
  return codecs[type.name] ?? unknown;
}

const integer: Codec = {
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  decode: decodeInteger,
  encode: String,
  kindOf: (value) => (isInt64(value) ? 'i' : 'n'),
  parameter: (kind) => (kind === 'n' ? '?::numeric' : '?::bigint'),
  list: (kind) => (kind === 'n' ? 'numeric' : 'bigint'),
};

const numeric: Codec = {
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  decode: decodeDigits,
  encode: String,
  parameter: () => '?::numeric',
  list: () => 'numeric',
};

const float = (sql: string): Codec => ({
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  decode: (value) => (Number.isFinite(Number(value)) ? Number(value) : notFinite(value)),
  encode: String,
  parameter: () => `?::${sql}`,
  list: () => sql,
  // Casting through text gives REAL values their shortest digits and makes their sum exact.
  ...(sql === 'real' ? { summed: (column: string) => `${column}::text::numeric` } : { inexact: true }),
});

const boolean: Codec = {
  type: 'Boolean',
  operators: families.ordered,
  sortable: true,
  decode: (value) => value === 't',
  encode: (value) => (value ? 'true' : 'false'),
  list: () => 'boolean',
};

const instant = (sql: string): Codec => ({
  type: 'Date',
  operators: families.ordered,
  sortable: true,
  decode: decodeInstant,
  encode: encodeInstant,
  parameter: () => `?::${sql}`,
  list: () => sql,
});

const text = (sql: string, asText?: (column: string) => string, trim = false): Codec => ({
  type: 'String',
  operators: families.text,
  sortable: true,
  ...(trim ? { decode: trimSpaces } : {}),
  encode: (value) => withoutNul(String(value)),
  list: () => sql,
  ...(asText ? { text: asText } : {}),
});

/** CHAR values are padded with spaces to the declared width. */
function trimSpaces(value: unknown): unknown {
  const text = String(value);
  return text.endsWith(' ') ? text.replace(/ +$/, '') : text;
}

/** All other types are handled by their text form, which does not sort as the type does. */
const unknown: Codec = {
  type: 'String',
  operators: families.unordered,
  sortable: false,
  encode: (value) => withoutNul(String(value)),
  equal: (column) => `${column}::text`,
  ordered: (column) => `${column}::text`,
  text: (column) => `${column}::text`,
  list: () => 'text',
};

/** Bit strings and hardware addresses sort like their texts, byte by byte. */
const bytewise: Codec = {
  ...unknown,
  operators: families.text,
  sortable: true,
  ordered: (column) => `${column}::text collate "C"`,
};

const hardware = (size: number): Codec => ({
  ...bytewise,
  encode(value) {
    const digits = String(value)
      .toLowerCase()
      .replace(/[^0-9a-f]/g, '');
    return digits.length === size * 2 ? digits.match(/../g)!.join(':') : withoutNul(String(value));
  },
});

/** The database compares the value in its own type. Values were validated before (agent/resolve/values.ts). */
const special = (sql: string, collation: Collation): Codec => ({
  ...unknown,
  operators: families.text,
  sortable: true,
  collation,
  equal: (column) => column,
  ordered: (column) => column,
  parameter: () => `?::${sql}`,
  list: () => sql,
});

/** An exact number. The text form of money has the currency sign and separators of the server's locale. */
const money: Codec = {
  ...numeric,
  read: (column) => `${column}::numeric`,
  equal: (column) => `${column}::numeric`,
  ordered: (column) => `${column}::numeric`,
  summed: (column) => `${column}::numeric`,
  storedParameter: '?::numeric::money',
};

/** The cast to text includes a mask that inet's own output omits. */
const inet: Codec = (() => {
  const shown = (column: string) =>
    `(case when masklen(${column}) = case family(${column}) when 4 then 32 else 128 end then host(${column}) else ${column}::text end)`;
  return { ...special('inet', 'network'), text: shown };
})();

const json: Codec = {
  type: 'Json',
  operators: families.presence,
  sortable: false,
  decode: decodeJson,
  encode: stringifyJson,
  list: () => 'jsonb',
};

/** Characters beyond 16 bits count twice. Only texts with characters of several bytes are searched for them. */
const units = (column: string): string =>
  `char_length(${column}) + case when octet_length(${column}) = char_length(${column}) or getdatabaseencoding() <> 'UTF8' then 0 else octet_length(regexp_replace(${column}, E'[^\\\\U00010000-\\\\U0010FFFF]+', '', 'g')) / 4 end`;

const shortText = text('text');

const codecs: Readonly<Record<string, Codec>> = {
  int2: { ...integer, scale: 0 },
  int4: { ...integer, scale: 0 },
  int8: integer,
  oid: { ...integer, summed: (column) => `${column}::bigint` },
  numeric,
  float4: float('real'),
  float8: float('double precision'),
  bool: boolean,
  text: { ...shortText, units },
  varchar: { ...shortText, units },
  name: text('text'),
  bpchar: text('bpchar', (column) => `${column}::text`, true),
  citext: text('citext', (column) => `${column}::text`),
  uuid: {
    type: 'Uuid',
    operators: families.ordered,
    sortable: true,
    encode: String,
    parameter: () => '?::uuid',
    list: () => 'uuid',
  },
  timestamptz: instant('timestamptz'),
  timestamp: zoneless(instant('timestamp')),
  date: {
    type: 'Dateonly',
    operators: families.ordered,
    sortable: true,
    encode: encodeDay,
    parameter: () => '?::date',
    list: () => 'date',
  },
  time: {
    type: 'Time',
    operators: families.ordered,
    sortable: true,
    decode: decodeTime,
    encode: String,
    parameter: () => '?::time',
    list: () => 'time',
  },
  inet,
  // A value with bits to the right of its mask is not a valid cidr. As an inet it equals no cidr.
  cidr: { ...special('inet', 'network'), equal: (column) => `${column}::inet`, ordered: (column) => `${column}::inet` },
  interval: special('interval', 'interval'),
  money,
  macaddr: hardware(6),
  macaddr8: hardware(8),
  bit: bytewise,
  varbit: bytewise,
  char: bytewise,
  json,
  jsonb: json,
  bytea: {
    type: 'Binary',
    operators: families.equality,
    sortable: false,
    decode: (value) => Buffer.from(String(value).slice(2), 'hex'),
    encode: identity,
    list: () => 'bytea',
  },
  point: {
    type: 'Point',
    operators: families.presence,
    sortable: false,
    decode: (value) => String(value).slice(1, -1).split(',').map(Number),
    encode: (value) => `(${(value as number[]).join(',')})`,
    list: () => 'point',
  },
};

function enumeration(sql: string, labels: readonly string[]): Codec {
  return {
    type: 'Enum',
    operators: families.ordered,
    sortable: true,
    encode: (value) => checkLabel(labels, value),
    parameter: () => `?::${sql}`,
    list: () => sql,
  };
}

/** The bits of integer types: a larger value cannot be cast to them, but its test must be false. */
const bits: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64 };

function array(element: Codec, type: PostgresType): Codec {
  const { name, sql } = type;
  const decode = element.decode ?? identity;
  const size = bits[name];
  const fits = (item: unknown) =>
    item === null || (isInt64(item) && BigInt.asIntN(size!, BigInt(String(item))) === BigInt(String(item)));
  return {
    type: [element.type as PrimitiveType],
    operators: families.array,
    sortable: false,
    decode: (value) => decodeArray(String(value), decode),
    encode: element.encode,
    stored: (value) =>
      (value as readonly unknown[]).map((item) => (item === null ? null : (element.stored ?? element.encode)(item))),
    // Elements are compared in their own type, unless the value does not fit it.
    ...(size && {
      kindOf: (item: unknown) => (fits(item) ? '' : 'n'),
      equal: (column: string, kind: string) => (kind === 'n' ? `${column}::numeric[]` : column),
    }),
    list: (kind) => (kind === 'n' ? 'numeric' : sql),
    ...(element.inZone && { inZone: (zone: string) => array(element.inZone!(zone), type) }),
  };
}

/** Parses the text form of an array, such as `{1,NULL,"a\"b",{2,3}}`. */
function decodeArray(text: string, decode: (value: unknown) => unknown): unknown[] {
  let at = text.indexOf('{') + 1;
  const read = (): unknown[] => {
    const items: unknown[] = [];
    for (;;) {
      const char = text[at];
      if (char === undefined) return items;
      if (char === '}') {
        at++;
        return items;
      }
      if (char === ',') at++;
      else if (char === '{') {
        at++;
        items.push(read());
      } else items.push(readItem());
    }
  };
  const readItem = (): unknown => {
    if (text[at] !== '"') {
      const start = at;
      while (at < text.length && text[at] !== ',' && text[at] !== '}') at++;
      const item = text.slice(start, at);
      return item === 'NULL' ? null : decode(item);
    }
    let item = '';
    for (at++; text[at] !== '"'; at++) {
      if (text[at] === '\\') at++;
      item += text[at];
    }
    at++;
    return decode(item);
  };
  return read();
}

function withoutNul(value: string): string {
  if (value.includes('\0')) {
    fail('INVALID_VALUE', { at: 'filter', expected: 'a string without NUL characters', got: value });
  }
  return value;
}
