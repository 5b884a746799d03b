// The native types of PostgreSQL. Values arrive as the server's text form (postgres.ts asks for no other), in UTC and
// ISO order; parameters are texts too, cast so that a value out of a column's range is false and not an error.
import { fail } from '../../../core/errors.ts';
import { printJson } from '../json-text.ts';
import type { PrimitiveType } from '../source.ts';
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
  isInt64,
  same,
} from './codec.ts';

export interface PostgresType {
  /** `int4`, `text`, an enum's name: after domains are followed to what they are made of. */
  readonly name: string;
  readonly kind: 'base' | 'enum' | 'array' | 'other';
  readonly element?: PostgresType;
  readonly labels?: readonly string[];
  /** As SQL writes it, quoted where needed. */
  readonly sql: string;
}

export function postgresCodec(type: PostgresType): Codec {
  if (type.kind === 'enum') return enumeration(type.sql, type.labels ?? []);
  if (type.kind === 'array' && type.element) return array(postgresCodec(type.element), type.element);
  return table[type.name] ?? unknown;
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
  decode: (value) => (Number.isFinite(Number(value)) ? Number(value) : null),
  encode: String,
  parameter: () => `?::${sql}`,
  list: () => sql,
  // Two doubles that look like one REAL, and digits that nobody wrote, go away with the text.
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

/** Of CHAR, which is as wide as it was declared; only spaces fill it. */
function trimSpaces(value: unknown): unknown {
  const text = String(value);
  return text.endsWith(' ') ? text.replace(/ +$/, '') : text;
}

/** Anything else has a text form, and is looked at through it. */
const unknown: Codec = {
  type: 'String',
  operators: families.text,
  sortable: true,
  encode: (value) => withoutNul(String(value)),
  equal: (column) => `${column}::text`,
  ordered: (column) => `${column}::text`,
  text: (column) => `${column}::text`,
  list: () => 'text',
};

/** Its cast to text shows a mask that its own text form leaves out. */
const inet: Codec = (() => {
  const shown = (column: string) =>
    `(case when masklen(${column}) = case family(${column}) when 4 then 32 else 128 end then host(${column}) else ${column}::text end)`;
  return { ...unknown, equal: shown, ordered: shown, text: shown };
})();

const json: Codec = {
  type: 'Json',
  operators: families.presence,
  sortable: false,
  decode: decodeJson,
  encode: printJson,
  list: () => 'jsonb',
};

const table: Readonly<Record<string, Codec>> = {
  int2: integer,
  int4: integer,
  int8: integer,
  oid: { ...integer, summed: (column) => `${column}::bigint` },
  numeric,
  float4: float('real'),
  float8: float('double precision'),
  bool: boolean,
  text: text('text'),
  varchar: text('text'),
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
  timestamp: instant('timestamp'),
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
  json,
  jsonb: json,
  bytea: {
    type: 'Binary',
    operators: families.equality,
    sortable: false,
    decode: (value) => Buffer.from(String(value).slice(2), 'hex'),
    encode: same,
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

/** The bits of whole numbers: others than these cannot be cast to their type, where the test should be false. */
const bits: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64 };

function array(element: Codec, { name, sql }: PostgresType): Codec {
  const decode = element.decode ?? same;
  const size = bits[name];
  const fits = (item: unknown) =>
    item === null || (isInt64(item) && BigInt.asIntN(size!, BigInt(String(item))) === BigInt(String(item)));
  return {
    type: [element.type as PrimitiveType],
    operators: families.array,
    sortable: false,
    decode: (value) => decodeArray(String(value), decode),
    encode: element.encode,
    stored: (value) => (value as readonly unknown[]).map((item) => (item === null ? null : element.encode(item))),
    // Elements are compared in their own type, unless it cannot hold what was sent.
    ...(size && {
      kindOf: (item: unknown) => (fits(item) ? '' : 'n'),
      equal: (column: string, kind: string) => (kind === 'n' ? `${column}::numeric[]` : column),
    }),
    list: (kind) => (kind === 'n' ? 'numeric' : sql),
  };
}

/** `{1,NULL,"a\"b",{2,3}}`: the text form of an array. */
export function decodeArray(text: string, decode: (value: unknown) => unknown): unknown[] {
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
    fail('INVALID_VALUE', { at: 'filter', expected: 'a text without NUL characters', got: value });
  }
  return value;
}
