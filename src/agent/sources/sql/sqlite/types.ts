// The declared types of SQLite columns. SQLite stores any value in any column: a date may be a text in several formats,
// or a number. Introspection samples some rows of each such column (`Sample`). If all have one format, the column is
// compared directly and can use its index. Otherwise SQL converts both sides to one format.
import { fail } from '../../../../core/errors.ts';
import { offsetAt } from '../../aggregate/local-time.ts';
import { stringifyJson } from '../../lossless-json.ts';
import { offsetsBetween, zoneOffsets } from '../../zones.ts';
import {
  type Codec,
  canonicalFraction,
  decodeDigits,
  decodeJson,
  decodeTime,
  encodeDay,
  encodeInstant,
  families,
  finite,
  identity,
  notFinite,
} from '../codec.ts';
import { isUtc, writeOffsetCase, zoneless } from '../zoneless.ts';

/** The formats found: `text:19: :` is a text of 19 characters with a space at position 11 and no `Z` at the end. */
export type Sample = ReadonlySet<string>;

/** Whether introspection must sample a column of this declared type. */
export function needsSample(declared: string): boolean {
  return declared === '' || /^(date|datetime|timestamp|uuid|guid)/.test(normal(declared));
}

const normal = (declared: string): string => declared.toLowerCase().replace(/\(.*$/, '').trim();

export function sqliteCodec(declared: string, sample: Sample): Codec {
  const type = normal(declared);
  if (type === '') return untyped(sample);
  if (/^bool/.test(type) || /^(tinyint|bit)\(1\)/i.test(declared.toLowerCase())) return boolean;
  if (/^json/.test(type)) return json;
  if (/^(uuid|guid|uniqueidentifier)$/.test(type)) return uuid(sample);
  if (/^(datetime|timestamp)/.test(type)) return instant(sample);
  if (type === 'date') return day(sample);
  if (/^time\b/.test(type)) return time;
  if (/int/.test(type) && type !== 'point' && type !== 'interval') return integer;
  if (/char|clob|text|enum|string|point|interval|inet|xml/.test(type)) return text;
  if (/blob|binary|bytea/.test(type)) return binary;
  if (/real|doub|floa/.test(type)) return real;
  if (/decimal|numeric|number|money|year/.test(type)) return decimal(declared);
  return codecOfSample(sample);
}

/**
 * Thrown by a decoder for an integer that a double cannot hold. The statement then runs again with 64-bit integers.
 */
export const needsBigIntegers = new Error('needs 64-bit integers');

function decodeNumber(value: unknown): unknown {
  if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw needsBigIntegers;
    return Number.isFinite(value) ? value : notFinite(value);
  }
  return decodeExactNumber(value);
}

/** Decodes a number read with 64-bit integers. */
function decodeExactNumber(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'string') return decodeDigits(value);
  return value;
}

function encodeNumber(value: unknown): unknown {
  if (typeof value === 'number') return value;
  if (value === 'NaN')
    fail('INVALID_VALUE', { at: 'filter', expected: 'a value that this database can store', got: value });
  const digits = String(value);
  if (!/^-?\d+$/.test(digits)) return Number(digits);
  const big = BigInt(digits);
  return BigInt.asIntN(64, big) === big ? big : Number(digits);
}

const integer: Codec = {
  type: 'Number',
  operators: families.ordered,
  sortable: true,
  decode: decodeNumber,
  encode: encodeNumber,
  stored: (value) => {
    const number = encodeNumber(value);
    // SQLite would store it as the nearest double.
    const isRounded = typeof number === 'number' && Number.isInteger(number) && !Number.isSafeInteger(number);
    if (isRounded || (typeof value === 'string' && typeof number === 'number'))
      fail('INVALID_VALUE', {
        at: 'value',
        expected: 'a number of at most 15 digits, or a 64-bit integer',
        got: value,
      });
    return number;
  },
};
const decimal = (declared: string): Codec => {
  const scale = Number(/\(\s*\d+\s*,\s*(\d+)\s*\)/.exec(declared)?.[1] ?? 0);
  return scale > 0 && scale <= 12 ? { ...integer, scale } : integer;
};
const real: Codec = {
  ...integer,
  stored: (value) => (typeof value === 'number' ? value : integer.stored!(value)),
  decode: (value) =>
    typeof value === 'number' ? (Number.isFinite(value) ? value : notFinite(value)) : decodeExactNumber(value),
};

const boolean: Codec = {
  type: 'Boolean',
  operators: families.ordered,
  sortable: true,
  decode: (value) => (typeof value === 'string' ? /^(1|t|true|yes|y|on)$/i.test(value) : Number(value) !== 0),
  encode: (value) => (value ? 1 : 0),
  grouped: (column) =>
    `(case typeof(${column}) when 'text' then lower(${column}) in ('1', 't', 'true', 'yes', 'y', 'on') else ${column} <> 0 end)`,
};

