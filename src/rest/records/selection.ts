// Determines the records of a request: explicit ids, or all records of a list except some. An empty list of ids never
// means all. Conditions are resolved to ids first, with the caller's own fields and visible rows. Records selected
// under a parent record must be related to it.

import { packId, splitId } from '../../agent/encode/record-id.ts';
import type { CollectionDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { hasName } from '../../core/suggestions.ts';
import { castValues } from '../filters.ts';
import { type RecordConditions, readListing } from '../parameters.ts';
import type { DataCall } from '../route.ts';
import { describe, typeAt } from '../visible-schema.ts';
import { failArgument, isObject, type JsonObject, readId, readIds, readMember, readText } from './body.ts';

export interface Selection {
  /** Empty with `all`. */
  readonly ids: readonly string[];
  readonly all?: { readonly excluded: readonly string[]; readonly conditions: RecordConditions };
  /** The parent record and its relation to the selected records. */
  readonly parent?: { readonly collection: string; readonly id: string; readonly relation: string };
}

/**
 * Reads `ids`, `all_records`, `all_records_ids_excluded`, `all_records_subset_query` (parameters of a list),
 * `parent_collection_name`, `parent_collection_id` and `parent_association_name`.
 */
export function parseSelection(attributes: JsonObject): Selection {
  const parent = parseParent(attributes);
  const isAll = attributes.all_records ?? false;
  if (typeof isAll !== 'boolean') return failArgument('all_records', 'expected true or false.');
  const parentPart = parent && { parent };
  if (!isAll) return { ids: readIds(attributes.ids ?? [], 'ids'), ...parentPart };
  const excluded = readIds(attributes.all_records_ids_excluded ?? [], 'all_records_ids_excluded');
  return { ids: [], all: { excluded, conditions: parseSubset(attributes) }, ...parentPart };
}

function parseParent(attributes: JsonObject): Selection['parent'] {
  const names = ['parent_collection_name', 'parent_association_name'] as const;
  const [collection, relation] = names.map((name) => readText(attributes, name));
  const id = attributes.parent_collection_id ?? undefined;
  if (collection === undefined && relation === undefined && id === undefined) return undefined;
  // Ignoring an incomplete parent would widen the selection.
  if (collection === undefined || relation === undefined || id === undefined)
    return failArgument([...names, 'parent_collection_id'].join(', '), 'send all three, or leave all of them out.');
  return { collection, relation, id: readId(id, 'parent_collection_id') };
}

function parseSubset(attributes: JsonObject): RecordConditions {
  const query = new URLSearchParams();
  const subset = readMember(attributes, 'all_records_subset_query', 'all_records_subset_query');
  for (const [name, value] of Object.entries(subset)) {
    if (value === null || value === undefined) continue;
    query.append(name, isObject(value) ? JSON.stringify(value) : String(value));
  }
  return readListing({ query, headers: {} }).conditions;
}

/**
 * `most`: the maximum number of records per call. Throws INVALID_ARGUMENT with the count if there are more, and
 * RECORD_NOT_FOUND if an id is not related to the parent.
 */
export async function selectIds(
  { ids, all, parent }: Selection,
  { collection, maxRecords }: { readonly collection: string; readonly maxRecords: number },
  call: DataCall,
): Promise<readonly string[]> {
  if (!all && !parent) return ids;
  if (!all && ids.length === 0) return [];
  const description = describe(call, collection);
  const { key } = description;
  if (key.length === 0) fail('FORBIDDEN', { verb: 'choose records of', collection, why: 'you may not see its key.' });
  if (parent) checkParent(parent, collection, call);
  const conditions: RecordConditions = all ? toConditions(description, all, call) : { filter: idsFilter(key, ids) };
  const found = await listIds({ collection, parent, key, conditions, maxRecords }, call);
  if (found.hasMore) return failTooMany({ collection, parent }, conditions, maxRecords, call);
  if (all) return found.ids;
  const foundIds = new Set(found.ids);
  const missing = ids.filter((id) => !foundIds.has(id));
  if (missing.length > 0) fail('RECORD_NOT_FOUND', { collection, id: missing[0]!, missing });
  return ids;
}

/** The relation must lead to the collection of the selected records. */
function checkParent({ collection, relation }: NonNullable<Selection['parent']>, to: string, call: DataCall): void {
  const foundRelation = describe(call, collection).relations.find((each) => hasName(each, relation));
  if (foundRelation?.to === to) return;
  failArgument('parent_association_name', `'${relation}' is not a relation from '${collection}' to '${to}'.`);
}

interface SelectionScope {
  readonly collection: string;
  readonly parent: Selection['parent'] | undefined;
}

interface IdQuery extends SelectionScope {
  readonly key: readonly string[];
  readonly conditions: RecordConditions;
  readonly maxRecords: number;
}

async function listIds(
  { collection, parent, key, conditions, maxRecords }: IdQuery,
  { access, engine, config, signal }: DataCall,
) {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(config.pageSizeLimit, maxRecords - ids.length);
    const request = { ...conditions, fields: key, limit, ...(cursor !== undefined && { cursor }) };
    const page = parent
      ? await engine.listRelated(access, { ...request, ...parent }, { signal })
      : await engine.list(access, { ...request, collection }, { signal });
    for (const row of page.rows) ids.push(packId(row));
    if (!page.hasMore) return { ids, hasMore: false };
    cursor = page.cursorAfter(page.rows.length - 1);
    if (ids.length >= maxRecords || cursor === undefined) return { ids, hasMore: true };
  }
}

