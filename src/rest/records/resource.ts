// Reads a record as a JSON:API 1.0 resource. A relation to one becomes the values of the record's foreign key columns.
// If the key is in the other record, link the records with the relation's own endpoint.
import { fail } from '../../core/errors.ts';
import { hasName, suggestNames } from '../../core/suggestions.ts';
import type { DataCall } from '../route.ts';
import { describe } from '../visible-schema.ts';
import { failArgument, isObject, type JsonObject, readData, readId, readMember } from './body.ts';

/** A resource identifier. */
export interface Identifier {
  readonly id: string;
  /** The collection, if the request names it. */
  readonly type?: string;
}

export interface Resource {
  readonly attributes: JsonObject;
  /** Linkage by relation. Relations without `data` are omitted. */
  readonly relationships: ReadonlyMap<string, Identifier | null | readonly Identifier[]>;
}

const example = '{"data": {"type": "orders", "attributes": {"total": 5}}}';

/** `id`: the record that the URL names. */
export function parseResource(body: unknown, collection: string, id?: string): Resource {
  const data = readData(body, example);
  if (data.type !== undefined && data.type !== collection)
    failArgument('data.type', `expected '${collection}', as in the URL.`);
  const bodyId = data.id ?? undefined;
  if (id !== undefined && bodyId !== undefined && readId(bodyId, 'data.id') !== id)
    failArgument('data.id', 'the URL has another id. Send the same id, or leave it out.');
  const relationships = Object.entries(readMember(data, 'relationships', 'data.relationships')).flatMap(
    ([name, value]) => {
      const at = `data.relationships.${name}`;
      if (!isObject(value)) return failArgument(at, 'expected an object such as {"data": {"id": "1"}}.');
      return value.data === undefined ? [] : [[name, parseLinkage(value.data, `${at}.data`)] as const];
    },
  );
  return { attributes: readMember(data, 'attributes', 'data.attributes'), relationships: new Map(relationships) };
}

/** Reads the linkage of a relation. */
export function parseLinkage(data: unknown, at: string): Identifier | null | readonly Identifier[] {
  if (data === null) return null;
  return Array.isArray(data)
    ? data.map((one, index) => parseIdentifier(one, `${at}[${index}]`))
    : parseIdentifier(data, at);
}

function parseIdentifier(value: unknown, at: string): Identifier {
  if (!isObject(value)) return failArgument(at, 'expected an object such as {"type": "orders", "id": "1"}.');
  const { type } = value;
  if (type !== undefined && typeof type !== 'string') return failArgument(`${at}.type`, 'expected a string.');
  return { id: readId(value.id, `${at}.id`), ...(type !== undefined && { type }) };
}

/** Throws INVALID_ARGUMENT if the record's type is not the relation's collection. */
export function checkType({ type }: Identifier, to: string, at: string): void {
  if (type !== undefined && type !== to) failArgument(at, `it leads to '${to}', not to '${type}'.`);
}

/** Returns the values by field, as the engine writes them. */
export async function toValues(
  { attributes, relationships }: Resource,
  collection: string,
  call: DataCall,
): Promise<JsonObject> {
  const values: Record<string, unknown> = { ...attributes };
  const { relations } = describe(call, collection);
  for (const [name, linkage] of relationships) {
    const relation = relations.find((one) => hasName(one, name));
    if (!relation) {
      const names = relations.map((one) => one.name);
      return fail('UNKNOWN_RELATION', { collection, relation: name, near: suggestNames(name, names) });
    }
    const at = `data.relationships.${name}`;
    if (relation.kind === 'many') {
      if (Array.isArray(linkage) && linkage.length === 0) continue;
      return failArgument(at, `write the record first, then link others at .../relationships/${name}.`);
    }
    if (Array.isArray(linkage)) return failArgument(at, 'leads to one record: send one, or null.');
    const one = linkage as Identifier | null;
    if (one) checkType(one, relation.to, at);
    const { access, engine, signal } = call;
    const foreignKeys = await engine.foreignKeyValues(
      access,
      { collection, relation: relation.name, to: one?.id ?? null },
      { signal },
    );
    for (const [field, value] of Object.entries(foreignKeys)) {
      if (field in attributes && `${attributes[field]}` !== `${value}`)
        return failArgument(at, `the attribute '${field}' has another value. Send only one of the two.`);
      values[field] = value;
    }
  }
  return values;
}
