// Checks that a replaced sort order ends at sortable fields.
import type { Home } from './added.ts';
import { misuse, unknownName } from './customizations.ts';
import type { Column, Field } from './types.ts';

/** CONFIGURATION for a clause with an unknown field, or for a cycle. */
export function checkSorts(homes: readonly Home[]): void {
  const byName = new Map(homes.map((home) => [home.name, home]));
  const ownerOf = new Map<Field, Home>();
  for (const home of homes) for (const field of home.inside.values()) ownerOf.set(field, home);

  const check = (home: Home, column: Column, at: string, under: readonly Column[]): void => {
    if (typeof column.order !== 'object') return;
    if (under.includes(column))
      misuse(`Sortings go in a circle: ${[...under, column].map(({ name }) => name).join(' -> ')}`, at);
    for (const { field } of column.order) {
      const end = find(home, String(field), at);
      if (!end.sortable) misuse(`'${field}' of '${home.name}' cannot be sorted by`, at);
      check(ownerOf.get(end)!, end, at, [...under, column]);
    }
  };

  const find = (home: Home, text: string, at: string): Column => {
    const [name = '', ...rest] = text.split(':');
    const field = home.inside.get(name);
    if (!field)
      return unknownName(`The collection '${home.name}' has no field '${name}'`, name, home.inside.keys(), at);
    if (field.kind === 'one' && rest.length) return find(byName.get(field.to.name)!, rest.join(':'), at);
    if (field.kind !== 'column' || rest.length) return misuse(`'${text}' of '${home.name}' is not one field`, at);
    return field.route?.field ?? field;
  };

  for (const home of homes)
    for (const [name, { at }] of home.wishes.sorts) {
      const field = home.inside.get(name);
      if (field?.kind === 'column') check(home, field, at, []);
    }
}
