// Names that permissions can refer to: collections, fields, actions and charts, but no records. Administrators may see
// the database structure whatever their role shows (core/caller.ts), since they could grant themselves any right. The
// names are therefore read with an unrestricted Access. Only this module uses that Access, and only to read
// descriptions.
import type { ActionDescription } from '../../../agent/actions/catalogue.ts';
import type { Engine } from '../../../agent/engine.ts';
import type { CodeMeanings } from '../../../agent/operations/stored-filters.ts';
import type { CollectionDescription } from '../../../agent/requests.ts';
import type { StoredMeanings, StoredMetric, StoredSegment } from '../../../core/caller/meanings.ts';
import { type Caller, fullAccess } from '../../../core/caller.ts';
import { isAppError } from '../../../core/errors.ts';
import {
  comparedNames,
  isBranch,
  isComparison,
  isQuantified,
  joinPaths,
  type PlainFilter,
  readQuantified,
} from '../../../core/filter.ts';
import { hasName, suggestNames } from '../../../core/suggestions.ts';
import { withoutToolAdvice } from '../../../workflows/runs/failure.ts';

export interface ModelNames {
  readonly collections: readonly string[];
  /** Undefined for an unknown collection. */
  describe(collection: string): CollectionDescription | undefined;
  actions(collection: string): readonly ActionDescription[];
  /** Charts of the agent, or of one collection. */
  charts(collection?: string): readonly string[];
  /** Fields and relations; empty for an unknown collection. */
  fields(collection: string): readonly string[];
  /** What code says of a collection; the console cannot change it. */
  codeMeanings(collection: string): CodeMeanings;
  /** Why the metric cannot be computed. */
  findMetricProblem(collection: string, metric: StoredMetric): string | undefined;
  /** Why records cannot be filtered by the segment. */
  findSegmentProblem(collection: string, segment: StoredSegment): string | undefined;
  /** Unknown names in a filter, with suggestions. */
  findUnknown(collection: string, filter: PlainFilter): readonly string[];
  /** First field of a row scope that the database cannot evaluate. */
  findUndecided(collection: string, filter: PlainFilter): string | undefined;
  /** Ambiguous parts of a filter, with the possible filters. `*` checks every collection. */
  findUnclear(collection: string, filter: PlainFilter): readonly string[];
}

/** `meanings`: those of the console, for a page that shows them. */
export function readModel(engine: Engine, caller: Caller, meanings?: StoredMeanings): ModelNames {
  const access = { ...fullAccess(caller), ...(meanings && { meanings }) };
  const collections = engine.index(access).map(({ name }) => name);
  const isThere = (collection: string) => collections.includes(collection);
  const describe = (collection: string) => (isThere(collection) ? engine.describe(access, collection) : undefined);
  const fields = (collection: string) => {
    const described = describe(collection);
    return described ? [...columnsOf(described), ...described.relations].map(({ name }) => name) : [];
  };

  /** Resolves a path such as `relation:field` step by step. */
  function findPath(collection: string, path: string): readonly string[] {
    const described = describe(collection);
    if (!described || path === '' || columnsOf(described).some(({ name }) => name === path)) return [];
    const relation = described.relations.find((each) => path.includes(':') && hasName(each, path.split(':')[0]!));
    if (!relation) return [describeUnknown(collection, path, fields(collection))];
    return relation.fields ? [] : findPath(relation.to, path.slice(path.indexOf(':') + 1));
  }

  return {
    collections,
    describe,
    fields,
    actions: (collection) => (isThere(collection) ? engine.actions.describe(access, collection) : []),
    charts: (collection) =>
      collection === undefined || isThere(collection) ? engine.charts.names(access, collection) : [],
    codeMeanings: (collection) => engine.storedMeanings.codeMeanings(access, collection),
    findMetricProblem: (collection, metric) =>
      findProblem(() => engine.storedMeanings.checkMetric(access, collection, metric)),
    findSegmentProblem: (collection, segment) =>
      findProblem(() => engine.storedMeanings.checkSegment(access, collection, segment)),
    findUndecided: (collection, filter) => engine.storedFilters.findResidualField(access, collection, filter),
    findUnclear: (collection, filter) => {
      const within = collection === '*' ? collections : [collection];
      const found = within.flatMap((name) => engine.storedFilters.findAmbiguities(access, name, filter));
      return [...new Set(found.map(({ problem }) => problem))];
    },
    findUnknown: (collection, filter) => [...new Set(namesOf(filter).flatMap((name) => findPath(collection, name)))],
  };
}

function findProblem(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    return withoutToolAdvice(error);
  }
}

/** With those that only aggregates show: row scopes and rights apply to them too. */
const columnsOf = ({ fields, aggregates }: CollectionDescription) => [...fields, ...(aggregates?.fields ?? [])];

/** Paths to fields, and to relations with a trailing `:`. */
function namesOf(filter: PlainFilter, path = ''): readonly string[] {
  if (isBranch(filter)) return filter.conditions.flatMap((condition) => namesOf(condition, path));
  if (isComparison(filter)) return comparedNames(filter).map((name) => joinPaths(path, name));
  if (!isQuantified(filter)) return [joinPaths(path, filter.field)];
  const { path: relations, where } = readQuantified(filter);
  const related = joinPaths(path, relations);
  return [`${related}:`, ...(where ? namesOf(where, related) : [])];
}

function describeUnknown(collection: string, field: string, candidates: readonly string[]): string {
  const near = suggestNames(field, candidates, 3);
  return `'${collection}': there is no field '${field}'.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''}`;
}
