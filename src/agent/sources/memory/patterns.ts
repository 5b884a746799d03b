// Text patterns over in-memory tables. If a search could take long (a long pattern over long texts), a worker thread
// finds the matching texts of the column, and the statement tests for those instead.

import { filterTexts } from '../decide.ts';
import type { ReadOptions } from '../source.ts';
import type { CountSelect, Filter, Join, Path } from '../statement.ts';
import type { MemoryData } from './tables.ts';

type Tables = ReadonlyMap<string, MemoryData>;
type Test = Filter & { readonly op: 'test' };

/** An equivalent statement that is cheap to evaluate. Throws TIMED_OUT or CANCELLED. */
export async function precomputePatterns<S extends CountSelect>(
  select: S,
  tables: Tables,
  options: ReadOptions,
): Promise<S> {
  const inTable = (table: string) => {
    const lightenTest = async (test: Test): Promise<Filter> => {
      const data = tables.get(test.path.via.at(-1)?.to.table ?? table);
      const found = data && (await filterTexts(test, () => textsOf(data, test.path), options));
      if (!found) return test;
      const among: Filter = { ...test, is: 'Match', value: { test: (text: string) => found.has(text) } };
      return /^Not/.test(test.is) ? { op: 'or', of: [{ ...test, is: 'Missing', value: null }, among] } : among;
    };
    const lightenFilter = async (filter: Filter): Promise<Filter> => {
      switch (filter.op) {
        case 'and':
        case 'or':
          return { op: filter.op, of: await Promise.all(filter.of.map(lightenFilter)) };
        case 'not':
          return { op: 'not', of: await lightenFilter(filter.of) };
        case 'test':
          return lightenTest(filter);
        case 'some': {
          const { other } = filter;
          return { ...filter, other: await lightenIn(other.collection.table, other) };
        }
        default:
          return filter;
      }
    };
    return lightenFilter;
  };
  const lightenJoin = async (join: Join): Promise<Join> => lightenIn(join.via.at(-1)!.to.table, join);
  const lightenIn = async <C extends Pick<CountSelect, 'joins' | 'where'>>(table: string, given: C): Promise<C> => ({
    ...given,
    where: await inTable(table)(given.where),
    joins: await Promise.all(given.joins.map(lightenJoin)),
  });
  return lightenIn(select.table, select);
}

function textsOf(data: MemoryData, { field }: Path): Set<string> {
  const at = data.positions.get(field.column)!;
  const texts = new Set<string>();
  for (const row of data.rows) if (typeof row[at] === 'string') texts.add(row[at]);
  return texts;
}
