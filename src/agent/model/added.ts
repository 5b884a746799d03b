// Builds the fields that code adds, each after its dependencies. A cyclic dependency is an error at the start.
import type { ComputedDefinition, ComputedType } from '../customize/definitions.ts';
import type { ColumnShape, ColumnType, PrimitiveType } from '../sources/column-types.ts';
import { primitiveTypes } from '../sources/column-types.ts';
import type { DescribedColumn } from '../sources/described.ts';
import { type Added, misuse, unknownName, type Wishes } from './customizations.ts';
import { buildExternal } from './external.ts';
import { buildColumn, buildImported, type ColumnWishes, describeColumn } from './fields.ts';
import type { Column, Field, Need, Relation } from './types.ts';

/** A collection during the build of its fields. */
export interface Home {
  readonly name: string;
  /** Original names; empty without a key. */
  readonly key: readonly string[];
  readonly inside: Map<string, Field>;
  readonly wishes: Wishes;
  wishesFor(column: DescribedColumn): ColumnWishes;
}

/** `homeOf` finds the foreign collection of a relation. */
export function addFields(homes: readonly Home[], homeOf: (relation: Relation) => Home): void {
  const under: string[] = [];

  const ensure = (home: Home, name: string): Field | undefined => {
    const known = home.inside.get(name);
    const added = home.wishes.added.get(name);
    if (known || !added) return known;
    const id = `${home.name}.${name}`;
    if (under.includes(id))
      misuse(`Fields go in a circle: ${[...under.slice(under.indexOf(id)), id].join(' -> ')}`, added.at);
    under.push(id);
    const field = make(home, added);
    under.pop();
    home.inside.set(name, field);
    return field;
  };

  const follow = (home: Home, text: string, at: string): Need => {
    const names = text.split(':');
    const leaf = names.pop()!;
    const via: Relation[] = [];
    let here = home;
    for (const name of names) {
      const relation = ensure(here, name);
      if (!relation)
        unknownName(`The collection '${here.name}' has no relation '${name}'`, name, here.inside.keys(), at);
      if (relation.kind !== 'one')
        misuse(`'${text}' goes through '${name}' of '${here.name}', which does not lead to one record`, at);
      via.push(relation);
      here = homeOf(relation);
    }
    const field = ensure(here, leaf);
    if (!field) unknownName(`The collection '${here.name}' has no field '${leaf}'`, leaf, here.inside.keys(), at);
    if (field.kind !== 'column') misuse(`'${text}' is a relation: name one of its fields, such as '${text}:id'`, at);
    const route = field.route;
    return Object.freeze({
      hops: Object.freeze(names),
      leaf,
      via: Object.freeze([...via, ...(route?.via ?? [])]),
      field: route?.field ?? field,
    });
  };

  const makeField = (home: Home, { name, definition, isStored, at }: Added & { readonly kind: 'addField' }): Column => {
    const described = describeMade(name, definition, at);
    const needs = definition.dependencies.map((text) => follow(home, text, at));
    const made = Object.freeze({ needs: Object.freeze(needs), definition, at, ...(isStored && { isStored }) });
    return buildColumn(described, false, home.wishesFor(described), made);
  };

  const importField = (home: Home, { name, definition, at }: Added & { readonly kind: 'importField' }): Column => {
    const { via, field } = follow(home, String(definition?.path), at);
    // A write must be in one transaction with the record.
    const isFixed =
      via.length === 0 ||
      field.readOnly ||
      field.isKey ||
      via.some(({ reach, only, lowestBy }) => reach !== 'join' || only !== undefined || lowestBy !== undefined);
    if (definition?.readonly === false && isFixed)
      misuse(
        `The field '${name}' of '${home.name}' cannot be written: what it is imported from is read-only, of another data source, or of the first of several records`,
        at,
      );
    const { name: published } = home.wishesFor(describeColumn(name, field.type));
    const isReadOnly = definition?.readonly ?? isFixed;
    return buildImported(published, { via, field }, via.length > 0 || field.nullable, isReadOnly);
  };

  const addExternal = (home: Home, { name, definition, at }: Added & { readonly kind: 'external' }): Field => {
    const types = new Map(Object.entries(definition.schema).map(([field, type]) => [field, typeOfRecord(type, at)]));
    const needs = [...new Set([...home.key, ...(definition.dependencies ?? [])])].map((text) => follow(home, text, at));
    const { name: published } = home.wishesFor(describeColumn(name, 'Json'));
    return buildExternal({ home: home.name, name, published, definition, types, needs, at });
  };

  const make = (home: Home, added: Added): Field => {
    if (added.kind === 'addField') return makeField(home, added);
    return added.kind === 'external' ? addExternal(home, added) : importField(home, added);
  };

  for (const { name: collection, inside, wishes } of homes)
    for (const [name, { at }] of wishes.added)
      if (inside.has(name)) misuse(`The collection '${collection}' has a field '${name}' already`, at);
  for (const home of homes) for (const name of home.wishes.added.keys()) ensure(home, name);
}

function describeMade(name: string, { columnType, enumValues }: ComputedDefinition, at: string): DescribedColumn {
  const { type, shape } = readType(columnType, at);
  const primitive = typeof type === 'string' ? type : type[0];
  if (primitive === 'Enum' && !enumValues?.length) misuse(`The field '${name}' is an Enum and needs 'enumValues'`, at);
  return { ...describeColumn(name, type), ...(enumValues && { enumValues }), ...(shape && { shape }) };
}

/** For records from code, where an Enum is a String. */
function typeOfRecord(given: ComputedType, at: string): ColumnType {
  const { type } = readType(given, at);
  return type === 'Enum' ? 'String' : type;
}

/** CONFIGURATION for an invalid type. */
function readType(given: ComputedType, at: string): Pick<DescribedColumn, 'type' | 'shape'> {
  if (given === 'File') return { type: 'Binary' };
  if (typeof given === 'string') return { type: readPrimitive(given, at) };
  if (Array.isArray(given) && given.length === 1 && typeof given[0] === 'string')
    return { type: [readPrimitive(given[0], at)] };
  return { type: 'Json', shape: readShape(given as ColumnShape, at) };
}

/** CONFIGURATION for an invalid Json shape. */
export function readShape(given: ColumnShape, at: string): ColumnShape {
  if (typeof given === 'string') {
    const type = readPrimitive(given, at);
    // Json has neither bytes nor enums.
    if (type === 'Binary' || type === 'Enum') misuse(`'${type}' cannot be within a Json: it is a String there`, at);
    return type;
  }
  if (Array.isArray(given) && given.length === 1)
    return Object.freeze([readShape(given[0] as ColumnShape, at)] as const);
  if (typeof given !== 'object' || given === null || Array.isArray(given) || Object.keys(given).length === 0)
    misuse('A column type is the name of one, a list of one, or an object of types by key', at);
  return Object.freeze(Object.fromEntries(Object.entries(given).map(([key, of]) => [key, readShape(of, at)])));
}

function readPrimitive(given: string, at: string): PrimitiveType {
  if (!(primitiveTypes as readonly string[]).includes(given))
    unknownName(`There is no column type '${given}'`, given, [...primitiveTypes, 'File'], at);
  return given as PrimitiveType;
}
