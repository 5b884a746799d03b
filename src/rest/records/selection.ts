// Determines the records of a request: explicit ids, or all records of a list except some. An empty list of ids never
// means all. Conditions are resolved to ids first, with the caller's own fields and visible rows. Records selected
// under a parent record must be related to it.

import { packId, splitId } from '../../agent/encode/record-id.ts';
import type { CollectionDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { isCalled } from '../../core/suggestions.ts';
import { castValues } from '../filters.ts';
import { type Asked, readListing } from '../parameters.ts';
import type { DataCall } from '../route.ts';
import { describe, typeAt } from '../visible-schema.ts';
import { type Given, isObject, readId, readIds, readMember, readText, refuseArgument } from './body.ts';

export interface Selection {
  /** Empty with `all`. */
  readonly ids: readonly string[];
  readonly all?: { readonly excluded: readonly string[]; readonly asked: Asked };
  /** The parent record and its relation to the selected records. */
  readonly parent?: { readonly collection: string; readonly id: string; readonly relation: string };
}

/**
 * Reads `ids`, `all_records`, `all_records_ids_excluded`, `all_records_subset_query` (parameters of a list),
 * `parent_collection_name`, `parent_collection_id` and `parent_association_name`.
 */
export function readSelection(attributes: Given): Selection {
  const parent = readParent(attributes);
  const isAll = attributes.all_records ?? false;
  if (typeof isAll !== 'boolean') return refuseArgument('all_records', 'expected true or false.');
  const some = parent && { parent };
  if (!isAll) return { ids: readIds(attributes.ids ?? [], 'ids'), ...some };
  const excluded = readIds(attributes.all_records_ids_excluded ?? [], 'all_records_ids_excluded');
  return { ids: [], all: { excluded, asked: readSubset(attributes) }, ...some };
}

function readParent(attributes: Given): Selection['parent'] {
  const names = ['parent_collection_name', 'parent_association_name'] as const;
  const [collection, relation] = names.map((name) => readText(attributes, name));
  const id = attributes.parent_collection_id ?? undefined;
  if (collection === undefined && relation === undefined && id === undefined) return undefined;
  // Ignoring an incomplete parent would widen the selection.
  if (collection === undefined || relation === undefined || id === undefined)
    return refuseArgument([...names, 'parent_collection_id'].join(', '), 'send all three of them, or none.');
  return { collection, relation, id: readId(id, 'parent_collection_id') };
}

function readSubset(attributes: Given): Asked {
  const query = new URLSearchParams();
  const subset = readMember(attributes, 'all_records_subset_query', 'all_records_subset_query');
  for (const [name, value] of Object.entries(subset)) {
    if (value === null || value === undefined) continue;
    query.append(name, isObject(value) ? JSON.stringify(value) : String(value));
  }
  return readListing({ query, headers: {} }).asked;
}

/**
 * `most`: the maximum number of records per call. Throws INVALID_ARGUMENT with the count if there are more, and
 * RECORD_NOT_FOUND if an id is not related to the parent.
 */
export async function selectIds(
  { ids, all, parent }: Selection,
  { collection, most }: { readonly collection: string; readonly most: number },
  call: DataCall,
): Promise<readonly string[]> {
  if (!all && !parent) return ids;
  if (!all && ids.length === 0) return [];
  const description = describe(call, collection);
  const { key } = description;
  if (key.length === 0) fail('FORBIDDEN', { verb: 'choose records of', collection, why: 'it shows you no key.' });
  if (parent) checkParent(parent, collection, call);
  const asked: Asked = all ? askedOf(description, all, call) : { filter: idsFilter(key, ids) };
  const found = await listIds({ collection, parent, key, asked, most }, call);
  if (found.hasMore) return failMany({ collection, parent }, asked, most, call);
  if (all) return found.ids;
  const there = new Set(found.ids);
  const missing = ids.filter((id) => !there.has(id));
  if (missing.length > 0) fail('RECORD_NOT_FOUND', { collection, id: missing[0]!, missing });
  return ids;
}

/** The relation must lead to the collection of the selected records. */
function checkParent({ collection, relation }: NonNullable<Selection['parent']>, to: string, call: DataCall): void {
  const known = describe(call, collection).relations.find((each) => isCalled(each, relation));
  if (known?.to === to) return;
  refuseArgument('parent_association_name', `'${relation}' is no relation of '${collection}' that leads to '${to}'.`);
}

interface Home {
  readonly collection: string;
  readonly parent: Selection['parent'] | undefined;
}

interface Wanted extends Home {
  readonly key: readonly string[];
  readonly asked: Asked;
  readonly most: number;
}

async function listIds({ collection, parent, key, asked, most }: Wanted, { access, engine, config, signal }: DataCall) {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(config.pageSizeLimit, most - ids.length);
    const request = { ...asked, fields: key, limit, ...(cursor !== undefined && { cursor }) };
    const page = parent
      ? await engine.listRelated(access, { ...request, ...parent }, { signal })
      : await engine.list(access, { ...request, collection }, { signal });
    for (const row of page.rows) ids.push(packId(row));
    if (!page.hasMore) return { ids, hasMore: false };
    cursor = page.cursorAfter(page.rows.length - 1);
    if (ids.length >= most || cursor === undefined) return { ids, hasMore: true };
  }
}

async function failMany({ collection, parent }: Home, asked: Asked, most: number, call: DataCall): Promise<never> {
  const { access, engine, signal } = call;
  const { countable } = describe(call, collection);
  const count = parent
    ? () => engine.countRelated(access, { ...asked, ...parent }, { signal })
    : () => engine.count(access, { ...asked, collection }, { signal });
  const many = countable ? `${await count()}` : `more than ${most}`;
  return refuseArgument(
    'all_records',
    `nothing was done: ${many} records of '${collection}' are meant, and one call takes ${most}. Narrow all_records_subset_query, or send them in several calls.`,
  );
}

/** Builds a filter for ids in the API's notation. The engine rejects values of the wrong type. */
function idsFilter(key: readonly string[], ids: readonly string[]): PlainFilter {
  if (key.length === 1) return { field: key[0]!, operator: 'In', value: ids };
  return {
    aggregator: 'Or',
    conditions: ids.map((id) => ({ aggregator: 'And', conditions: parts(key, id, 'Equal') })),
  };
}

function askedOf(
  description: CollectionDescription,
  { excluded, asked: { filter, ...asked } }: NonNullable<Selection['all']>,
  call: DataCall,
): Asked {
  const conditions = [
    ...(filter ? [castValues(filter, (field) => typeAt(call, description, field))] : []),
    ...excluding(description.key, excluded),
  ];
  return conditions.length === 0 ? asked : { ...asked, filter: { aggregator: 'And', conditions } };
}

function excluding(key: readonly string[], ids: readonly string[]): readonly PlainFilter[] {
  if (ids.length === 0) return [];
  if (key.length === 1) return [{ field: key[0]!, operator: 'NotIn', value: ids }];
  return ids.map((id) => ({ aggregator: 'Or', conditions: parts(key, id, 'NotEqual') }));
}

function parts(key: readonly string[], id: string, operator: 'Equal' | 'NotEqual'): PlainFilter[] {
  const values = splitId(id);
  if (values.length !== key.length) refuseArgument('ids', `'${id}' is no id: expected ${key.join('|')}.`);
  return key.map((field, at) => ({ field, operator, value: values[at] }));
}
