// The fields that a condition can name: those of the collection, and those of related records through to-one relations.
import type { CollectionDescription, FieldDescription } from '../../../agent/requests.ts';
import type { Operator } from '../../../core/filter.ts';

/** The description of a collection, limited to what the viewer may name. Undefined if it may not be named. */
export type Describe = (collection: string) => CollectionDescription | undefined;

export interface FilterField {
  /** As a filter names it, such as `customer:country`. */
  readonly path: string;
  /** As people read it, such as `customer › country`. */
  readonly label: string;
  readonly type: string;
  readonly operators: readonly Operator[];
  readonly enumValues?: readonly string[];
}

/** A to-many relation whose records a group of conditions can be about. */
interface FilterRelation {
  readonly name: string;
  readonly to: string;
}

/** Choices beyond this number make a list that nobody reads, and a large page: a form has many of these lists. */
const MAX_CHOICES = 100;
/** A relation makes three choices. */
const MAX_RELATIONS = 50;

interface Choices<T> {
  readonly shown: readonly T[];
  /** The number of choices that are left out. */
  readonly more: number;
}

const firstOf = <T>(all: readonly T[], limit: number): Choices<T> => ({
  shown: all.slice(0, limit),
  more: Math.max(0, all.length - limit),
});

const toField = ({ name, type, operators, enumValues }: FieldDescription, via: readonly string[]): FilterField => ({
  path: [...via, name].join(':'),
  label: [...via, name].join(' › '),
  type,
  operators: operators as readonly Operator[],
  ...(enumValues && { enumValues }),
});

/** Own fields first, then those of each to-one relation. Fields without operators are left out. */
export function fieldChoices(describe: Describe, collection: string): Choices<FilterField> {
  const described = describe(collection);
  if (!described) return firstOf([], MAX_CHOICES);
  const own = described.fields.map((field) => toField(field, []));
  const related = described.relations
    .filter(({ kind, fields }) => kind === 'one' && !fields)
    .flatMap(({ name, to }) => (describe(to)?.fields ?? []).map((field) => toField(field, [name])));
  const all = [...own, ...related].filter(({ operators }) => operators.length > 0);
  return firstOf(all, MAX_CHOICES);
}

/** The field at the end of a path of any length. Undefined for an unknown one. */
export function findField(describe: Describe, collection: string, path: string): FilterField | undefined {
  const names = path.split(':');
  let at = describe(collection);
  for (const name of names.slice(0, -1)) {
    const relation = at?.relations.find((each) => each.name === name && each.kind === 'one' && !each.fields);
    at = relation && describe(relation.to);
  }
  const field = at?.fields.find(({ name }) => name === names.at(-1));
  return field && toField(field, names.slice(0, -1));
}

export const relationChoices = (describe: Describe, collection: string): Choices<FilterRelation> =>
  firstOf(findRelations(describe, collection), MAX_RELATIONS);

/** The to-many relations that a group can be about, also those that are not offered. */
export function findRelations(describe: Describe, collection: string): readonly FilterRelation[] {
  return (describe(collection)?.relations ?? []).flatMap(({ name, kind, to, fields }) =>
    kind === 'many' && !fields && describe(to) ? [{ name, to }] : [],
  );
}
