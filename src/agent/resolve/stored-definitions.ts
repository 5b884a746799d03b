// The metrics and segments that administrators defined in the console. Code precedes them.
import type { CollectionMeanings, StoredSegment } from '../../core/caller/meanings.ts';
import { isAppError } from '../../core/errors.ts';
import { createMoment } from '../lower/dates.ts';
import type { Moment } from '../model/types.ts';
import { resolveUnambiguous } from './ambiguity.ts';
import type { CollectionView } from './visibility.ts';

type Kind = 'metrics' | 'segments';
type Definition<K extends Kind> = CollectionMeanings[K] extends ReadonlyMap<string, infer D> ? D : never;

/** Names and types do not depend on the time. */
const anyMoment = createMoment(0, 'UTC');

/**
 * Those that the caller could write: one with a hidden field does not exist for them. `check` throws as a request of the
 * caller would.
 */
export function createVisibleDefinitions<K extends Kind>(
  kind: K,
  check: (view: CollectionView, definition: Definition<K>, moment: Moment) => void,
): (view: CollectionView) => ReadonlyMap<string, Definition<K>> {
  const cache = new WeakMap<CollectionView, ReadonlyMap<string, Definition<K>>>();
  const isWritable = (view: CollectionView, definition: Definition<K>): boolean => {
    try {
      check(view, definition, anyMoment);
      return true;
    } catch (error) {
      if (isAppError(error) && error.status < 500) return false;
      throw error;
    }
  };
  return (view) => {
    let visible = cache.get(view);
    if (!visible) {
      const { collection, visibility } = view;
      const stored = [...(visibility.stored(collection)?.[kind] ?? [])] as [string, Definition<K>][];
      visible = new Map(stored.filter(([name, each]) => !collection.rules[kind].has(name) && isWritable(view, each)));
      cache.set(view, visible);
    }
    return visible;
  };
}

/** Throws as a list with its filter would. */
export function checkStoredSegment(view: CollectionView, { filter }: StoredSegment, moment: Moment): void {
  resolveUnambiguous(view, filter, moment);
}

/** The segments of the console that exist for the caller. */
export const visibleSegments = createVisibleDefinitions('segments', checkStoredSegment);
