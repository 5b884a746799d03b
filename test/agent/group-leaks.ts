// Asks for many figures of one small table, and looks for groups of few records that their sums and differences reveal.
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { accessOf } from './shop.ts';

const SIZE = 5;

interface Leaks {
  /** Figures that were shown. */
  readonly shown: number;
  /** Figures that are not those of their records. */
  readonly wrong: readonly string[];
  /** Combinations of few records whose figure follows from others. */
  readonly revealed: readonly string[];
}

interface Cell {
  readonly values: readonly number[];
  readonly count: number;
  readonly value: number;
}

export async function findLeaks(seed: number, sizes: readonly number[]): Promise<Leaks> {
  const cells = createCells(seed, sizes);
  const names = ['x', 'y', 'z'].slice(0, sizes.length);
  const engine = await openTable(cells, names);
  const known = new Map<string, number[]>();
  const wrong: string[] = [];
  let shown = 0;
  for (let mask = 0; mask < 2 ** names.length; mask++)
    for (const { filter, holds } of filtersOf(names, sizes)) {
      const groups = names.filter((_, at) => mask & (1 << at));
      const { rows } = await engine.aggregate(accessOf(), {
        ...{ collection: 't', limit: 100, measures: { sum: { sum: 'v' } } },
        ...(groups.length > 0 && { groups }),
        ...(filter && { filter }),
      });
      for (const row of rows) {
        if (row.at(-1) === null) continue;
        shown++;
        const isIn = ({ values, count }: Cell) =>
          count > 0 && holds(values) && groups.every((group, at) => `v${values[names.indexOf(group)]}` === row[at]);
        const expected = cells.reduce((sum, cell) => (isIn(cell) ? sum + cell.count * cell.value : sum), 0);
        if (expected !== Number(row.at(-1))) wrong.push(JSON.stringify([groups, filter, row, expected]));
        const vector = cells.map((cell): number => Number(isIn(cell)));
        known.set(vector.join(), vector);
      }
    }
  await engine.close();
  const revealed = cells.flatMap(({ count, values }, at) => {
    const own = cells.map((_, other): number => Number(at === other));
    return count > 0 && count < SIZE && isInSpan([...known.values()], own) ? [values.join()] : [];
  });
  return { shown, wrong, revealed };
}

function createCells(seed: number, sizes: readonly number[]): Cell[] {
  let state = seed;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const combinations = sizes.reduce<number[][]>(
    (all, size) => all.flatMap((values) => Array.from({ length: size }, (_, value) => [...values, value])),
    [[]],
  );
  return combinations.map((values, at) => ({ values, count: Math.floor(random() * random() * 16), value: 2 ** at }));
}

function openTable(cells: readonly Cell[], names: readonly string[]) {
  const rows = cells.flatMap(({ values, count, value }, at) =>
    Array.from({ length: count }, (_, record) => [at * 100 + record, ...values.map((each) => `v${each}`), value]),
  );
  const columns = [
    { name: 'id', type: 'Number' as const },
    ...names.map((name) => ({ name, type: 'String' as const })),
    { name: 'v', type: 'Number' as const },
  ];
  const source = createMemorySource('memory', [{ name: 't', columns, primaryKey: ['id'], rows }]);
  const agent = createHeadlessAgent().addDataSource(() => source);
  agent.customizeCollection('t', (t) => t.setMinGroupSize(SIZE, { by: names }));
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
  return agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
}

interface TestedFilter {
  readonly filter?: PlainFilter;
  holds(values: readonly number[]): boolean;
}

/** Each value, all but it, and each pair of values of two fields. */
function filtersOf(names: readonly string[], sizes: readonly number[]): readonly TestedFilter[] {
  const leaves = names.flatMap((field, at) =>
    Array.from({ length: sizes[at]! }, (_, value) => ({
      at,
      filter: { field, operator: 'Equal', value: `v${value}` } as const,
      holds: (values: readonly number[]) => values[at] === value,
    })),
  );
  const pairs = leaves.flatMap((one) => leaves.filter(({ at }) => at > one.at).map((other) => [one, other] as const));
  return [
    { holds: () => true },
    ...leaves,
    ...leaves.map(
      ({ filter, holds }): TestedFilter => ({
        filter: { aggregator: 'Not', conditions: [filter] } as PlainFilter,
        holds: (values) => !holds(values),
      }),
    ),
    ...pairs.flatMap(([one, other]): TestedFilter[] => {
      const conditions = [one.filter, other.filter];
      return [
        { filter: { aggregator: 'And', conditions }, holds: (values) => one.holds(values) && other.holds(values) },
        { filter: { aggregator: 'Or', conditions }, holds: (values) => one.holds(values) || other.holds(values) },
      ];
    }),
  ];
}

/** Whether the vector is a sum of multiples of the others. */
function isInSpan(vectors: readonly (readonly number[])[], vector: readonly number[]): boolean {
  const rows = vectors.map((each) => [...each]);
  let rest = [...vector];
  for (let column = 0; column < vector.length; column++) {
    const at = rows.findIndex((row) => Math.abs(row[column]!) > 1e-9);
    if (at < 0) continue;
    const [pivot] = rows.splice(at, 1) as [number[]];
    const without = (row: readonly number[]) =>
      row.map((each, other) => each - (row[column]! / pivot[column]!) * pivot[other]!);
    for (const [other, row] of rows.entries()) rows[other] = without(row);
    rest = without(rest);
  }
  return rest.every((each) => Math.abs(each) < 1e-6);
}
