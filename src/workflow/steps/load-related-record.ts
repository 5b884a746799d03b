import type { RelationDescription } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { StepOf } from '../definition.ts';
import { both, idsOf, isRecord, keyOf } from './record-filter.ts';
import { type Done, fill, placeOf, type RecordPlace, readFields, type StepCall, type StepHandler } from './step.ts';

type LoadRelated = StepOf<'load-related-record'>;
type Reader = Pick<StepCall<LoadRelated>, 'engine' | 'access' | 'step'> & Partial<Pick<StepCall, 'signal'>>;

/** The most records that a person chooses among. */
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

/** Packed ids of what the relation leads to, in the order of the step; `only`: of this one. */
export async function findRelated(
  reader: Reader,
  place: RecordPlace,
  wish: { readonly filter?: LoadRelated['filter']; readonly limit: number; readonly only?: string },
): Promise<readonly string[]> {
  const { engine, access, step, signal } = reader;
  const { relation, sort } = step;
  const options = signal ? { signal } : {};
  const { kind, to } = relationOf(reader, place.collection, relation);
  const fields = keyOf(reader, to);
  const only = wish.only === undefined ? undefined : isRecord(reader, { collection: to, id: wish.only });
  const filter = only ? both(only, wish.filter) : wish.filter;
  if (kind === 'many') {
    const request = { ...place, relation, fields, limit: wish.limit, ...(sort && { sort }), ...(filter && { filter }) };
    return idsOf((await engine.listRelated(access, request, options)).rows);
  }
  const paths = fields.map((field) => `${relation}:${field}`);
  const read = await readFields(reader, place, paths);
  if (paths.some((path) => read[path] == null)) return [];
  const [id] = idsOf([paths.map((path) => read[path])]);
  const request = {
    collection: to,
    fields,
    filter: both(isRecord(reader, { collection: to, id: id! }), filter),
    limit: 1,
  };
  return idsOf((await engine.list(access, request, options)).rows);
}
