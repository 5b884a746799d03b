// Finds the collection that can count the records of a to-many relation for each record of this one. It is the foreign
// collection or the join collection, and it needs a to-one relation back to this collection.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { findForeignKeyRelation, invertPairs, isOver } from '../model/inverse.ts';
import type { Collection, Relation } from '../model/types.ts';
import type { InverseRelation, InverseRequest } from '../requests.ts';
import { viewOf } from '../resolve/visibility.ts';
import { getCollection, type Operations } from './call.ts';
import { findRelation } from './link.ts';

/** Considers only relations that the caller can see. */
export function inverseOf(
  ops: Operations,
  access: Access,
  { collection: name, relation: relationName }: InverseRequest,
): InverseRelation {
  const home = viewOf(access, getCollection(ops.model, access, name));
  const relation = findRelation(home, relationName);
  const { through, on, to } = relation;
  if (relation.kind !== 'many') return failWithoutInverse(name, relation);
  const findVisible = (collection: Collection, pairs: Relation['on']): string => {
    if (!collection.isPublished || !access.can('browse', collection.name)) return failWithoutInverse(name, relation);
    const { relations } = viewOf(access, collection);
    const foreignKeyRelation = findForeignKeyRelation(collection, pairs);
    if (foreignKeyRelation && relations.includes(foreignKeyRelation)) return foreignKeyRelation.name;
    const lowest = relations.find((each) => each.lowestBy && isOver(each, pairs));
    return lowest ? failAtLowest(name, relation, collection, lowest) : failWithoutInverse(name, relation);
  };
  if (!through) return { collection: to.name, home: findVisible(to, invertPairs(on)) };
  const { collection, origin, foreign } = through;
  return {
    collection: collection.name,
    home: findVisible(collection, invertPairs(origin)),
    foreign: findVisible(collection, foreign),
  };
}

/** The relation back leads to the record with the lowest key, so the others would not count. */
function failAtLowest(home: string, { name }: Relation, { name: from }: Collection, back: Relation): never {
  const key = back.on.map(({ to }) => `'${to.name}'`).join(' and ');
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' of '${home}' leads back by '${back.name}' of '${from}', which leads to one of several records: ${key} of '${home}' is not unique. If its values occur once, aggregate '${from}' and name "${back.name}:..." in groups and filters. Otherwise list '${home}' with figures in fields, such as {"name":"n","count":"${name}"}.`,
  });
}

function failWithoutInverse(collection: string, { name, kind }: Relation): never {
  const why =
    kind === 'one'
      ? 'leads to one record'
      : 'has no relation back that you can see: add a to-one relation from its collection to this one';
  return fail('INVALID_ARGUMENT', { argument: 'relation', problem: `'${name}' of '${collection}' ${why}.` });
}
