// Converts a caller's value of a field to its canonical form (definitions.ts: FieldValues). Unambiguous variants are
// accepted: digits for a number, one value for a list, JSON text for a Json field.
import { digitsAsString, findInexactNumber, losesPrecision } from '../../core/filter/exact-numbers.ts';
import { readDay, readInstant, readTime } from '../lower/dates.ts';
import { readNumber } from '../resolve/values.ts';
import type { FormFile } from './definitions.ts';
import type { FieldType } from './field-types.ts';
import { isFormFile } from './form-file.ts';

const LIST_LIMIT = 10_000;
const TEXT_LIMIT = 1_000_000;

/** The message says what to send instead. */
export class ValueProblem extends Error {}

/** Null stays null. Throws ValueProblem. `zone` is the timezone of instants without an offset. */
export function readValue(type: FieldType, given: unknown, zone: string): unknown {
  return given === null ? null : readers[type](given, zone);
}

/** The hint for a missing value, or a value of another type. */
export const expected: Readonly<Record<FieldType, string>> = {
  String: 'send a string',
  Enum: 'send a string',
  Number: 'send a number',
  Boolean: 'send true or false',
  Date: "send a timestamp such as '2025-03-30T08:00:00Z'",
  Dateonly: "send a date such as '2025-03-30'",
  Time: "send a time such as '14:30:00'",
  File: "send a file as 'data:<media type>;name=<file name>;base64,<content>'",
  FileList: 'send a list of files',
  EnumList: 'send a list of strings',
  NumberList: 'send a list of numbers',
  StringList: 'send a list of strings',
  Json: 'send JSON: an object, a list, or a JSON string',
  Collection: 'send the id of a record',
};

type Reader = (given: unknown, zone: string) => unknown;

const readers: Readonly<Record<FieldType, Reader>> = {
  String: readText,
  Enum: readText,
  Number(given) {
    const number = readNumber(given);
    if (typeof number === 'number' && !losesPrecision(number)) return number;
    return refuse(number === undefined ? expected.Number : 'send a number of at most 15 digits');
  },
  Boolean(given) {
    if (given === true || (typeof given === 'string' && /^true$/i.test(given))) return true;
    if (given === false || (typeof given === 'string' && /^false$/i.test(given))) return false;
    return refuse(expected.Boolean);
  },
  Date(given, zone) {
    const text = given instanceof Date && !Number.isNaN(given.getTime()) ? given.toISOString() : given;
    return (typeof text === 'string' ? readInstant(text, zone, true) : undefined) ?? refuse(expected.Date);
  },
  Dateonly: (given) => (typeof given === 'string' ? readDay(given.trim()) : undefined) ?? refuse(expected.Dateonly),
  Time: (given) => (typeof given === 'string' ? readTime(given.trim()) : undefined) ?? refuse(expected.Time),
  File: readFile,
  FileList: (given, zone) => readItems('File', given, zone),
  EnumList: (given, zone) => readItems('Enum', given, zone),
  NumberList: (given, zone) => readItems('Number', given, zone),
  StringList: (given, zone) => readItems('String', given, zone),
  Json(given) {
    if (typeof given !== 'string') return given;
    const inexact = findInexactNumber(given);
    if (inexact !== undefined) return refuse(inexact);
    try {
      return JSON.parse(given) as unknown;
    } catch {
      return refuse(expected.Json);
    }
  },
  // form.ts knows the collection, and checks the parts.
  Collection(given) {
    const parts = Array.isArray(given) ? given : [given];
    if (parts.length > 0 && parts.every((part) => typeof part === 'string' || typeof part === 'number')) return parts;
    return refuse(expected.Collection);
  },
};

function readText(given: unknown): string {
  if (losesPrecision(given)) return refuse(`send ${digitsAsString}`);
  if (typeof given === 'number' || typeof given === 'boolean') return String(given);
  if (typeof given !== 'string') return refuse(expected.String);
  if (given.length > TEXT_LIMIT) return refuse(`send a string of at most ${TEXT_LIMIT} characters`);
  return given;
}

function readItems(type: FieldType, given: unknown, zone: string): unknown[] {
  const items = Array.isArray(given) ? given : [given];
  if (items.length > LIST_LIMIT) return refuse(`send a list of at most ${LIST_LIMIT} values`);
  return items.map((item, index) => {
    try {
      return readers[type](item, zone);
    } catch (error) {
      return refuse(`value ${index + 1}: ${(error as ValueProblem).message}`);
    }
  });
}

/** `data:<media type>[;name=<encoded>];base64,<content>`, or a FormFile of a caller in the same process. */
function readFile(given: unknown): FormFile {
  if (isFormFile(given)) return given;
  const found = typeof given === 'string' ? /^data:([^,]*?);base64,([A-Za-z0-9+/_\s-]*={0,2}\s*)$/.exec(given) : null;
  if (!found) return refuse(expected.File);
  const [mimeType = '', ...parameters] = found[1]!.split(';');
  const name = parameters.find((parameter) => parameter.startsWith('name='))?.slice('name='.length);
  return {
    name: name === undefined ? 'file' : decodeName(name),
    mimeType: mimeType || 'application/octet-stream',
    content: Buffer.from(found[2]!, 'base64'),
  };
}

function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return refuse('send the file name percent-encoded');
  }
}

function refuse(problem: string): never {
  throw new ValueProblem(problem);
}
