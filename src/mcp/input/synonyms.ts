// Words of models for arguments, operators and operations of the tools. Words match in any case and with any
// separators. Each list contains only words with a single meaning.
import { type Operator, operators, type Quantifier } from '../../core/filter.ts';
import { foldName } from '../../core/suggestions.ts';

type SynonymTable<K extends string> = Readonly<Partial<Record<K, string>>>;

/** The possible meanings of each word, in the order of the table. */
function indexSynonyms<K extends string>(table: SynonymTable<K>): ReadonlyMap<string, readonly K[]> {
  const index = new Map<string, K[]>();
  for (const [target, words] of Object.entries(table) as [K, string][])
    for (const word of [target, ...words.split(' ')].filter((each) => each !== ''))
      index.set(foldName(word), [...(index.get(foldName(word)) ?? []), target]);
  return index;
}

/** Renames the keys of an object by a table. Undefined for an unknown key, or two keys with the same meaning. */
export function applySynonyms(
  value: Readonly<Record<string, unknown>>,
  words: ReadonlyMap<string, readonly string[]>,
): Readonly<Record<string, unknown>> | undefined {
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const target = words.get(foldName(key))?.[0];
    if (target === undefined || target in result) return undefined;
    result[target] = item;
  }
  return result;
}

/** A dot names a member of an object argument. */
export const argumentWords = indexSynonyms({
  collectionName: 'collection table model entity resource name',
  relationName: 'relation relationship association',
  filters: 'filter where condition conditions conditionTree',
  sort: 'order orderBy sortBy ordering',
  'sort.direction': 'ascending direction sortOrder sortDirection orderDirection',
  fields: 'columns select projection',
  groups: 'group groupBy dimensions',
  measures: 'metrics aggregations aggregates figures',
  operation: 'aggregation aggregate function',
  field: 'measure column',
  attributes: 'data values record payload',
  parentRecordId: 'parentId parent recordId id',
  recordId: 'id recordIds ids',
  recordIds: 'ids recordId id',
  targetRecordId: 'targetId target targetRecordIds targetIds ids',
  targetRecordIds: 'targetIds targets targetRecordId targetId ids',
  enableCount: 'count withCount totalCount',
  'pagination.size': 'size limit pageSize perPage take',
  'pagination.number': 'number page pageNumber',
  'pagination.offset': 'offset skip',
  actionName: 'action',
  includeEmpty: 'fillGaps fillEmpty includeZeros zeroFill showEmpty',
});

export const groupWords = indexSynonyms({
  field: 'column',
  bucket:
    'interval granularity period unit dateBucket operation grain timeGrain timeUnit dateTrunc trunc truncate dateUnit',
  part: 'datePart',
  ranges: 'range bins buckets bounds boundaries edges thresholds breaks',
});

export const sortWords = indexSynonyms({
  field: 'column by',
  ascending: 'asc',
  direction: 'order dir',
  desc: 'descending',
});

export const operationWords = indexSynonyms({
  count: '',
  sum: '',
  avg: 'average mean',
  max: 'maximum',
  min: 'minimum',
});

export const measureWords = indexSynonyms({
  count: 'records rows',
  countDistinct: 'distinct distinctCount unique uniqueCount',
  sum: 'total',
  avg: 'average mean',
  min: 'minimum',
  max: 'maximum',
  median: '',
  percentile: 'quantile',
  ratio: '',
  share: 'shareOf shareOfTotal',
  running: 'runningTotal runningSum cumulative cumulativeSum',
  movingAverage: 'movingAvg movingMean rollingAverage rollingAvg rollingMean trailingAverage trailingAvg',
  rank: 'rankOf ranking',
  metric: 'namedMetric kpi',
  where: 'filter filters condition conditions if when',
});

/** The members of `{operation, field}` as a measure. */
export const operationFormWords = indexSynonyms({
  operation: 'function aggregate aggregation agg op type fn func method',
  field: 'column of expression',
});

