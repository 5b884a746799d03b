// Relations that code declares, for databases without the foreign key.

import { type DeclaredRelation, misuse, unknownName } from './customizations.ts';
import type { Collection, Column, Field, KeyPair, Only, Relation } from './types.ts';

/** Without the published name. CONFIGURATION for columns that do not fit. */
export function buildDeclared(
  home: Collection,
  declared: DeclaredRelation,
  collections: ReadonlyMap<string, Collection>,
  warn: (problem: string) => void,
): Omit<Relation, 'name'> {
  const { at } = declared;
  const find = (name: string): Collection => {
    const found = collections.get(name);
    return found ?? unknownName(`There is no collection '${name}'`, String(name), collections.keys(), at);
  };
  const to = find(declared.foreign);
  if (declared.kind === 'throughOther') return linkThrough(home, to, find(declared.through), declared);
  if (declared.kind === 'toOne') {
    const from = columnOf(home, declared.options?.foreignKey, at);
    const target = keyColumn(to, declared.options.foreignKeyTarget, at);
    const relation = { ...link('one', home, to, from, target, false, at), ...onlyOf(home, 'from', declared) };
    return { ...relation, ...chooseLowest(home, relation, [target], declared, warn) };
  }
  const from = keyColumn(home, declared.options?.originKeyTarget, at);
  const origin = columnOf(to, declared.options?.originKey, at);
  const { only } = onlyOf(to, 'to', declared);
  const kind = declared.single ? 'one' : 'many';
  const relation = { ...link(kind, home, to, from, origin, true, at), ...(only && { only }) };
  if (kind === 'many') return relation;
  return { ...relation, ...chooseLowest(home, relation, [origin, ...(only ? [only.column] : [])], declared, warn) };
}

function link(
  kind: Relation['kind'],
  home: Collection,
  to: Collection,
  from: Column,
  target: Column,
  inverse: boolean,
  at: string,
): Omit<Relation, 'name'> {
  return { kind, to, on: pair(from, target, at), inverse, reach: reachOf(home, to), enforced: false };
}

function reachOf(home: Collection, to: Collection): Relation['reach'] {
  return home.source === to.source ? 'join' : 'fetch';
}

function linkThrough(
  home: Collection,
  to: Collection,
  collection: Collection,
  { options, at }: DeclaredRelation & { readonly kind: 'throughOther' },
): Omit<Relation, 'name'> {
  const origin = pair(keyColumn(home, options?.originKeyTarget, at), columnOf(collection, options?.originKey, at), at);
  const foreign = pair(columnOf(collection, options?.foreignKey, at), keyColumn(to, options?.foreignKeyTarget, at), at);
  if (origin[0]!.to === foreign[0]!.from)
    misuse(`both keys are '${options.originKey}' of '${collection.name}', so that it cannot hold a pair`, at);
  const through = Object.freeze({ collection, origin, foreign });
  return { kind: 'many', to, on: Object.freeze([]), inverse: true, reach: reachOf(home, to), enforced: false, through };
}

function pair(from: Column, to: Column, at: string): readonly KeyPair[] {
  if (String(from.type) !== String(to.type))
    misuse(`'${from.column}' is ${from.type} and '${to.column}' is ${to.type}: they cannot be the same key`, at);
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
  const what = `${names} of '${to.name}' has no unique index, so that '${name}' of '${home.name}' could lead to many records`;
  const mixed = on.find(({ from, to: held }) => from.collation !== held.collation);
  if (mixed && reach === 'join')
    misuse(
      `${what}, and '${mixed.from.column}' of '${home.name}' does not compare texts as it does: add a unique index, or declare a relation to many`,
      at,
    );
  const lowestBy = to.key.length > 0 ? to.key : storedOf(to);
  const unordered = lowestBy.find(({ type }) => typeof type !== 'string' || type === 'Json' || type === 'Point');
  if (unordered)
    misuse(
      `${what}, and without ${to.key.length > 0 ? 'an order of its key' : 'a key'} none of them is the first ('${unordered.column}' is ${unordered.type}, which has no order): add a unique index, or declare a relation to many`,
      at,
    );
  const first = to.key.length > 0 ? 'with the lowest key' : `with the lowest values (it has no key)`;
  warn(`${what}: it leads to the one ${first} that the caller may see. Add a unique index on ${names}. (${at})`);
  return { lowestBy: Object.freeze([...lowestBy]) };
}

function storedOf({ inside }: Collection): Column[] {
  return [...inside.values()].flatMap((field) =>
    field.kind === 'column' && !field.made && !field.route ? [field] : [],
  );
}

/** The required value of the type field, converted to its type. */
function onlyOf(
  of: Collection,
  side: Only['side'],
  { only, at }: DeclaredRelation & { readonly kind: 'toOne' | 'fromOther' },
): { readonly only?: Only } {
  if (!only) return {};
  const column = columnOf(of, only.field, at);
  const { type, enumValues } = column;
  const value = type === 'Number' ? Number(only.value) : String(only.value);
  if (!['String', 'Enum', 'Number'].includes(String(type)) || Number.isNaN(value) || only.value === undefined)
    misuse(`'${only.field}' of '${of.name}' is ${type}, and cannot hold '${only.value}' as a type`, at);
  if (enumValues && !enumValues.includes(String(value)))
    unknownName(`'${only.field}' of '${of.name}' has no value '${only.value}'`, String(value), enumValues, at);
  return { only: Object.freeze({ side, column, value }) };
}

function keyColumn(of: Collection, name: string | undefined, at: string): Column {
  if (name !== undefined) return columnOf(of, name, at);
  const [key, ...more] = of.key;
  if (key && more.length === 0) return key;
  return misuse(`'${of.name}' has no key of one column: name the column that the key points to`, at);
}

function columnOf(of: Collection, name: string | undefined, at: string): Column {
  const field: Field | undefined = of.inside.get(String(name));
  if (!field)
    return unknownName(`The collection '${of.name}' has no field '${name}'`, String(name), of.inside.keys(), at);
  if (field.kind === 'column' && !field.made && !field.route) return field;
  return misuse(`'${name}' of '${of.name}' is not a column of the database, so that it cannot be a key`, at);
}
