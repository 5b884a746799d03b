import type { Row } from '../sources/source.ts';
import type { ReadPlan, Shape, Slot } from './types.ts';

/** Makes the values of rows ready for JSON, in place: short binaries as hexadecimal digits, others as data: URIs. */
export function readyRows(rows: readonly Row[], binary: readonly Slot[]): void {
  if (binary.length === 0) return;
  for (const row of rows)
    for (const slot of binary) {
      const value = row[slot];
      if (Buffer.isBuffer(value)) row[slot] = readyBinary(value);
    }
}

function readyBinary(value: Buffer): string {
  return value.length <= 32
    ? value.toString('hex')
    : `data:application/octet-stream;base64,${value.toString('base64')}`;
}

/** The asked columns of each row; the rows themselves when they hold just those. */
export function pickColumns(rows: readonly Row[], { columns, width }: ReadPlan): readonly Row[] {
  const inPlace = columns.every((slot, index) => slot === index);
  if (inPlace && width === columns.length) return rows;
  if (inPlace) return rows.map((row) => row.slice(0, columns.length));
  return rows.map((row) => columns.map((slot) => row[slot]));
}

/** Rows as objects, relations nested; null for a relation without a record. */
export function shapeRecords(rows: readonly Row[], shape: Shape): Record<string, unknown>[] {
  return rows.map((row) => shapeRecord(row, shape));
}

function shapeRecord(row: Row, shape: Shape): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  for (const [name, slot] of shape.leaves) record[name] = row[slot];
  for (const [name, present, inner] of shape.nested)
    record[name] = row[present] === null ? null : shapeRecord(row, inner);
  return record;
}
