// Finds row scopes that make a collection read-only for roles with write permission, because the database cannot
// evaluate them.
import type { PlainFilter } from '../../../core/filter.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { ModelNames } from './model.ts';

/** Read-only row scopes of one environment. */
export function findReadOnlyScopes<R extends Right>(
  rights: readonly R[],
  environment: string,
  model: Pick<ModelNames, 'collections' | 'findUndecided'>,
): readonly { readonly right: R; readonly text: string }[] {
  const environmentRights = rights.filter(({ path }) => path[1] === environment && path[2] !== undefined);
  const factOf = (kind: Right['kind'], owner: string, collection: string) =>
    (
      environmentRights.find((each) => each.kind === kind && each.path[0] === owner && each.path[2] === collection) ??
      environmentRights.find((each) => each.kind === kind && each.path[0] === owner && each.path[2] === '*')
    )?.value;
  const roles = [...new Set(environmentRights.flatMap(({ kind, path }) => (kind === 'permission' ? [path[0]!] : [])))];
  const writersOf = (collection: string) => roles.filter((role) => mayWrite(factOf('permission', role, collection)));
  const own = (team: string) =>
    new Set(environmentRights.flatMap(({ kind, path }) => (kind === 'scope' && path[0] === team ? [path[2]!] : [])));
  return environmentRights.flatMap((right) => {
    const [team, , named] = right.path as readonly [string, string, string];
    if (right.kind !== 'scope') return [];
    const collections = named === '*' ? model.collections.filter((name) => !own(team).has(name)) : [named];
    return collections.flatMap((collection) => {
      const field = model.findUndecided(collection, right.value as PlainFilter);
      const writers = field === undefined ? [] : writersOf(collection);
      if (writers.length === 0) return [];
      const text = `Team '${team}' can only read '${collection}'. The database cannot evaluate '${field}' of its row scope, so writes are refused. These roles have write permission there: ${writers.join(', ')}.`;
      return [{ right, text }];
    });
  });
}

function mayWrite(value: unknown): boolean {
  const { add, edit, delete: removes } = (value ?? {}) as Partial<CollectionPermission>;
  return Boolean(add || edit || removes);
}