const text: Codec = {
  type: 'String',
  operators: families.text,
  sortable: true,
  decode: (value) =>
    typeof value === 'string' ? value : Buffer.isBuffer(value) ? value.toString('utf8') : String(value),
  encode: String,
  units: (column) => `length(${column})`,
};

const binary: Codec = {
  type: 'Binary',
  operators: families.equality,
  sortable: false,
  decode: (value) => (Buffer.isBuffer(value) ? value : Buffer.from(String(value))),
  encode: identity,
};

const json: Codec = {
  type: 'Json',
  operators: families.presence,
  sortable: false,
  // A document that is a single number is stored as a number, and may arrive as a bigint.
  decode: decodeJson,
  encode: stringifyJson,
};

const time: Codec = {
  type: 'Time',
  operators: families.ordered,
  sortable: true,
  decode: decodeTime,
  encode: (value) =>
    /^\d\d:/.test(String(value))
      ? String(value)
      : fail('INVALID_VALUE', { at: 'filter', expected: "a time such as '14:30:00'", got: value }),
};

/** For unknown or missing declared types, the sampled rows decide. */
function codecOfSample(sample: Sample): Codec {
  const kinds = new Set([...sample].map((form) => form.split(':')[0]));
  if (kinds.size > 0 && [...kinds].every((kind) => kind === 'integer' || kind === 'real')) return integer;
  if (kinds.size === 1 && kinds.has('text')) return text;
  if (kinds.size === 1 && kinds.has('blob')) return binary;
  return { ...text, equal: asText, ordered: asText, text: asText };
}
const untyped = codecOfSample;
const asText = (column: string): string => `cast(${column} as text)`;

function uuid(sample: Sample): Codec {
  const upper = [...sample].some((form) => form.endsWith('U'));
  const lower = (column: string) => `lower(${column})`;
  return {
    type: 'Uuid',
    operators: families.ordered,
    sortable: true,
    decode: (value) => String(value).toLowerCase(),
    encode: (value) => String(value).toLowerCase(),
    ...(upper ? { equal: lower, ordered: lower } : {}),
  };
}

interface TimeForm {
  readonly encode: (value: unknown) => unknown;
  /** SQL of `YYYY-MM-DD HH:MM:SS`, truncated to seconds. */
  readonly utc: (column: string) => string;
  /** Truncates to the precision of the format. */
  readonly stored: (value: unknown) => unknown;
  readonly milliseconds?: (column: string) => string;
}

/** The single format of all sampled instants, if values in it sort in order of time. */
function instantForm(sample: Sample): TimeForm | undefined {
  const forms = [...sample];
  const only = (...allowed: string[]) => forms.length > 0 && forms.every((form) => allowed.includes(form));
  const text = (separator: string, digits: number | 'idle', zone: string): TimeForm => {
    const write = (value: unknown, mark: string): string => {
      const utc = encodeInstant(value);
      const fraction = utc.slice(20).padEnd(6, '0');
      const cut = digits === 'idle' ? (fraction === '000000' ? '' : fraction) : fraction.slice(0, digits);
      const finer = digits !== 'idle' && /[1-9]/.test(fraction.slice(digits)) ? mark : '';
      return `${utc.slice(0, 10)}${separator}${utc.slice(11, 19)}${cut ? `.${cut}` : ''}${zone}${finer}`;
    };
    // A value with more precision than the format gets a suffix: it sorts between two stored values and equals neither.
    return {
      encode: finite((value) => write(value, '~')),
      stored: (value) => write(value, ''),
      utc: (column) => `substr(${column}, 1, 19)`,
    };
  };
  const number = (unit: number, utc: TimeForm['utc']): TimeForm => ({
    utc,
    milliseconds: (column) => `(${column} * ${unit})`,
    encode: finite((value) => Date.parse(String(value)) / unit),
    stored: (value) => Math.floor(Date.parse(String(value)) / unit),
  });
  if (only('text:24:T:Z')) return text('T', 3, 'Z');
  if (only('text:20:T:Z')) return text('T', 0, 'Z');
  if (only('text:19:T:')) return text('T', 0, '');
  if (only('text:19: :')) return text(' ', 0, '');
  if (only('text:23: :')) return text(' ', 3, '');
  if (only('text:19: :', 'text:26: :')) return text(' ', 'idle', '');
  if (only('integer:s')) return number(1000, (column) => `datetime(${column}, 'unixepoch')`);
  // Integer division truncates toward zero, but times before 1970 must round down.
  const seconds = (column: string) => `(${column} - (${column} % 1000 + 1000) % 1000) / 1000`;
  if (only('integer:ms')) return number(1, (column) => `datetime(${seconds(column)}, 'unixepoch')`);
  return undefined;
}

/** The SQL equivalent of {@link hasZone}. */
const hasZoneSql = (column: string): string =>
  `(length(${column}) > 10 and (substr(${column}, -1) in ('Z', 'z') or substr(${column}, -6, 1) in ('+', '-')))`;

