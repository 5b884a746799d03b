// The groups of an aggregate as a collection, to aggregate them again.
import { buildRecordCollection } from '../../model/external.ts';
import type { Collection } from '../../model/types.ts';
import { declaredScale } from '../../resolve/expression.ts';
import type { ResolvedGroup } from '../../resolve/groups.ts';
import { figureColumn } from '../../resolve/having.ts';
import { scaleOfMeasure } from '../../resolve/resolved-measures.ts';
import { createMemorySource } from '../../sources/memory/source.ts';
import type { Source } from '../../sources/source.ts';
import type { ReadGroups } from '../groups.ts';

/** The columns have the names of the answer. */
export function createGroupCollection(
  label: string,
  { query, rows, counts }: Pick<ReadGroups, 'query' | 'rows' | 'counts'>,
): { readonly collection: Collection; readonly source: Source } {
  const measures = query.measures.filter(({ isShown }) => isShown);
  const fields = [
    ...query.groups.map(fieldOfGroup),
    ...measures.map((measure) => {
      const { type, collation } = figureColumn(measure, query.measures);
      if (type === 'Number') return { name: measure.name, type, decimals: scaleOfMeasure(measure) };
      return { name: measure.name, type: type === 'Enum' ? ('String' as const) : type, collation };
    }),
  ];
  const { collection, columns } = buildRecordCollection(label, fields);
  const table = {
    name: label,
    columns: columns.map(({ column, type, nullable, collation }) => ({ name: column, type, nullable, collation })),
    rows,
  };
  const countOf = new Map(rows.map((row, at) => [row, counts[at]!]));
  const source = createMemorySource(label, [table], (row) => countOf.get(row) ?? 1);
  return { collection, source };
}

function fieldOfGroup({ column: name, key }: ResolvedGroup) {
  const { by, path } = key;
  const { type, collation } = path.field;
  if (!by && type === 'Number') return { name, type, decimals: declaredScale(path.field) };
  if (!by) return { name, type: type === 'Enum' ? ('String' as const) : type, collation };
  if (by.kind === 'part') return { name, type: 'Number' as const };
  return { name, type: by.kind === 'bucket' && by.unit !== 'Hour' ? ('Dateonly' as const) : ('String' as const) };
}
