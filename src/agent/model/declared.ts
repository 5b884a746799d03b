// Relations that code declares, where the database has no foreign key to tell of them.
import type { Collection, Column, Field, Relation } from './types.ts';
import { type DeclaredRelation, misuse, unknownName } from './wishes.ts';

/** Without the name that callers use. CONFIGURATION where the columns do not fit. */
export function buildDeclared(
  home: Collection,
  declared: DeclaredRelation,
  collections: ReadonlyMap<string, Collection>,
): Omit<Relation, 'name'> {
  const { foreign, at } = declared;
  const to = collections.get(foreign);
  if (!to) return unknownName(`There is no collection '${foreign}'`, foreign, collections.keys(), at);
  if (to.source !== home.source)
    return misuse(`'${home.name}' and '${foreign}' are of two data sources, which cannot be joined`, at);
  if (declared.kind === 'toOne') {
    const from = columnOf(home, declared.options?.foreignKey, at);
    const target = keyColumn(to, declared.options.foreignKeyTarget, at);
    needUnique(to, target, at);
    return link('one', to, from, target, false, at);
  }
  const from = keyColumn(home, declared.options?.originKeyTarget, at);
  const origin = columnOf(to, declared.options?.originKey, at);
  if (declared.single) needUnique(to, origin, at);
  return link(declared.single ? 'one' : 'many', to, from, origin, true, at);
}

function link(
  kind: Relation['kind'],
  to: Collection,
  from: Column,
  target: Column,
  inverse: boolean,
  at: string,
): Omit<Relation, 'name'> {
  if (String(from.type) !== String(target.type))
    misuse(
      `'${from.column}' is ${from.type} and '${target.column}' is ${target.type}: they cannot be the same key`,
      at,
    );
  return { kind, to, on: Object.freeze([Object.freeze({ from, to: target })]), inverse };
}

/** A join must not make two records of one. */
function needUnique(to: Collection, column: Column, at: string): void {
  if (to.uniqueKeys.some((key) => key.length === 1 && key[0] === column)) return;
  misuse(
    `'${column.column}' of '${to.name}' is not unique, so that one record could relate to many: add a unique index, or declare a relation to many`,
    at,
  );
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
