// RFC 8259 section 6: a JSON number may have any number of digits, but JSON.parse silently rounds it to the nearest
// double. The rounded number can be the id of another record, or another amount. Such numbers are therefore rejected
// before parsing. Clients in JavaScript, and parsers of host applications, have rounded before this code reads the
// number: integers beyond 2^53 are therefore rejected where a value or an id is read.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A decimal with this many digits survives the conversion to a double. */
const SAFE_DIGITS = 15;
const SHOWN = 60;

const isNumberPart = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e || (byte & 0xdf) === 0x45);

/** Describes the first number in the JSON that parsing would change; undefined if there is no such number. */
export function findInexactNumber(input: Uint8Array | string): string | undefined {
  const json = typeof input === 'string' ? Buffer.from(input) : input;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      let end = at + 1;
      let hasPower = false;
      for (; isNumberPart(json[end]); end++) hasPower ||= (json[end]! & 0xdf) === 0x45;
      const from = at;
      at = end - 1;
      if (end - from <= SAFE_DIGITS && !hasPower) continue;
      const literal = Buffer.from(json.subarray(from, Math.min(end, from + 2000))).toString('latin1');
      if (!isExact(literal))
        return describeNumber(literal, Buffer.from(json.subarray(Math.max(0, from - 200), from)).toString());
    }
  }
  return undefined;
}

/** Whether JSON.parse preserves the value of the number. */
export function isExact(literal: string): boolean {
  if (literal.length <= SAFE_DIGITS && !/e/i.test(literal)) return true;
  const number = Number(literal);
  // If it is not a number, the parser reports it.
  if (Number.isNaN(number)) return true;
  return Number.isFinite(number) && canonical(literal) === canonical(String(number));
}

/**
 * Whether the value may be a number that the client or a parser has rounded: an integer of this size stands for several.
 */
export const losesPrecision = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

/** What to send instead. */
export const digitsAsString = 'its digits as a string, because JSON numbers above 9007199254740991 are rounded';

/** Sign, digits and power of ten: equal for equal values. */
function canonical(literal: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? '0' : `${sign}${short}e${Number(power) - fraction.length + digits.length - short.length}`;
}

function describeNumber(literal: string, before: string): string {
  const key = /"([^"\\]{1,60})"\s*:\s*(?:\[[^{}"]*)?$/.exec(before)?.[1];
  const shown = literal.length > SHOWN ? `${literal.slice(0, SHOWN)}...` : literal;
  const where = key === undefined ? '' : ` (at '${key}')`;
  return `the number ${shown}${where} cannot be represented exactly as a JSON number. Send its digits as a string: "${shown}".`;
}
