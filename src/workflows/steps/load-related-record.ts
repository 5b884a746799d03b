import type { RelationDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { StepOf } from '../definition/definition.ts';
import type { RecordPlace } from './input-request.ts';
import { both, idsOf, isRecord, keyOf } from './record-filter.ts';
import { titleFieldsOf, titleOf } from './record-title.ts';
import { type Done, fill, placeOf, readFields, type StepCall, type StepHandler } from './step.ts';

type LoadRelated = StepOf<'load-related-record'>;
type Reader = Pick<StepCall<LoadRelated>, 'engine' | 'access' | 'step'> & Partial<Pick<StepCall, 'signal'>>;

/** Maximum number of records offered to a person. Others can be entered by id. */
export const CANDIDATES = 50;

/** Selects one related record: the first in the order of the step, or the one chosen by a person. */
export const loadRelatedRecord: StepHandler<LoadRelated> = async (call) => {
  const { step, answered } = call;
  const { mode = 'automatic', relation, otherwise } = step;
  const place = placeOf(call);
  const { to } = relationOf(call, place.collection, relation);
  const filter = step.filter && (await fill(call, step.filter));
  const none = (): Done => ({
    kind: 'done',
    outcome: { found: 0 },
    isSkipped: true,
    ...(otherwise !== undefined && { next: otherwise }),
  });
  if (answered?.answer.decision === 'none') return none();
  const chosen = answered && String(answered.answer.values.record);
  const ids = await findRelated(call, place, { filter, limit: 1, ...(chosen !== undefined && { only: chosen }) });
  const [id] = ids;
  if (id === undefined) {
    return chosen === undefined ? none() : fail('RECORD_NOT_FOUND', { collection: to, id: chosen });
  }
  if (answered || mode === 'automatic') {
    const data: RecordPlace = { collection: to, id };
    const read = { action: 'read', collection: to, recordIds: [id] };
    return { kind: 'done', outcome: { found: 1, collection: to }, data, read };
  }
  const asked = { ask: 'record', ...place, relation, ...(mode === 'confirm' && { proposed: id }) } as const;
  return { kind: 'wait', reason: 'choice', asked };
};

export function relationOf({ engine, access }: Reader, collection: string, name: string): RelationDescription {
  const { relations } = engine.describe(access, collection);
  const found = relations.find((each) => each.name === name);
  const near = nearNames(
    name,
    relations.map((each) => each.name),
  );
  return found ?? fail('UNKNOWN_RELATION', { collection, relation: name, near });
}

interface Wish {
  readonly filter?: LoadRelated['filter'];
  readonly limit: number;
  /** Packed id. Restricts the result to this record. */
  readonly only?: string;
}

/** Returns packed ids of related records, in the order of the step. */
export async function findRelated(reader: Reader, place: RecordPlace, wish: Wish): Promise<readonly string[]> {
  return idsOf(await readRelated(reader, place, { ...wish, beside: [], sort: reader.step.sort }));
}

export interface Candidate {
  /** Packed. */
  readonly id: string;
  /** Display title; undefined if no readable field serves as one, or if it is empty. */
  readonly title?: string;
}

/** Returns the records for a person to choose from. Sorted by the step's order, or else by title. */
export async function findCandidates(reader: Reader, place: RecordPlace, wish: Wish): Promise<readonly Candidate[]> {
  const { engine, access, step } = reader;
  const { to } = relationOf(reader, place.collection, step.relation);
  const beside = titleFieldsOf(engine, access, to);
  const { fields } = engine.describe(access, to);
  const isSortable = beside.every((name) => fields.some((field) => field.name === name && field.sortable));
  const sort = step.sort ?? (isSortable ? beside.map((field) => ({ field })) : []);
  const rows = await readRelated(reader, place, { ...wish, beside, sort });
  return rows.map((row) => {
    const [id] = idsOf([row.slice(0, row.length - beside.length)]);
    const title = titleOf(row.slice(row.length - beside.length));
    return { id: id!, ...(title !== undefined && { title }) };
  });
}

/** Returns rows with the key columns first, followed by the `beside` columns. */
async function readRelated(
  reader: Reader,
  place: RecordPlace,
  {
    filter: stored,
    limit,
    only,
    beside,
    sort,
  }: Wish & { readonly beside: readonly string[]; readonly sort: LoadRelated['sort'] },
): Promise<readonly (readonly unknown[])[]> {
  const { engine, access, step, signal } = reader;
  const { relation } = step;
  const options = signal ? { signal } : {};
  const { kind, to } = relationOf(reader, place.collection, relation);
  const key = keyOf(reader, to);
  const fields = [...key, ...beside];
  const given = stored && engine.storedFilters.keepMeaning(access, to, stored);
  const filter = only === undefined ? given : both(isRecord(reader, { collection: to, id: only }), given);
  if (kind === 'many') {
    const isSorted = sort !== undefined && sort.length > 0;
    const request = { ...place, relation, fields, limit, ...(isSorted && { sort }), ...(filter && { filter }) };
    return (await engine.listRelated(access, request, options)).rows;
  }
  const paths = key.map((field) => `${relation}:${field}`);
  const read = await readFields(reader, place, paths);
  if (paths.some((path) => read[path] == null)) return [];
  const [id] = idsOf([paths.map((path) => read[path])]);
  const its = both(isRecord(reader, { collection: to, id: id! }), filter);
  return (await engine.list(access, { collection: to, fields, filter: its, limit: 1 }, options)).rows;
}
