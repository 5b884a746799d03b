import type { RelationDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { StepOf } from '../definition/definition.ts';
import type { RecordReference } from './input-request.ts';
import { andFilter, packIds, requireKey, selectRecord } from './record-filter.ts';
import { findTitleFields, formatTitle } from './record-title.ts';
import { type DoneResult, fillStepTemplates, readFields, recordOf, type StepCall, type StepHandler } from './step.ts';

type LoadRelatedStep = StepOf<'load-related-record'>;
type RelatedReader = Pick<StepCall<LoadRelatedStep>, 'engine' | 'access' | 'step'> & Partial<Pick<StepCall, 'signal'>>;

/** Maximum number of records offered to a person. Others can be entered by id. */
export const MAX_CANDIDATES = 50;

/** Selects one related record: the first in the order of the step, or the one chosen by a person. */
export const loadRelatedRecord: StepHandler<LoadRelatedStep> = async (call) => {
  const { step, answered } = call;
  const { mode = 'automatic', relation, otherwise } = step;
  const record = recordOf(call);
  const { to } = requireRelation(call, record.collection, relation);
  const filter = step.filter && (await fillStepTemplates(call, step.filter));
  const skipStep = (): DoneResult => ({
    kind: 'done',
    outcome: { found: 0 },
    isSkipped: true,
    ...(otherwise !== undefined && { next: otherwise }),
  });
  if (answered?.answer.decision === 'none') return skipStep();
  const chosen = answered && String(answered.answer.values.record);
  const ids = await findRelated(call, record, { filter, limit: 1, ...(chosen !== undefined && { only: chosen }) });
  const [id] = ids;
  if (id === undefined) {
    return chosen === undefined ? skipStep() : fail('RECORD_NOT_FOUND', { collection: to, id: chosen });
  }
  if (answered || mode === 'automatic') {
    const data: RecordReference = { collection: to, id };
    const read = { action: 'read', collection: to, recordIds: [id] };
    return { kind: 'done', outcome: { found: 1, collection: to }, data, read };
  }
  const requestData = { ask: 'record', ...record, relation, ...(mode === 'confirm' && { proposed: id }) } as const;
  return { kind: 'wait', reason: 'choice', asked: requestData };
};

function requireRelation({ engine, access }: RelatedReader, collection: string, name: string): RelationDescription {
  const { relations } = engine.describe(access, collection);
  const found = relations.find((each) => each.name === name);
  const near = suggestNames(
    name,
    relations.map((each) => each.name),
  );
  return found ?? fail('UNKNOWN_RELATION', { collection, relation: name, near });
}

interface RelatedQuery {
  readonly filter?: LoadRelatedStep['filter'];
  readonly limit: number;
  /** Packed id. Restricts the result to this record. */
  readonly only?: string;
}

/** Returns packed ids of related records, in the order of the step. */
export async function findRelated(
  reader: RelatedReader,
  record: RecordReference,
  query: RelatedQuery,
): Promise<readonly string[]> {
  return packIds(await readRelated(reader, record, { ...query, beside: [], sort: reader.step.sort }));
}

interface Candidate {
  /** Packed. */
  readonly id: string;
  /** Display title; undefined if no readable field serves as one, or if it is empty. */
  readonly title?: string;
}

/** Returns the records for a person to choose from. Sorted by the step's order, or else by title. */
export async function findCandidates(
  reader: RelatedReader,
  record: RecordReference,
  query: RelatedQuery,
): Promise<readonly Candidate[]> {
  const { engine, access, step } = reader;
  const { to } = requireRelation(reader, record.collection, step.relation);
  const titleFields = findTitleFields(engine, access, to);
  const { fields } = engine.describe(access, to);
  const isSortable = titleFields.every((name) => fields.some((field) => field.name === name && field.sortable));
  const sort = step.sort ?? (isSortable ? titleFields.map((field) => ({ field })) : []);
  const rows = await readRelated(reader, record, { ...query, beside: titleFields, sort });
  return rows.map((row) => {
    const [id] = packIds([row.slice(0, row.length - titleFields.length)]);
    const title = formatTitle(row.slice(row.length - titleFields.length));
    return { id: id!, ...(title !== undefined && { title }) };
  });
}

/** Returns rows with the key columns first, followed by the `beside` columns. */
async function readRelated(
  reader: RelatedReader,
  record: RecordReference,
  {
    filter: stored,
    limit,
    only,
    beside: extraFields,
    sort,
  }: RelatedQuery & { readonly beside: readonly string[]; readonly sort: LoadRelatedStep['sort'] },
): Promise<readonly (readonly unknown[])[]> {
  const { engine, access, step, signal } = reader;
  const { relation } = step;
  const options = signal ? { signal } : {};
  const { kind, to } = requireRelation(reader, record.collection, relation);
  const key = requireKey(reader, to);
  const fields = [...key, ...extraFields];
  const condition = stored && engine.storedFilters.disambiguate(access, to, stored);
  const filter =
    only === undefined ? condition : andFilter(selectRecord(reader, { collection: to, id: only }).filter, condition);
  if (kind === 'many') {
    const isSorted = sort !== undefined && sort.length > 0;
    const request = { ...record, relation, fields, limit, ...(isSorted && { sort }), ...(filter && { filter }) };
    return (await engine.listRelated(access, request, options)).rows;
  }
  const paths = key.map((field) => `${relation}:${field}`);
  const keyValues = await readFields(reader, record, paths);
  if (paths.some((path) => keyValues[path] == null)) return [];
  const [id] = packIds([paths.map((path) => keyValues[path])]);
  const targetFilter = andFilter(selectRecord(reader, { collection: to, id: id! }).filter, filter);
  return (await engine.list(access, { collection: to, fields, filter: targetFilter, limit: 1 }, options)).rows;
}
