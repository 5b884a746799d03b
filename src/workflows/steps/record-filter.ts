// Filters that match one record by its key, as the user of the run.

import { packId, splitId } from '../../agent/encode/record-id.ts';
import type { Engine } from '../../agent/engine.ts';
import type { CollectionDescription } from '../../agent/requests.ts';
import type { Access } from '../../core/caller.ts';
import { AppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { RecordReference } from './input-request.ts';

type RecordReader = { readonly engine: Engine; readonly access: Access; readonly step: { readonly id: string } };

/** Describes a collection with a visible key. Throws STEP_FAILED when the key is not visible to the user. */
function describeKeyed({ engine, access, step }: RecordReader, collection: string): CollectionDescription {
  const description = engine.describe(access, collection);
  if (description.key.length > 0) return description;
  const problem = `the key of '${collection}' cannot be read, and a record needs it as its id.`;
  throw new AppError('STEP_FAILED', { step: step.id, problem });
}

/** Names of the key fields. Throws STEP_FAILED when they are not visible to the user. */
export const requireKey = (reader: RecordReader, collection: string): readonly string[] =>
  describeKeyed(reader, collection).key;

export interface RecordSelection {
  /** Names of the key fields. */
  readonly fields: readonly string[];
  readonly filter: PlainFilter;
}

export function selectRecord(reader: RecordReader, { collection, id }: RecordReference): RecordSelection {
  const { key, fields } = describeKeyed(reader, collection);
  const values = key.length === 1 ? [id] : splitId(id);
  if (values.length !== key.length) throw new AppError('RECORD_NOT_FOUND', { collection, id });
  const conditions = key.map((field, at): PlainFilter => {
    const isNumber = fields.find(({ name }) => name === field)?.type === 'Number';
    const number = isNumber ? Number(values[at]) : Number.NaN;
    return { field, operator: 'Equal', value: Number.isSafeInteger(number) ? number : values[at] };
  });
  return { fields: key, filter: { aggregator: 'And', conditions } };
}

export const andFilter = (one: PlainFilter, other: PlainFilter | undefined): PlainFilter =>
  other === undefined ? one : { aggregator: 'And', conditions: [one, other] };

/** Packed ids of rows that consist of the key columns. */
export const packIds = (rows: readonly (readonly unknown[])[]): readonly string[] => rows.map((row) => packId(row));
