// The charts that a caller may see. Charts of the whole agent are the operator's own figures and visible to every
// caller. A chart of a collection shows one of its records, so it needs the right to read them.
import type { Access } from '../../core/caller.ts';
import type { Charts } from './charts.ts';

/** Names of the charts of the agent, or of a collection. Throws UNKNOWN_COLLECTION. */
export function chartNames(
  { access, engine }: { readonly access: Access; readonly engine: { readonly charts: Charts } },
  collection?: string,
): readonly string[] {
  const names = engine.charts.names(access, collection);
  return collection === undefined || access.can('read', collection) ? names : [];
}
