// Autocomplete names: collections that the user may browse, and the relations, actions and charts of the typed
// collection. Other input stays possible.
import type { Engine } from '../../../agent/engine.ts';
import type { Access } from '../../../core/caller.ts';
import type { Field, Typed } from './fields.ts';

/** Longer lists are not useful. */
const MAX_NAMES = 500;

type Find = (access: Access, engine: Engine, collection: string | undefined) => readonly string[];

const finders: Readonly<Record<string, Find>> = {
  collectionName: (access, engine) => engine.index(access).map(({ name }) => name),
  relationName: (access, engine, collection) =>
    collection === undefined
      ? []
      : engine
          .describe(access, collection)
          .relations.filter(({ kind }) => kind === 'many')
          .map(({ name }) => name),
  actionName: (access, engine, collection) =>
    collection === undefined ? [] : engine.actions.describe(access, collection).map(({ name }) => name),
  chartName: (access, engine, collection) =>
    collection !== undefined && !access.can('read', collection) ? [] : engine.charts.names(access, collection),
};

export function namesFor(
  access: Access,
  engine: Engine,
  fields: readonly Field[],
  typed: Typed,
): ReadonlyMap<string, readonly string[]> {
  const collections = engine.index(access).map(({ name }) => name);
  const collection = collections.find((name) => name === typed.fields.get('collectionName'));
  const found = fields.flatMap(({ name }): [string, readonly string[]][] => {
    const find = Object.hasOwn(finders, name) ? finders[name] : undefined;
    return find ? [[name, find(access, engine, collection).slice(0, MAX_NAMES)]] : [];
  });
  return new Map(found);
}
