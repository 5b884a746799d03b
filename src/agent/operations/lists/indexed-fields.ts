// The advice for a query that took too long: the indexed fields that the caller can filter or sort by.
import { AppError, isAppError } from '../../../core/errors.ts';
import type { Conditions } from '../../lower/filter.ts';
import type { Column } from '../../model/types.ts';
import type { CollectionView } from '../../resolve/visibility.ts';

const MAX_NAMED_FIELDS = 5;

/**
 * TIMED_OUT with the indexed fields that the caller sees, at most 5; other errors unchanged. Overwrites the advice of
 * statements of code within the call, whose fields may be hidden.
 */
export function adviseOnTimeout(error: unknown, view: CollectionView, conditions: Conditions): unknown {
  if (!isAppError(error, 'TIMED_OUT')) return error;
  const { seconds } = error.details;
  return new AppError('TIMED_OUT', { seconds, ...adviceFor(view, conditions) }, error);
}

function adviceFor(view: CollectionView, { search }: Conditions): { readonly advice?: string } {
  const { name, rules } = view.collection;
  const fields = indexedFields(view);
  if (fields.length === 0) return {};
  const why = search && rules.search === 'columns' ? "'search' reads every record that the filter leaves. " : '';
  return { advice: `${why}Filter or sort by an indexed field of '${name}': ${fields.join(', ')}.` };
}

/** In the order of the table. */
function indexedFields({ collection: { indexes = [] }, columns }: CollectionView): readonly string[] {
  const leading = new Set(indexes.filter(({ sorted }) => sorted).map((index) => index.columns[0]));
  return columns
    .filter((column) => leading.has(column) && usesIndex(column))
    .slice(0, MAX_NAMED_FIELDS)
    .map((column) => column.name);
}

/** False if code replaces its operators or its order. */
const usesIndex = ({ operators, sortable, order }: Column): boolean =>
  sortable && order === undefined && operators.get('Equal')?.evaluatedBy === 'native';
