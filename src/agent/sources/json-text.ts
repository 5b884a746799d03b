// JSON as a database holds it. Parsing and printing lose something: digits beyond 2^53, the order of keys that look like
// numbers, doubled keys, `1.0`. So a document that was read remembers its text, and answers are printed with that text as
// it is; code sees the parsed value, as it would without. `JSON.stringify` asks every object for `toJSON`, which is how the
// documents of an answer are found without looking for them; what stands for one until the whole is printed is a random
// text that no data can hold.
import { randomToken } from '../../core/secret.ts';

const texts = new WeakMap<object, string>();
const mark = randomToken(128);
const marks = new RegExp(`"${mark}(\\d+)"`, 'g');

/** The texts of the answer that is being printed. */
let found: string[] | undefined;

/** The parsed value; an object or a list remembers the text. SyntaxError for what is no JSON. */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // A key of that name would be hidden: the value is printed as it was parsed then.
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'toJSON')) return value;
  texts.set(value, text);
  return Object.defineProperty(value, 'toJSON', { value: asRead, writable: true, configurable: true });
}

/** As JSON.stringify; documents that nobody changed since they were read are printed with their text, byte for byte. */
export function printJson(value: unknown): string {
  const outer = found;
  const mine: string[] = [];
  found = mine;
  try {
    const printed = JSON.stringify(value);
    return mine.length ? printed.replace(marks, (_, at) => mine[Number(at)]!) : printed;
  } finally {
    found = outer;
  }
}

function asRead(this: object): unknown {
  const text = texts.get(this);
  // A copy, which knows no text: others than JSON.stringify would ask the same object again.
  if (!found || text === undefined || !isUnchanged(this, text)) return Array.isArray(this) ? [...this] : { ...this };
  return `${mark}${found.push(text) - 1}`;
}

/** Code may have changed the document in place. */
function isUnchanged(value: object, text: string): boolean {
  const outer = found;
  found = undefined;
  const now = JSON.stringify(value);
  found = outer;
  return now === text || now === JSON.stringify(JSON.parse(text));
}
