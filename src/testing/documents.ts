// Reads and writes records as JSON:API 1.0 documents. Names are those of the collection.
import type { RecordId } from '../agent/encode/record-id.ts';
import { packRecordId } from './queries.ts';
import type { Schema } from './schema.ts';

/** A record of a collection without typings. */
// biome-ignore lint/suspicious/noExplicitAny: nothing is known of it
export type PlainRecord = Readonly<Record<string, any>>;

interface Identifier {
  readonly type: string;
  readonly id: string;
}

interface Resource extends Identifier {
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, { readonly data?: Identifier | null }>>;
}

export interface RecordDocument {
  readonly data: Resource | readonly Resource[] | null;
  readonly included?: readonly Resource[];
}

/** `fields`: the requested paths. The agent adds keys to them; these are removed from the records. */
export function readRecords(document: RecordDocument, fields?: readonly string[]): PlainRecord[] {
  const data = document.data ?? [];
  const resources: readonly Resource[] = Array.isArray(data) ? data : [data];
  // A relation may lead to another record of the list, which `included` then omits.
  const resourcesByKey = new Map(
    [...resources, ...(document.included ?? [])].map((resource) => [keyOfResource(resource), resource]),
  );
  return resources.map((resource) => {
    const record = readRecord(resource, resourcesByKey, []);
    return fields ? pick(record, fields) : record;
  });
}

/** To-one relations become nested records, or null. To-many relations are not part of a record. */
function readRecord(
  resource: Resource,
  resourcesByKey: ReadonlyMap<string, Resource>,
  above: readonly string[],
): PlainRecord {
  const trail = [...above, keyOfResource(resource)];
  const record: Record<string, unknown> = { ...resource.attributes };
  for (const [name, { data }] of Object.entries(resource.relationships ?? {})) {
    if (data === undefined) continue;
    if (data === null) record[name] = null;
    // Two records may point to each other.
    else if (!trail.includes(keyOfResource(data)))
      record[name] = readRecord(resourcesByKey.get(keyOfResource(data)) ?? bare(data), resourcesByKey, trail);
  }
  return record;
}

function pick(record: PlainRecord, fields: readonly string[]): PlainRecord {
  const picked: Record<string, unknown> = {};
  const deeper = new Map<string, string[]>();
  for (const path of fields) {
    const [, first = '', rest] = /^([^:]*):(.*)$/s.exec(path) ?? [];
    if (path in record) picked[path] = record[path];
    else if (rest !== undefined) deeper.set(first, [...(deeper.get(first) ?? []), rest]);
  }
  for (const [name, paths] of deeper) {
    const nested: unknown = record[name];
    if (nested !== undefined) picked[name] = nested === null ? null : pick(nested as PlainRecord, paths);
  }
  return picked;
}

const keyOfResource = ({ type, id }: Identifier): string => JSON.stringify([type, id]);
/** A record missing in the document: only its id is known. */
const bare = ({ type, id }: Identifier): Resource => ({ type, id, attributes: { id } });

/**
 * Values of columns and of to-one relations. A relation takes the id of a record, a record with its key, or null. `id`
 * is the id of an existing record.
 */
export function writeRecord(schema: Schema, collection: string, values: PlainRecord, id?: RecordId): unknown {
  const attributes: Record<string, unknown> = {};
  const relationships: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const relation = schema.findRelation(collection, name);
    if (!relation) attributes[name] = wireValue(value);
    else relationships[name] = { data: identify(schema, relation.target, value) };
  }
  return {
    data: {
      type: collection,
      ...(id !== undefined && { id: packRecordId(id) }),
      attributes,
      ...(Object.keys(relationships).length > 0 && { relationships }),
    },
  };
}

export function identify(schema: Schema, collection: string, input: unknown): Identifier | null {
  if (input === null) return null;
  const isRecord = typeof input === 'object' && !Array.isArray(input);
  const id = isRecord ? schema.keyOf(collection).map((name) => (input as PlainRecord)[name]) : (input as RecordId);
  return { type: collection, id: packRecordId(id) };
}

/** Bytes become a data URI. Other values stay as they are; JSON serializes dates. */
function wireValue(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return `data:application/octet-stream;base64,${Buffer.from(value).toString('base64')}`;
  return value;
}
