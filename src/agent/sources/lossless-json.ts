// JSON without loss. Parsing and printing loses digits beyond 2^53, the order of numeric keys, duplicate keys and
// `1.0`. A parsed document therefore remembers its text, and responses print that text verbatim. Code sees an ordinary
// parsed value. `JSON.stringify` calls `toJSON` on every object, which finds the documents without a separate walk.
// `toJSON` returns a random placeholder that cannot occur in data; the finished output gets the texts in its place.
import { randomToken } from '../../core/secret.ts';

const texts = new WeakMap<object, string>();
const mark = randomToken(128);
const marks = new RegExp(`"${mark}(\\d+)"`, 'g');

/** The document texts of the response being printed. */
let printedDocuments: string[] | undefined;

/** Parses JSON; an object or list remembers its text. Throws SyntaxError for invalid JSON. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // The document has its own `toJSON` key, which the method would hide. It prints as parsed.
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'toJSON')) return value;
  texts.set(value, text);
  return Object.defineProperty(value, 'toJSON', { value: originalText, writable: true, configurable: true });
}

/** Like JSON.stringify, but prints documents unchanged since parsing with their original text, byte for byte. */
export function stringifyJson(value: unknown): string {
  const outer = printedDocuments;
  const mine: string[] = [];
  printedDocuments = mine;
  try {
    const printed = JSON.stringify(value);
    return mine.length ? printed.replace(marks, (_, at) => mine[Number(at)]!) : printed;
  } finally {
    printedDocuments = outer;
  }
}

function originalText(this: object): unknown {
  const text = texts.get(this);
  // A plain copy without a text. Other serializers would call `toJSON` on the same object again.
  if (!printedDocuments || text === undefined || !isUnchanged(this, text))
    return Array.isArray(this) ? [...this] : { ...this };
  return `${mark}${printedDocuments.push(text) - 1}`;
}

/** Code may have modified the document in place. */
function isUnchanged(value: object, text: string): boolean {
  const outer = printedDocuments;
  printedDocuments = undefined;
  const now = JSON.stringify(value);
  printedDocuments = outer;
  return now === text || now === JSON.stringify(JSON.parse(text));
}
