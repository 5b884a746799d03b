// Relations that code declares, where the database has no foreign key to tell of them.
import type { Collection, Column, Field, KeyPair, Only, Relation } from './types.ts';
import { type DeclaredRelation, misuse, unknownName } from './wishes.ts';

/** Without the name that callers use. CONFIGURATION where the columns do not fit. */
export function buildDeclared(
  home: Collection,
  declared: DeclaredRelation,
  collections: ReadonlyMap<string, Collection>,
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
    needUnique(to, [target], at);
    return { ...link('one', home, to, from, target, false, at), ...onlyOf(home, 'from', declared) };
  }
  const from = keyColumn(home, declared.options?.originKeyTarget, at);
  const origin = columnOf(to, declared.options?.originKey, at);
  const { only } = onlyOf(to, 'to', declared);
  if (declared.single) needUnique(to, [origin, ...(only ? [only.column] : [])], at);
  return { ...link(declared.single ? 'one' : 'many', home, to, from, origin, true, at), ...(only && { only }) };
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

/** A join must not make two records of one. */
function needUnique(to: Collection, columns: readonly Column[], at: string): void {
  if (to.uniqueKeys.some((key) => key.every((column) => columns.includes(column)))) return;
  const names = columns.map(({ column }) => `'${column}'`).join(' with ');
  misuse(
    `${names} of '${to.name}' is not unique, so that one record could relate to many: add a unique index, or declare a relation to many`,
    at,
  );
}

/** What the type field must hold, as a value of it. */
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
