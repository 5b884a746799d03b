// Stored filters: row scopes, conditions of roles and workflows, segments. Some are older than the rule that
// conditions through to-many relations must be unambiguous (agent/resolve/ambiguity.ts). They keep their old meaning
// when used, and are reported when a user views or saves them. Stored meanings: what administrators say about collections
// in the console (core/caller/meanings.ts), which code precedes.
import type { FieldMeaning, Meaning, StoredMetric, StoredSegment } from '../../core/caller/meanings.ts';
import type { Access } from '../../core/caller.ts';
import { isAppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { type Ambiguity, findAmbiguities, makeExplicit } from '../resolve/ambiguity.ts';
import { resolveFilter } from '../resolve/filter.ts';
import { checkStoredMetric } from '../resolve/measures.ts';
import { checkStoredSegment } from '../resolve/stored-definitions.ts';
import { aggregateViewOf, type CollectionView, internalViewOf, scopeViewOf, viewOf } from '../resolve/visibility.ts';
import { getCollection, momentOf, type Operations } from './call.ts';
import { findResidualFilterField } from './read-only-scopes.ts';

interface AmbiguousSegment {
  readonly collection: string;
  readonly segment: string;
  readonly problem: string;
}

export interface StoredFilters {
  /** The ambiguous conditions of a filter. Empty for an invalid filter, which other checks report. */
  findAmbiguities(access: Access, collection: string, filter: PlainFilter): readonly Ambiguity[];
  /** Rewrites the filter with its old meaning into an unambiguous form. */
  disambiguate(access: Access, collection: string, filter: PlainFilter): PlainFilter;
  /** The field of a row scope that the database cannot evaluate, which makes the collection read-only. */
  findResidualField(access: Access, collection: string, filter: PlainFilter): string | undefined;
  /** The queries that read collections without applying their row scopes, with those collections. */
  findUnscopedQueries(): readonly { readonly query: string; readonly collections: readonly string[]; at: string }[];
  /** Ambiguous segments with a fixed filter. */
  findAmbiguousSegments(access: Access): readonly AmbiguousSegment[];
}

function createStoredFilters(ops: Operations): StoredFilters {
  const { collections } = ops.model;
  const inspect = (access: Access, view: CollectionView, filter: PlainFilter): readonly Ambiguity[] => {
    try {
      resolveFilter(view, filter, momentOf(ops, access, {}));
    } catch (error) {
      // A variable such as {{currentUser.id}} is not a valid value of the field, but names and ambiguities can be
      // checked.
      if (!isAppError(error, 'INVALID_VALUE')) return [];
    }
    return findAmbiguities(view, filter);
  };
  return {
    findAmbiguities(access, name, filter) {
      const collection = collections.get(name);
      return collection ? inspect(access, scopeViewOf(access, collection), filter) : [];
    },
    findResidualField(access, name, filter) {
      const collection = collections.get(name);
      return collection && findResidualFilterField(ops, access, collection, filter);
    },
    disambiguate(access, name, filter) {
      const collection = collections.get(name);
      return collection ? makeExplicit(scopeViewOf(access, collection), filter) : filter;
    },
    findUnscopedQueries: () =>
      [...collections.values()].flatMap(({ name, query }) =>
        query?.unscoped.length ? [{ query: name, collections: query.unscoped, at: query.entry.at }] : [],
      ),
    findAmbiguousSegments: (access) =>
      [...collections.values()].flatMap((collection) =>
        [...collection.rules.segments].flatMap(([segment, { definition }]) =>
          typeof definition === 'function'
            ? []
            : inspect(access, internalViewOf(access, collection), definition).map(({ problem }) => ({
                collection: collection.name,
                segment,
                problem,
              })),
        ),
      ),
  };
}

/** What code says about a collection, which the console cannot change. */
export interface CodeMeanings {
  readonly meaning: Meaning;
  /** Of the fields and relations that code describes. */
  readonly fields: ReadonlyMap<string, FieldMeaning>;
  readonly metrics: readonly string[];
  readonly segments: readonly string[];
}

export interface StoredMeaningChecks {
  /** UNKNOWN_COLLECTION. */
  codeMeanings(access: Access, collection: string): CodeMeanings;
  /** Throws as an aggregate of the caller would. */
  checkMetric(access: Access, collection: string, metric: StoredMetric): void;
  /** Throws as a list of the caller would. */
  checkSegment(access: Access, collection: string, segment: StoredSegment): void;
}

function createStoredMeaningChecks(ops: Operations): StoredMeaningChecks {
  return {
    codeMeanings(access, name) {
      const { codeMeaning = {}, fields, rules } = getCollection(ops.model, access, name, 'aggregates');
      const described = [...fields].flatMap(([field, each]) =>
        each.codeMeaning ? [[field, each.codeMeaning] as const] : [],
      );
      const [metrics, segments] = [[...rules.metrics.keys()], [...rules.segments.keys()]];
      return { meaning: codeMeaning, fields: new Map(described), metrics, segments };
    },
    checkMetric(access, name, metric) {
      const view = aggregateViewOf(access, getCollection(ops.model, access, name, 'aggregates'));
      checkStoredMetric(view, metric, momentOf(ops, access, {}));
    },
    checkSegment(access, name, segment) {
      const view = viewOf(access, getCollection(ops.model, access, name, 'aggregates'));
      checkStoredSegment(view, segment, momentOf(ops, access, {}));
    },
  };
}

export const createStoredChecks = (ops: Operations) => ({
  storedFilters: createStoredFilters(ops),
  storedMeanings: createStoredMeaningChecks(ops),
});
