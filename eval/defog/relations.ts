import type { Agent } from '../../src/index.ts';

/** `[from, to, name?, inverse?]`: a column and the column it points to, as `table.column`. */
export type Relation = readonly [from: string, to: string, name?: string, inverse?: string];

/** Declares each relation and its inverse. By default both have the name of the table to which they lead. */
export function relate(agent: Agent, relations: readonly Relation[]): void {
  for (const [from, to, name, inverse] of relations) {
    const [origin = '', foreignKey = ''] = from.split('.');
    const [target = '', foreignKeyTarget = ''] = to.split('.');
    agent
      .customizeCollection(origin, (collection) =>
        collection.addManyToOneRelation(name ?? target, target, { foreignKey, foreignKeyTarget }),
      )
      .customizeCollection(target, (collection) =>
        collection.addOneToManyRelation(inverse ?? origin, origin, {
          originKey: foreignKey,
          originKeyTarget: foreignKeyTarget,
        }),
      );
  }
}
