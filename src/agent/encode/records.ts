import type { BinaryMode } from '../customize/definitions.ts';
import type { Column } from '../model/types.ts';
import type { BinarySlot, Path, ReadPlan, Shape } from '../plan/types.ts';
import type { Row } from '../sources/statement.ts';

/** Makes rows ready for JSON, in place: binaries become texts. */
export function readyRows(rows: readonly Row[], binary: readonly BinarySlot[]): void {
  if (binary.length === 0) return;
  for (const row of rows)
    for (const { slot, mode } of binary) {
      const value = row[slot];
      if (Buffer.isBuffer(value)) row[slot] = readyBinary(value, mode);
      else if (Array.isArray(value))
        row[slot] = value.map((item) => (Buffer.isBuffer(item) ? readyBinary(item, mode) : item));
    }
}

/** The slots with binaries in a row of these paths. */
export function binarySlots(paths: readonly Path[]): readonly BinarySlot[] {
  let slots: BinarySlot[] | undefined;
  for (let slot = 0; slot < paths.length; slot++) {
    const { binary: mode } = paths[slot]!.field;
    if (mode === undefined) continue;
    slots ??= [];
    slots.push({ slot, mode });
  }
  return slots ?? none;
}

const none: readonly never[] = Object.freeze([]);

/** Whether callers receive `data:` URIs. */
export function isFile({ binary }: Column): boolean {
  return binary === 'datauri';
}

function readyBinary(value: Buffer, mode: BinaryMode): string {
  if (mode === 'hex') return value.toString('hex');
  return `data:${mediaType(value)};base64,${value.toString('base64')}`;
}

/** Media types by the first bytes of a file, in hexadecimal. */
const signatures: readonly (readonly [type: string, start: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['application/pdf', /^255044462d/],
  ['application/zip', /^504b0304/],
];

function mediaType(value: Buffer): string {
  const start = value.toString('hex', 0, 12);
  return signatures.find(([, pattern]) => pattern.test(start))?.[0] ?? 'application/octet-stream';
}

/** The requested columns of each row; the rows themselves if they have no others. */
export function pickColumns(rows: readonly Row[], { columns, width }: ReadPlan): readonly Row[] {
  const inPlace = columns.every((slot, index) => slot === index);
  if (inPlace && width === columns.length) return rows;
  if (inPlace) return rows.map((row) => row.slice(0, columns.length));
  return rows.map((row) => columns.map((slot) => row[slot]));
}

/** Rows as objects, with nested relations; null for a missing related record. */
export function shapeRecords(rows: readonly Row[], shape: Shape): Record<string, unknown>[] {
  return rows.map((row) => shapeRecord(row, shape));
}

/**
 * Like `Object.create(null)`, an object without inherited names. The constructor lets V8 learn the shape of the
 * records, which halves the time to create a page.
 */
const Empty = function Empty() {} as unknown as new () => Record<string, unknown>;
Empty.prototype = Object.create(null);

function shapeRecord(row: Row, shape: Shape): Record<string, unknown> {
  const record = new Empty();
  for (const [name, slot] of shape.leaves) record[name] = row[slot];
  for (const [name, present, inner] of shape.nested)
    record[name] = row[present] === null ? null : shapeRecord(row, inner);
  return record;
}
