// Checks of what administrators say about collections in the console (core/meanings.ts), which code precedes.
import type { Access } from '../../core/caller.ts';
import type { FieldMeaning, Meaning, StoredMetric } from '../../core/meanings.ts';
import { checkStoredMetric } from '../resolve/measures.ts';
import { aggregateViewOf } from '../resolve/visibility.ts';
import { getCollection, momentOf, type Operations } from './call.ts';

/** What code says about a collection, which the console cannot change. */
export interface CodeMeanings {
  readonly meaning: Meaning;
  /** Of the fields and relations that code describes. */
  readonly fields: ReadonlyMap<string, FieldMeaning>;
  readonly metrics: readonly string[];
}

export interface StoredMeaningChecks {
  /** UNKNOWN_COLLECTION. */
  codeMeanings(access: Access, collection: string): CodeMeanings;
  /** Throws as an aggregate of the caller would. */
  checkMetric(access: Access, collection: string, metric: StoredMetric): void;
}

export function createStoredMeaningChecks(ops: Operations): StoredMeaningChecks {
  return {
    codeMeanings(access, name) {
      const { codeMeaning = {}, fields, rules } = getCollection(ops.model, access, name, 'aggregates');
      const described = [...fields].flatMap(([field, each]) =>
        each.codeMeaning ? [[field, each.codeMeaning] as const] : [],
      );
      return { meaning: codeMeaning, fields: new Map(described), metrics: [...rules.metrics.keys()] };
    },
    checkMetric(access, name, metric) {
      const view = aggregateViewOf(access, getCollection(ops.model, access, name, 'aggregates'));
      checkStoredMetric(view, metric, momentOf(ops, access, {}));
    },
  };
}
