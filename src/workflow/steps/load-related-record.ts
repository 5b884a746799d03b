import type { RelationDescription } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { StepOf } from '../definition.ts';
import { both, idsOf, isRecord, keyOf } from './record-filter.ts';
import { titleFieldsOf, titleOf } from './record-title.ts';
import { type Done, fill, placeOf, type RecordPlace, readFields, type StepCall, type StepHandler } from './step.ts';

type LoadRelated = StepOf<'load-related-record'>;
type Reader = Pick<StepCall<LoadRelated>, 'engine' | 'access' | 'step'> & Partial<Pick<StepCall, 'signal'>>;

/** The most records that a person is offered; another is typed by its id. */
export const CANDIDATES = 50;

/** Takes one record that a relation leads to: the first in the order of the step, or the one that a person chooses. */
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
  /** Packed: this one alone. */
  readonly only?: string;
}

/** Packed ids of what the relation leads to, in the order of the step. */
export async function findRelated(reader: Reader, place: RecordPlace, wish: Wish): Promise<readonly string[]> {
  return idsOf(await readRelated(reader, place, { ...wish, beside: [], sort: reader.step.sort }));
}

export interface Candidate {
  /** Packed. */
  readonly id: string;
  /** By what people know it; undefined where the asker sees nothing that says it. */
  readonly title?: string;
}

/** The same for a person to choose from: in the order of the step, else by their titles. */
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

/** The values of the key, and behind them those `beside` it. */
async function readRelated(
  reader: Reader,
  place: RecordPlace,
  {
    filter: given,
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