/** The date modifier that converts a text without zone to UTC. */
function toUtcSql(column: string, zone: string): string {
  const written = `strftime('%Y-%m-%dT%H:%M:%fZ', ${column})`;
  const bound = (local: string) => `'${local}'`;
  const shift = writeOffsetCase(utcFrom(zone), written, bound, (seconds) => `'${seconds} seconds'`);
  return `, case when ${hasZoneSql(column)} then '0 seconds' else ${shift} end`;
}

const utcFrom = (zone: string) => offsetsBetween(zoneOffsets(zone), zoneOffsets('UTC'));

const canonicalSql = (column: string, zone?: string): string =>
  `case typeof(${column}) when 'text' then strftime('%Y-%m-%dT%H:%M:%fZ', ${column}${zone ? toUtcSql(column, zone) : ''}) when 'null' then null else ` +
  `strftime('%Y-%m-%dT%H:%M:%fZ', case when abs(${column}) >= 100000000000 then ${column} / 1000.0 else ${column} end, 'unixepoch') end`;

function instant(sample: Sample): Codec {
  // Calendar days in a column declared as a time: no zone conversion applies.
  if (sample.size > 0 && [...sample].every((form) => form === 'text:10::')) return day(sample);
  const form = instantForm(sample);
  const base = { type: 'Date', operators: families.ordered, sortable: true, decode: decodeSqliteInstant } as const;
  if (!form) return { ...mixedInstant(), inZone: (zone) => mixedInstant(isUtc(zone) ? undefined : zone) };
  const { encode, stored, utc, milliseconds } = form;
  const written = [...sample].sort().join();
  const plain: Codec = { ...base, encode, stored, utc, form: written, ...(milliseconds && { milliseconds }) };
  const isInstant = [...sample].every((each) => each.startsWith('integer') || each.endsWith(':Z'));
  return isInstant ? plain : zoneless(plain, (value) => typeof value === 'string' && !hasZone(value));
}

/** Times in several formats: converts both sides to one format, and times without zone to UTC. */
function mixedInstant(zone?: string): Codec {
  const canonical = (column: string) => canonicalSql(column, zone);
  return {
    type: 'Date',
    operators: families.ordered,
    sortable: true,
    decode(value) {
      const time = decodeSqliteInstant(value);
      if (!zone || time === null || typeof value !== 'string' || hasZone(value)) return time;
      const local = String(time);
      const utc = new Date(Date.parse(local) + offsetAt(local, utcFrom(zone)) * 1000).toISOString();
      return local.length === 24 ? utc : `${utc.slice(0, -1)}${local.slice(23)}`;
    },
    utc: (column) => `substr(${canonical(column)}, 1, 19)`,
    encode: finite((value) => new Date(String(value)).toISOString()),
    equal: canonical,
    ordered: canonical,
  };
}

const hasZone = (text: string): boolean => text.length > 10 && /(?:z|[+-]\d\d:?\d\d)$/i.test(text);

function day(sample: Sample): Codec {
  const base = { type: 'Dateonly', operators: families.ordered, sortable: true } as const;
  // A day that is written with a time and an offset stays the day that is written.
  const decode = (value: unknown) => {
    const at = decodeSqliteInstant(value);
    return at === null ? null : String(typeof value === 'string' ? value : at).slice(0, 10);
  };
  if ([...sample].length > 0 && [...sample].every((form) => form.startsWith('text:10:'))) {
    return {
      ...base,
      decode: (value) => (typeof value === 'string' && value.length === 10 ? value : decode(value)),
      encode: finite(encodeDay),
    };
  }
  const daySql = (column: string) =>
    `substr(case when typeof(${column}) <> 'text' then ${canonicalSql(column)} when strftime('%Y', ${column}) is not null then ${column} end, 1, 10)`;
  return { ...base, decode, encode: finite(encodeDay), equal: daySql, ordered: daySql };
}

/**
 * Accepts ISO texts with or without a zone (default UTC), and seconds or milliseconds since the epoch. Returns null for
 * anything else.
 */
function decodeSqliteInstant(value: unknown): unknown {
  // Fast path: most values are already canonical.
  if (typeof value === 'string' && value.length === 24 && value[10] === 'T' && value[23] === 'Z') return value;
  if (typeof value === 'number' || typeof value === 'bigint') {
    const number = Number(value);
    const at = new Date(Math.abs(number) >= 1e11 ? number : number * 1000);
    return Number.isNaN(at.getTime()) ? null : at.toISOString();
  }
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?\s*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(
    String(value),
  );
  if (!parts) return null;
  const [, date, clock = '00:00', seconds = '00', fraction = '', zone = 'Z'] = parts;
  if (zone.toUpperCase() === 'Z') return `${date}T${clock}:${seconds}.${canonicalFraction(fraction)}Z`;
  const at = new Date(`${date}T${clock}:${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
