// Builds the fields that code adds, each after its dependencies. A cyclic dependency is an error at the start.
import type { ComputedDefinition, ComputedType } from '../customize/definitions.ts';
import type { ColumnShape, ColumnType, PrimitiveType } from '../sources/column-types.ts';
import { primitiveTypes } from '../sources/column-types.ts';
import type { DescribedColumn } from '../sources/described.ts';
import { type AddedField, type CollectionCustomizations, failMisuse, failUnknownName } from './customizations.ts';
import { buildExternal } from './external.ts';
import { buildColumn, buildImported, type ColumnCustomizations, describeColumn } from './fields.ts';
import { meaningOf } from './meaning.ts';
import type { Column, Dependency, Field, Relation } from './types.ts';

/** A collection during the build of its fields. */
export interface CollectionBuild {
  readonly name: string;
  /** Original names; empty without a key. */
  readonly key: readonly string[];
  readonly internalFields: Map<string, Field>;
  readonly customizations: CollectionCustomizations;
  customizationsFor(column: DescribedColumn): ColumnCustomizations;
}

/** `buildOf` finds the foreign collection of a relation. */
export function addFields(builds: readonly CollectionBuild[], buildOf: (relation: Relation) => CollectionBuild): void {
  const active: string[] = [];

  const ensure = (home: CollectionBuild, name: string): Field | undefined => {
    const known = home.internalFields.get(name);
    const added = home.customizations.added.get(name);
    if (known || !added) return known;
    const id = `${home.name}.${name}`;
    if (active.includes(id))
      failMisuse(`Circular fields: ${[...active.slice(active.indexOf(id)), id].join(' -> ')}`, added.at);
    active.push(id);
    const field = createField(home, added);
    active.pop();
    home.internalFields.set(name, field);
    return field;
  };

  const follow = (home: CollectionBuild, text: string, at: string): Dependency => {
    const names = text.split(':');
    const leaf = names.pop()!;
    const via: Relation[] = [];
    let current = home;
    for (const name of names) {
      const relation = ensure(current, name);
      if (!relation)
        failUnknownName(
          `The collection '${current.name}' has no relation '${name}'`,
          name,
          current.internalFields.keys(),
          at,
        );
      if (relation.kind !== 'one')
        failMisuse(`'${text}' goes through '${name}' of '${current.name}', which does not lead to one record`, at);
      via.push(relation);
      current = buildOf(relation);
    }
    const field = ensure(current, leaf);
    if (!field)
      failUnknownName(
        `The collection '${current.name}' has no field '${leaf}'`,
        leaf,
        current.internalFields.keys(),
        at,
      );
    if (field.kind !== 'column')
      failMisuse(`'${text}' is a relation: name one of its fields, such as '${text}:id'`, at);
    const route = field.route;
    return Object.freeze({
      relationNames: Object.freeze(names),
      leaf,
      via: Object.freeze([...via, ...(route?.via ?? [])]),
      field: route?.field ?? field,
    });
  };

  const makeField = (
    home: CollectionBuild,
    { name, definition, isStored, at }: AddedField & { readonly kind: 'addField' },
  ): Column => {
    const described = describeComputed(name, definition, at);
    const dependencies = definition.dependencies.map((text) => follow(home, text, at));
    const computedFrom = Object.freeze({
      dependencies: Object.freeze(dependencies),
      definition,
      at,
      ...(isStored && { isStored }),
    });
    return buildColumn(described, false, home.customizationsFor(described), computedFrom);
  };

  const importField = (
    home: CollectionBuild,
    { name, definition, at }: AddedField & { readonly kind: 'importField' },
  ): Column => {
    const { via, field } = follow(home, String(definition?.path), at);
    // A write must be in one transaction with the record.
    const isFixed =
      via.length === 0 ||
      field.readOnly ||
      field.isKey ||
      via.some(({ reach, only, lowestBy }) => reach !== 'join' || only !== undefined || lowestBy !== undefined);
    if (definition?.readonly === false && isFixed)
      failMisuse(
        `The field '${name}' of '${home.name}' cannot be written: its source field is read-only, in another data source, or in the first of several records`,
        at,
      );
    const customized = home.customizationsFor(describeColumn(name, field.type));
    const isReadOnly = definition?.readonly ?? isFixed;
    return buildImported(customized, { via, field }, via.length > 0 || field.nullable, isReadOnly);
  };

  const addExternal = (
    home: CollectionBuild,
    { name, definition, at }: AddedField & { readonly kind: 'external' },
  ): Field => {
    const types = new Map(Object.entries(definition.schema).map(([field, type]) => [field, typeOfRecord(type, at)]));
    const needs = [...new Set([...home.key, ...(definition.dependencies ?? [])])].map((text) => follow(home, text, at));
    const { name: published, meaning } = home.customizationsFor(describeColumn(name, 'Json'));
    const parts = { collectionName: home.name, name, published, definition, types, dependencies: needs, at };
    return Object.freeze({ ...buildExternal(parts), ...meaningOf(meaning, undefined) });
  };

  const createField = (home: CollectionBuild, added: AddedField): Field => {
    if (added.kind === 'addField') return makeField(home, added);
    return added.kind === 'external' ? addExternal(home, added) : importField(home, added);
  };

  for (const { name: collection, internalFields, customizations } of builds)
    for (const [name, { at }] of customizations.added)
      if (internalFields.has(name)) failMisuse(`The collection '${collection}' already has a field '${name}'`, at);
  for (const home of builds) for (const name of home.customizations.added.keys()) ensure(home, name);
}

function describeComputed(name: string, { columnType, enumValues }: ComputedDefinition, at: string): DescribedColumn {
  const { type, shape } = readType(columnType, at);
  const primitive = typeof type === 'string' ? type : type[0];
  if (primitive === 'Enum' && !enumValues?.length)
    failMisuse(`The field '${name}' is an Enum and needs 'enumValues'`, at);
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
    if (type === 'Binary' || type === 'Enum') failMisuse(`'${type}' cannot be used in a Json: use String`, at);
    return type;
  }
  if (Array.isArray(given) && given.length === 1)
    return Object.freeze([readShape(given[0] as ColumnShape, at)] as const);
  if (typeof given !== 'object' || given === null || Array.isArray(given) || Object.keys(given).length === 0)
    failMisuse('A column type must be the name of a type, a list of one type, or an object of types by key', at);
  return Object.freeze(Object.fromEntries(Object.entries(given).map(([key, of]) => [key, readShape(of, at)])));
}

function readPrimitive(given: string, at: string): PrimitiveType {
  if (!(primitiveTypes as readonly string[]).includes(given))
    failUnknownName(`There is no column type '${given}'`, given, [...primitiveTypes, 'File'], at);
  return given as PrimitiveType;
}
