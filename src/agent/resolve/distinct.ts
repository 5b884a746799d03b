// Resolves a list of distinct values: an aggregate that groups by the fields and has no measures.
import { fail } from '../../core/errors.ts';
import { MAX_GROUPS, type PlainSort } from '../../core/filter.ts';
import { always } from '../lower/simplify.ts';
import type { Moment } from '../model/types.ts';
import type { RequestedField } from '../plan/types.ts';
import type { GroupOrder } from '../sources/statement.ts';
import type { AggregateQuery } from './aggregate.ts';
import { formatType } from './expression.ts';
import { isGroupable, resolveGroups } from './groups.ts';
import { resolveName } from './names.ts';
import type { CollectionView } from './visibility.ts';

interface DistinctArguments {
  readonly fields: readonly RequestedField[];
  readonly sort: readonly PlainSort[];
  readonly limit: number;
  readonly skip: number;
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Throws INVALID_ARGUMENT for fields that cannot be grouped, and for a sort by other fields. */
export function resolveDistinct(view: CollectionView, args: DistinctArguments, moment: Moment): AggregateQuery {
  const { fields, sort, limit, skip } = args;
  const names = fields.map(({ name }) => name);
  const wrong = fields.find(({ path }) => !isGroupable(path.field));
  if (wrong)
    invalid(
      'fields',
      `'${wrong.name}' is ${formatType(wrong.path.field.type)}, which has no distinct values. Leave it out.`,
    );
  if (names.length > MAX_GROUPS)
    invalid('fields', `distinct takes at most ${MAX_GROUPS} fields, got ${names.length}. Name fewer fields.`);
  const groups = resolveGroups(view, names, moment);
  const order: GroupOrder[] = [];
  const add = (index: number, ascending: boolean) => {
    if (!order.some((each) => each.index === index)) order.push({ by: 'group', index, ascending });
  };
  for (const { field, ascending = true } of sort) {
    const { name, path } = resolveName(view, field);
    const index = names.indexOf(name);
    if (index < 0) invalid('sort', `with distinct, sort takes the listed fields: ${names.join(', ')}.`);
    if (path.field.order !== undefined)
      invalid('sort', `code orders '${field}', so distinct values cannot be sorted by it. Leave it out of sort.`);
    add(index, ascending);
  }
  for (const index of names.keys()) add(index, true);
  return { measures: [], groups, having: always, order, includeEmpty: false, limit, skip };
}
