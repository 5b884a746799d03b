// Filters that match one record by its key, as the user of the run.

import { packId, splitId } from '../../agent/encode/record-id.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { AppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { RecordReference } from './input-request.ts';

type RecordReader = { readonly engine: Engine; readonly access: Access; readonly step: { readonly id: string } };

/** Names of the key fields. Throws STEP_FAILED when they are not visible to the user. */
export function requireKey({ engine, access, step }: RecordReader, collection: string): readonly string[] {
  const { key } = engine.describe(access, collection);
  if (key.length > 0) return key;
  const problem = `the key of '${collection}' cannot be read, and a record needs it as its id.`;
  throw new AppError('STEP_FAILED', { step: step.id, problem });
}

export function recordFilter(reader: RecordReader, { collection, id }: RecordReference): PlainFilter {
  const { engine, access } = reader;
  const key = requireKey(reader, collection);
  const { fields } = engine.describe(access, collection);
  const values = key.length === 1 ? [id] : splitId(id);
  if (values.length !== key.length) throw new AppError('RECORD_NOT_FOUND', { collection, id });
  const conditions = key.map((field, at): PlainFilter => {
    const isNumber = fields.find(({ name }) => name === field)?.type === 'Number';
    const number = isNumber ? Number(values[at]) : Number.NaN;
    return { field, operator: 'Equal', value: Number.isSafeInteger(number) ? number : values[at] };
  });
  return { aggregator: 'And', conditions };
}

export const andFilter = (one: PlainFilter, other: PlainFilter | undefined): PlainFilter =>
  other === undefined ? one : { aggregator: 'And', conditions: [one, other] };

/** Packed ids of rows that consist of the key columns. */
export const packIds = (rows: readonly (readonly unknown[])[]): readonly string[] => rows.map((row) => packId(row));