export const expressionWords = indexSynonyms({
  plus: 'add',
  minus: 'subtract',
  times: 'multiply',
  dividedBy: 'divide div',
  abs: 'absolute',
  round: '',
  difference: 'diff dateDiff',
  unit: '',
  coalesce: 'ifNull orElse',
  value: 'constant literal',
});

export const groupSortWords = indexSynonyms({
  measure: '',
  group: '',
  field: 'column by name',
  ascending: 'asc',
  desc: 'descending',
  direction: 'order dir',
});

export const topWords = indexSynonyms({
  n: 'limit count size first',
  per: 'within partition partitionBy each',
  by: 'measure sort orderBy sortBy',
});

export const comparisonWords = indexSynonyms({
  field: 'column attribute property measure',
  expression: 'expr',
  operator: 'op comparison comparator',
  other: 'otherField compareTo',
  value: '',
});

export const partTestWords = indexSynonyms({
  field: 'column attribute property',
  part: 'datePart',
  expression: 'expr',
  operator: 'op comparison comparator',
  value: 'values',
});

export const leafWords = indexSynonyms({
  field: 'column attribute property measure',
  operator: 'op comparison comparator',
  value: 'values',
});

export const branchWords = indexSynonyms({
  aggregator: 'logic operator combinator',
  conditions: 'filters rules',
});

export const aggregatorWords = indexSynonyms({ And: 'all', Or: 'any', Not: '' });

export const quantifierWords = indexSynonyms<Quantifier>({
  some: 'any exists has',
  none: 'notExists no without notAny',
  every: 'all each',
});

const operatorSymbols: Readonly<Record<string, Operator>> = {
  '=': 'Equal',
  '==': 'Equal',
  '===': 'Equal',
  '!=': 'NotEqual',
  '!==': 'NotEqual',
  '<>': 'NotEqual',
  '<': 'LessThan',
  '<=': 'LessThanOrEqual',
  '>': 'GreaterThan',
  '>=': 'GreaterThanOrEqual',
};

/** The meaning of a model's operator: one of ours, or one that becomes several conditions. */
export type ParsedOperator = Operator | 'Between' | 'NotBetween' | 'Null' | 'NotNull' | 'NotLike' | 'NotILike' | 'On';

const operatorWords = indexSynonyms<ParsedOperator>({
  ...(Object.fromEntries(operators.map((operator) => [operator, operator])) as Record<Operator, string>),
  Equal: 'eq equals is equalTo',
  NotEqual: 'ne neq not notEquals isNot notEqualTo',
  In: 'oneOf anyOf isOneOf',
  NotIn: 'nin notOneOf noneOf',
  LessThan: 'lt less lessThan isLessThan',
  LessThanOrEqual: 'lte le atMost lessThanOrEqualTo lessOrEqual beforeOrEqual beforeOrOn onOrBefore',
  GreaterThan: 'gt greater isGreaterThan',
  GreaterThanOrEqual: 'gte ge atLeast greaterThanOrEqualTo greaterOrEqual afterOrEqual afterOrOn onOrAfter since',
  Contains: 'includes substring',
  NotContains: 'doesNotContain notIncludes',
  StartsWith: 'beginsWith prefix startWith',
  EndsWith: 'suffix endWith',
  IContains: 'containsIgnoreCase',
  Blank: 'empty isEmpty isBlank',
  Present: 'isPresent notEmpty isNotEmpty notBlank',
  Missing: 'isMissing',
  After: 'isAfter',
  Before: 'isBefore',
  Match: 'regex regexp matches',
  Null: 'isNull notExists doesNotExist',
  NotNull: 'isNotNull exists',
  NotLike: '',
  NotILike: '',
  Between: 'isBetween',
  NotBetween: 'isNotBetween',
  On: 'onDay onDate',
});

export function findOperator(text: string): ParsedOperator | undefined {
  return operatorSymbols[text.trim()] ?? operatorWords.get(foldName(text))?.[0];
}
