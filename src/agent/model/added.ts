// Fields that code adds, made in the order in which they need each other: a field is built when it is come to, or before,
// when another one names it. A field that would have to be there before itself is a circle, and an error of the start.
import type { ComputedDefinition } from '../customize/definitions.ts';
import type { ColumnType, DescribedColumn } from '../sources/source.ts';
import { primitiveTypes } from '../sources/source.ts';
import { buildColumn, buildImported, type ColumnWishes } from './fields.ts';
import type { Column, Field, Need, Relation } from './types.ts';
import { type Added, misuse, unknownName, type Wishes } from './wishes.ts';

/** A collection while its fields are being added. */
export interface Home {
  readonly name: string;
  readonly inside: Map<string, Field>;
  readonly wishes: Wishes;
  wishesFor(column: DescribedColumn): ColumnWishes;
}

/** `homeOf` finds the other end of a relation. */
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
    const field = added.kind === 'addField' ? makeField(home, added) : importField(home, added);
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

  const makeField = (home: Home, { name, definition, at }: Added & { readonly kind: 'addField' }): Column => {
    const described = describeMade(name, definition, at);
    const needs = definition.dependencies.map((text) => follow(home, text, at));
    const made = Object.freeze({ needs: Object.freeze(needs), definition, at });
    return buildColumn(described, false, home.wishesFor(described), made);
  };

  const importField = (home: Home, { name, definition, at }: Added & { readonly kind: 'importField' }): Column => {
    if (definition?.readonly === false)
      misuse(`The field '${name}' of '${home.name}' is imported, and imported fields cannot be written`, at);
    const { via, field } = follow(home, String(definition?.path), at);
    const { name: published } = home.wishesFor(describeColumn(name, field.type));
    return buildImported(published, { via, field }, via.length > 0 || field.nullable);
  };

  for (const { name: collection, inside, wishes } of homes)
    for (const [name, { at }] of wishes.added)
      if (inside.has(name)) misuse(`The collection '${collection}' has a field '${name}' already`, at);
  for (const home of homes) for (const name of home.wishes.added.keys()) ensure(home, name);
}

function describeMade(name: string, { columnType, enumValues }: ComputedDefinition, at: string): DescribedColumn {
  const type: ColumnType = columnType === 'File' ? 'Binary' : columnType;
  const primitive = typeof type === 'string' ? type : type?.[0];
  if (!(primitiveTypes as readonly string[]).includes(String(primitive)))
    unknownName(`There is no column type '${String(primitive)}'`, String(primitive), primitiveTypes, at);
  if (primitive === 'Enum' && !enumValues?.length) misuse(`The field '${name}' is an Enum and needs 'enumValues'`, at);
  return { ...describeColumn(name, type), ...(enumValues && { enumValues }) };
}

/** What no source knows: nothing can be asked of it, and it cannot be written. */
function describeColumn(name: string, type: ColumnType): DescribedColumn {
  return {
    name,
    type,
    nativeType: '',
    nullable: true,
    readOnly: true,
    hasDefault: false,
    collation: 'binary',
    operators: new Set(),
    sortable: false,
  };
}
