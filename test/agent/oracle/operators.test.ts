// Each operator on each type and database, with edge values. The questions are always the same, so a mistake on one
// database is found every time. Operators that are not tested must be refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../../src/agent/agent.ts';
import type { Engine } from '../../../src/agent/engine.ts';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { operators, type PlainFilter } from '../../../src/core/filter.ts';
import { servers, type TestDatabase } from '../../databases.ts';
import { accessWith } from './judge.ts';
import { type Ask, type Column, type ColumnType, columns } from './matrix.ts';
import { ABROAD, columnsOf, createMatrix, nameOf } from './matrix-tables.ts';
import { test as isSatisfied } from './operators.ts';
import type { Kind } from './world.ts';

const usual = { now: '2024-03-31T10:30:00.000Z', zone: 'UTC' };

/** The types that random worlds also have. */
const kinds: readonly Kind[] = ['text', 'whole', 'big', 'decimal', 'flag', 'instant', 'day', 'time', 'choice', 'uuid'];

// The interpreter is a reference for random questions only if it gives these known results.
test.each(columns.filter(({ type }) => (kinds as readonly string[]).includes(type)))(
  'the reference interpreter applies every operator of $type as documented',
  (column) => {
    const wrong = column.asks.flatMap((ask) => {
      const { now, zone } = ask.at ?? usual;
      const habits = { ignoresCase: false, uuidBackwards: false };
      const holds = (value: unknown) =>
        isSatisfied(habits, { now: Date.parse(now), zone }, value, column.type as Kind, ask);
      const found = [null, ...column.stored].flatMap((value, id) => (holds(value) ? [id] : []));
      return JSON.stringify(found) === JSON.stringify(expectedIds(column, ask)) ? [] : [tell(column, ask, found)];
    });
    expect(wrong.slice(0, 12), `${wrong.length} of ${column.asks.length}`).toEqual([]);
  },
);

describe.each(servers)('on $dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let engine: Engine;
  let now = usual.now;

  beforeAll(async () => {
    database = await create();
    await createMatrix(database, columns);
    const clock = { ...systemClock, now: () => Date.parse(now) };
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, {
        clock,
        observe: () => {},
        columnTimezones: { [`${nameOf('abroad')}.v`]: ABROAD },
      }),
    );
    const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
    engine = await agent.createEngine({ observe: () => {}, clock, limits });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  async function idsOf(
    type: ColumnType,
    { operator, value, at = usual }: Omit<Ask, 'is'>,
  ): Promise<unknown[] | string> {
    now = at.now;
    const filter = { field: 'v', operator, ...(value !== undefined && { value }) } as PlainFilter;
    const request = { collection: nameOf(type), fields: ['id'], filter, sort: [{ field: 'id' }], limit: 1000 };
    try {
      return (await engine.list(accessWith({}, at.zone), request)).rows.flat();
    } catch (error) {
      return `${(error as { code?: string }).code}: ${error}`;
    }
  }

  test.each(columnsOf(dialect, columns))(
    'every operator of $type works as documented',
    async (column) => {
      const wrong: string[] = [];
      for (const ask of column.asks) {
        const found = await idsOf(column.type, ask);
        if (JSON.stringify(found) !== JSON.stringify(expectedIds(column, ask))) wrong.push(tell(column, ask, found));
      }
      expect(wrong.slice(0, 12), `${wrong.length} of ${column.asks.length}`).toEqual([]);
    },
    120_000,
  );

  test.each(columnsOf(dialect, columns))(
    'operators that $type does not have are refused',
    async ({ type, asks, others = [] }) => {
      const asked = new Set([...asks.map(({ operator }) => operator), ...others]);
      const answers: Record<string, unknown> = {};
      for (const operator of operators)
        if (!asked.has(operator)) answers[operator] = `${await idsOf(type, { operator, value: 1 })}`.split(':')[0];
      expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map((name) => [name, 'OPERATOR_NOT_ALLOWED'])));
    },
  );
});

function expectedIds({ stored }: Column, { is, ofNull = false }: Ask): number[] {
  return [null, ...stored].flatMap((value, id) => ((value === null ? ofNull : is(value)) ? [id] : []));
}

function tell(column: Column, ask: Ask, found: unknown[] | string): string {
  const { operator, value, at } = ask;
  const asked = JSON.stringify([operator, value, ...(at ? [at.now, at.zone] : [])]);
  if (typeof found === 'string') return `${asked}: ${found.slice(0, 200)}`;
  const expected = expectedIds(column, ask);
  const show = (ids: readonly unknown[]) =>
    JSON.stringify(ids.slice(0, 5).map((id) => [null, ...column.stored][Number(id)]));
  const more = found.filter((id) => !expected.includes(Number(id)));
  const less = expected.filter((id) => !found.includes(id));
  return `${asked}: ${more.length > 0 ? `too much ${show(more)} ` : ''}${less.length > 0 ? `missing ${show(less)}` : ''}`;
}
