// Relations that code declares, for databases without the foreign key.

import { type DeclaredRelation, failMisuse, failUnknownName } from './customizations.ts';
import type { Collection, Column, Field, KeyPair, Relation, TypeCondition } from './types.ts';

/** Without the published name. CONFIGURATION for columns that do not fit. */
export function buildDeclaredRelation(
  home: Collection,
  declared: DeclaredRelation,
  collections: ReadonlyMap<string, Collection>,
  warn: (problem: string) => void,
): Omit<Relation, 'name'> {
  const { at } = declared;
  const find = (name: string): Collection => {
    const found = collections.get(name);
    return found ?? failUnknownName(`There is no collection '${name}'`, String(name), collections.keys(), at);
  };
  const to = find(declared.foreign);
  if (declared.kind === 'throughOther') return createThroughRelation(home, to, find(declared.through), declared);
  if (declared.kind === 'toOne') {
    const from = columnOf(home, declared.options?.foreignKey, at);
    const target = onlyKeyColumn(to, declared.options.foreignKeyTarget, at);
    const relation = {
      ...createRelation('one', home, to, from, target, false, at),
      ...toTypeCondition(home, 'from', declared),
    };
    return { ...relation, ...chooseLowest(home, relation, [target], declared, warn) };
  }
  const from = onlyKeyColumn(home, declared.options?.originKeyTarget, at);
  const origin = columnOf(to, declared.options?.originKey, at);
  const { only } = toTypeCondition(to, 'to', declared);
  const kind = declared.single ? 'one' : 'many';
  const relation = { ...createRelation(kind, home, to, from, origin, true, at), ...(only && { only }) };
  if (kind === 'many') return relation;
  return { ...relation, ...chooseLowest(home, relation, [origin, ...(only ? [only.column] : [])], declared, warn) };
}

function createRelation(
  kind: Relation['kind'],
  home: Collection,
  to: Collection,
  from: Column,
  target: Column,
  inverse: boolean,
  at: string,
): Omit<Relation, 'name'> {
  return { kind, to, on: toKeyPairs(from, target, at), inverse, reach: reachOf(home, to), enforced: false };
}

function reachOf(home: Collection, to: Collection): Relation['reach'] {
  return home.source === to.source ? 'join' : 'fetch';
}

function createThroughRelation(
  home: Collection,
  to: Collection,
  collection: Collection,
  { options, at }: DeclaredRelation & { readonly kind: 'throughOther' },
): Omit<Relation, 'name'> {
  const origin = toKeyPairs(
    onlyKeyColumn(home, options?.originKeyTarget, at),
    columnOf(collection, options?.originKey, at),
    at,
  );
  const foreign = toKeyPairs(
    columnOf(collection, options?.foreignKey, at),
    onlyKeyColumn(to, options?.foreignKeyTarget, at),
    at,
  );
  if (origin[0]!.to === foreign[0]!.from)
    failMisuse(`both keys are '${options.originKey}' of '${collection.name}': use two different columns`, at);
  const through = Object.freeze({ collection, origin, foreign });
  return { kind: 'many', to, on: Object.freeze([]), inverse: true, reach: reachOf(home, to), enforced: false, through };
}

function toKeyPairs(from: Column, to: Column, at: string): readonly KeyPair[] {
  if (String(from.type) !== String(to.type))
    failMisuse(
      `'${from.column}' is ${from.type} and '${to.column}' is ${to.type}: the two keys must have the same type`,
      at,
    );
  return Object.freeze([Object.freeze({ from, to })]);
}

/** If no unique key guarantees a single record, the relation leads to the lowest one and the log gets a warning. */
function chooseLowest(
  home: Collection,
  { on, to, reach }: Omit<Relation, 'name'>,
  columns: readonly Column[],
  { name, at }: DeclaredRelation,
  warn: (problem: string) => void,
): Pick<Relation, 'lowestBy'> {
  if (to.uniqueKeys.some((key) => key.every((column) => columns.includes(column)))) return {};
  const names = columns.map(({ column }) => `'${column}'`).join(' with ');
  const what = `${names} of '${to.name}' has no unique index, so '${name}' of '${home.name}' could lead to many records`;
  const mixed = on.find(({ from, to: target }) => from.collation !== target.collation);
  if (mixed && reach === 'join')
    failMisuse(
      `${what}, and '${mixed.from.column}' of '${home.name}' has another collation: add a unique index, or declare a relation to many`,
      at,
    );
  const lowestBy = to.key.length > 0 ? to.key : storedColumnsOf(to);
  const unordered = lowestBy.find(({ type }) => typeof type !== 'string' || type === 'Json' || type === 'Point');
  if (unordered)
    failMisuse(
      `${what}, and it has no first record without ${to.key.length > 0 ? 'an order of its key' : 'a key'} ('${unordered.column}' is ${unordered.type}, which has no order): add a unique index, or declare a relation to many`,
      at,
    );
  const first = to.key.length > 0 ? 'with the lowest key' : `with the lowest values (it has no key)`;
  warn(`${what}: it leads to the record ${first} that the caller may see. Add a unique index on ${names}. (${at})`);
  return { lowestBy: Object.freeze([...lowestBy]) };
}

function storedColumnsOf({ internalFields }: Collection): Column[] {
  return [...internalFields.values()].flatMap((field) =>
    field.kind === 'column' && !field.computedFrom && !field.route ? [field] : [],
  );
}

/** The required value of the type field, converted to its type. */
function toTypeCondition(
  of: Collection,
  side: TypeCondition['side'],
  { only, at }: DeclaredRelation & { readonly kind: 'toOne' | 'fromOther' },
): { readonly only?: TypeCondition } {
  if (!only) return {};
  const column = columnOf(of, only.field, at);
  const { type, enumValues } = column;
  const value = type === 'Number' ? Number(only.value) : String(only.value);
  if (!['String', 'Enum', 'Number'].includes(String(type)) || Number.isNaN(value) || only.value === undefined)
    failMisuse(`'${only.field}' of '${of.name}' is ${type}, and cannot hold the type '${only.value}'`, at);
  if (enumValues && !enumValues.includes(String(value)))
    failUnknownName(`'${only.field}' of '${of.name}' has no value '${only.value}'`, String(value), enumValues, at);
  return { only: Object.freeze({ side, column, value }) };
}

function onlyKeyColumn(of: Collection, name: string | undefined, at: string): Column {
  if (name !== undefined) return columnOf(of, name, at);
  const [key, ...more] = of.key;
  if (key && more.length === 0) return key;
  return failMisuse(`'${of.name}' has no key of one column: name the target column of the key`, at);
}

function columnOf(of: Collection, name: string | undefined, at: string): Column {
  const field: Field | undefined = of.internalFields.get(String(name));
  if (!field)
    return failUnknownName(
      `The collection '${of.name}' has no field '${name}'`,
      String(name),
      of.internalFields.keys(),
      at,
    );
  if (field.kind === 'column' && !field.computedFrom && !field.route) return field;
  return failMisuse(`'${name}' of '${of.name}' is not a column of the database and cannot be a key`, at);
}
