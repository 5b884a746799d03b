// Checks that a replaced sort order ends at sortable fields.
import type { CollectionBuild } from './added.ts';
import { failMisuse, failUnknownName } from './customizations.ts';
import type { Column, Field } from './types.ts';

/** CONFIGURATION for a clause with an unknown field, or for a cycle. */
export function checkSorts(builds: readonly CollectionBuild[]): void {
  const byName = new Map(builds.map((home) => [home.name, home]));
  const ownerOf = new Map<Field, CollectionBuild>();
  for (const home of builds) for (const field of home.internalFields.values()) ownerOf.set(field, home);

  const check = (home: CollectionBuild, column: Column, at: string, active: readonly Column[]): void => {
    if (typeof column.order !== 'object') return;
    if (active.includes(column))
      failMisuse(`Circular sortings: ${[...active, column].map(({ name }) => name).join(' -> ')}`, at);
    for (const { field } of column.order) {
      const end = find(home, String(field), at);
      if (!end.sortable) failMisuse(`'${field}' of '${home.name}' cannot be sorted by`, at);
      check(ownerOf.get(end)!, end, at, [...active, column]);
    }
  };

  const find = (home: CollectionBuild, text: string, at: string): Column => {
    const [name = '', ...rest] = text.split(':');
    const field = home.internalFields.get(name);
    if (!field)
      return failUnknownName(
        `The collection '${home.name}' has no field '${name}'`,
        name,
        home.internalFields.keys(),
        at,
      );
    if (field.kind === 'one' && rest.length) return find(byName.get(field.to.name)!, rest.join(':'), at);
    if (field.kind !== 'column' || rest.length) return failMisuse(`'${text}' of '${home.name}' is not one field`, at);
    return field.route?.field ?? field;
  };

  for (const home of builds)
    for (const [name, { at }] of home.customizations.sorts) {
      const field = home.internalFields.get(name);
      if (field?.kind === 'column') check(home, field, at, []);
    }
}
