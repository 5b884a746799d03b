// Which charts a caller is told of: those of the whole agent, which are the operator's own figures and meant for everybody,
// and those of a collection where the caller may read its records, since such a chart is about one of them.
import type { ToolCall } from '../tools.ts';

/** Names of the charts of the agent, or of a collection. UNKNOWN_COLLECTION. */
export function chartNames(
  { access, engine }: Pick<ToolCall, 'access' | 'engine'>,
  collection?: string,
): readonly string[] {
  const names = engine.charts.names(access, collection);
  return collection === undefined || access.can('read', collection) ? names : [];
}
