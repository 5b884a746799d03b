// A list whose filters name a figure of related records is refused, because filters take fields. The error contains the
// complete aggregate that gives the same records.
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainColumn } from '../../../core/filter/columns.ts';
import type { PlainGroupSort } from '../../../core/filter/measures.ts';
import { isBranch, isComparison, isQuantified, type PlainFilter } from '../../../core/filter.ts';
import type { ToolCall } from '../../tool.ts';
import type { Listing } from '../listing.ts';

interface Figure {
  readonly name: string;
  readonly relation: string;
  readonly measure: Readonly<Record<string, unknown>>;
  readonly isCount: boolean;
}

/** Throws the refusal with the aggregate to send instead, or `error` if there is none. */
export function failWithAggregate(
  collection: string,
  { fields = [], filter, sort = [], size, ...args }: Listing,
  call: ToolCall,
  error: unknown,
): never {
  if (!isAppError(error, 'INVALID_ARGUMENT') || !filter || args.segment !== undefined || args.search) throw error;
  const columns = fields.filter((field) => typeof field !== 'string').map(toFigure);
  const figures = columns.filter((column) => column !== undefined);
  const [first] = figures;
  if (!first || figures.length < columns.length || figures.some(({ relation }) => relation !== first.relation))
    throw error;
  const byName = new Map(figures.map((figure) => [figure.name, figure]));
  const conditions = isBranch(filter) && filter.aggregator === 'And' ? filter.conditions : [filter];
  const having = conditions.flatMap((each) => toHaving(each, byName) ?? []);
  const rest = conditions.filter((each) => toHaving(each, byName) === undefined);
  // A figure that remains cannot be a condition on groups.
  if (having.length === 0 || figures.some(({ name }) => JSON.stringify(rest).includes(JSON.stringify(name))))
    throw error;
  const home = homeOf(call, collection, first.relation);
  if (!home) throw error;
  const key = call.engine.describe(call.access, collection).key;
  const shown = fields.filter((field) => typeof field === 'string');
  const own = [...shown, ...(key.every((name) => shown.includes(name)) ? [] : key)];
  const order = sort.flatMap(({ field, ascending = true }): PlainGroupSort[] => {
    if (byName.has(field)) return [{ measure: field, ascending }];
    return own.includes(field) ? [{ group: own.indexOf(field), ascending }] : [];
  });
  if (order.length < sort.length) throw error;
  const where = rest.length === 1 ? rest[0] : { aggregator: 'And', conditions: rest };
  const aggregate = {
    collectionName: home.collection,
    measures: Object.fromEntries(figures.map(({ name, measure }) => [name, measure])),
    groups: own.map((field) => `${home.relation}:${field}`),
    filters: { some: home.relation, ...(rest.length > 0 && { where }) },
    having: having.length === 1 ? having[0] : { aggregator: 'And', conditions: having },
    ...(order.length > 0 && { sort: order }),
    ...(args.timezone && { timezone: args.timezone }),
    ...(size !== undefined && { limit: size }),
  };
  return fail('INVALID_ARGUMENT', {
    argument: 'filters',
    problem: `'${having[0]!.measure}' is a figure of related records, and filters take fields. Call aggregate, and send ${JSON.stringify(aggregate)}.`,
  });
}

/** A figure of one relation, without expressions. */
function toFigure(column: PlainColumn): Figure | undefined {
  const { name, where, ...rest } = column as unknown as Readonly<Record<string, unknown>>;
  const [[kind = '', of] = []] = Object.entries(rest);
  if (kind === 'expression' || typeof of !== 'string') return undefined;
  const [relation = '', ...path] = of.split(':');
  const measure = { [kind]: path.length === 0 ? true : path.join(':'), ...(where !== undefined && { where }) };
  return { name: String(name), relation, measure, isCount: kind === 'count' || kind === 'countDistinct' };
}

/** A condition on a figure. Undefined if it is about fields, or if records without related ones may satisfy it. */
function toHaving(condition: PlainFilter, figures: ReadonlyMap<string, Figure>) {
  if (isBranch(condition) || isQuantified(condition) || isComparison(condition)) return undefined;
  const { field, operator, value } = condition;
  const figure = figures.get(field);
  if (!figure || (figure.isCount && !excludesZero(operator, Number(value)))) return undefined;
  return comparing.test(operator) ? { measure: field, operator, value } : undefined;
}

const comparing = /^(Equal|LessThan|LessThanOrEqual|GreaterThan|GreaterThanOrEqual|Before|After)$/;

function excludesZero(operator: string, value: number): boolean {
  if (operator === 'GreaterThan') return value >= 0;
  return (operator === 'GreaterThanOrEqual' || operator === 'Equal') && value > 0;
}

function homeOf(call: ToolCall, collection: string, relation: string) {
  try {
    const inverse = call.engine.inverseOf(call.access, { collection, relation });
    return inverse.foreign === undefined ? { collection: inverse.collection, relation: inverse.home } : undefined;
  } catch {
    return undefined;
  }
}
