// Reads a record as a JSON:API 1.0 resource. A relation to one becomes the values of the record's foreign key columns.
// If the key is in the other record, link the records with the relation's own endpoint.
import { fail } from '../../core/errors.ts';
import { isCalled, nearNames } from '../../core/suggestions.ts';
import type { DataCall } from '../route.ts';
import { describe } from '../visible-schema.ts';
import { type Given, isObject, readData, readId, readMember, refuseArgument } from './body.ts';

/** A resource identifier. */
export interface Identifier {
  readonly id: string;
  /** The collection, if the request names it. */
  readonly type?: string;
}

export interface Resource {
  readonly attributes: Given;
  /** Linkage by relation. Relations without `data` are omitted. */
  readonly relationships: ReadonlyMap<string, Identifier | null | readonly Identifier[]>;
}

const example = '{"data": {"type": "orders", "attributes": {"total": 5}}}';

/** `id`: the record that the URL names. */
export function readResource(body: unknown, collection: string, id?: string): Resource {
  const data = readData(body, example);
  if (data.type !== undefined && data.type !== collection)
    refuseArgument('data.type', `the address is of '${collection}'.`);
  const sent = data.id ?? undefined;
  if (id !== undefined && sent !== undefined && readId(sent, 'data.id') !== id)
    refuseArgument('data.id', 'the address is of another record. Send the same, or leave it out.');
  const relationships = Object.entries(readMember(data, 'relationships', 'data.relationships')).flatMap(
    ([name, value]) => {
      const at = `data.relationships.${name}`;
      if (!isObject(value)) return refuseArgument(at, 'expected an object such as {"data": {"id": "1"}}.');
      return value.data === undefined ? [] : [[name, readLinkage(value.data, `${at}.data`)] as const];
    },
  );
  return { attributes: readMember(data, 'attributes', 'data.attributes'), relationships: new Map(relationships) };
}

/** Reads the linkage of a relation. */
export function readLinkage(data: unknown, at: string): Identifier | null | readonly Identifier[] {
  if (data === null) return null;
  return Array.isArray(data)
    ? data.map((one, index) => readIdentifier(one, `${at}[${index}]`))
    : readIdentifier(data, at);
}

function readIdentifier(value: unknown, at: string): Identifier {
  if (!isObject(value)) return refuseArgument(at, 'expected an object such as {"type": "orders", "id": "1"}.');
  const { type } = value;
  if (type !== undefined && typeof type !== 'string') return refuseArgument(`${at}.type`, 'expected a text.');
  return { id: readId(value.id, `${at}.id`), ...(type !== undefined && { type }) };
}

/** Throws INVALID_ARGUMENT if the record's type is not the relation's collection. */
export function checkType({ type }: Identifier, to: string, at: string): void {
  if (type !== undefined && type !== to) refuseArgument(at, `it leads to '${to}', not to '${type}'.`);
}

/** Returns the values by field, as the engine writes them. */
export async function valuesOf(
  { attributes, relationships }: Resource,
  collection: string,
  call: DataCall,
): Promise<Given> {
  const values: Record<string, unknown> = { ...attributes };
  const { relations } = describe(call, collection);
  for (const [name, linkage] of relationships) {
    const relation = relations.find((one) => isCalled(one, name));
    if (!relation) {
      const names = relations.map((one) => one.name);
      return fail('UNKNOWN_RELATION', { collection, relation: name, near: nearNames(name, names) });
    }
    const at = `data.relationships.${name}`;
    if (relation.kind === 'many') {
      if (Array.isArray(linkage) && linkage.length === 0) continue;
      return refuseArgument(at, `write the record, then link others at .../relationships/${name}.`);
    }
    if (Array.isArray(linkage)) return refuseArgument(at, 'leads to one record: send one, or null.');
    const one = linkage as Identifier | null;
    if (one) checkType(one, relation.to, at);
    const { access, engine, signal } = call;
    const held = await engine.pointers(
      access,
      { collection, relation: relation.name, to: one?.id ?? null },
      { signal },
    );
    for (const [field, value] of Object.entries(held)) {
      if (field in attributes && `${attributes[field]}` !== `${value}`)
        return refuseArgument(at, `'${field}' among the attributes says otherwise. Send one of the two.`);
      values[field] = value;
    }
  }
  return values;
}