async function failTooMany(
  { collection, parent }: SelectionScope,
  conditions: RecordConditions,
  maxRecords: number,
  call: DataCall,
): Promise<never> {
  const { access, engine, signal } = call;
  const { countable } = describe(call, collection);
  const count = parent
    ? () => engine.countRelated(access, { ...conditions, ...parent }, { signal })
    : () => engine.count(access, { ...conditions, collection }, { signal });
  const countText = countable ? `${await count()}` : `more than ${maxRecords}`;
  return failArgument(
    'all_records',
    `the call was not executed: it selects ${countText} records of '${collection}', and one call takes at most ${maxRecords}. Narrow all_records_subset_query, or send them in several calls.`,
  );
}

/** Builds a filter for ids in the API's notation. The engine rejects values of the wrong type. */
function idsFilter(key: readonly string[], ids: readonly string[]): PlainFilter {
  if (key.length === 1) return { field: key[0]!, operator: 'In', value: ids };
  return {
    aggregator: 'Or',
    conditions: ids.map((id) => ({ aggregator: 'And', conditions: keyConditions(key, id, 'Equal') })),
  };
}

function toConditions(
  description: CollectionDescription,
  { excluded, conditions: { filter, ...rest } }: NonNullable<Selection['all']>,
  call: DataCall,
): RecordConditions {
  const conditions = [
    ...(filter ? [castValues(filter, (field) => typeAt(call, description, field))] : []),
    ...excludeIds(description.key, excluded),
  ];
  return conditions.length === 0 ? rest : { ...rest, filter: { aggregator: 'And', conditions } };
}

function excludeIds(key: readonly string[], ids: readonly string[]): readonly PlainFilter[] {
  if (ids.length === 0) return [];
  if (key.length === 1) return [{ field: key[0]!, operator: 'NotIn', value: ids }];
  return ids.map((id) => ({ aggregator: 'Or', conditions: keyConditions(key, id, 'NotEqual') }));
}

function keyConditions(key: readonly string[], id: string, operator: 'Equal' | 'NotEqual'): PlainFilter[] {
  const values = splitId(id);
  if (values.length !== key.length) failArgument('ids', `'${id}' is not an id: expected ${key.join('|')}.`);
  return key.map((field, at) => ({ field, operator, value: values[at] }));
}
