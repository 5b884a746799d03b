// Compares the statements that the engine sends with those that a developer would write by hand, on tables with
// indexes: where the statement by hand reads a few rows from an index, so does the engine's.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../../src/agent/agent.ts';
import type { Engine } from '../../../src/agent/engine.ts';
import type { ListRequest } from '../../../src/agent/requests.ts';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Operator, PlainFilter } from '../../../src/core/filter.ts';
import { type Dialect, servers, type TestDatabase } from '../../databases.ts';
import { accessOf } from '../shop.ts';
import { type Meter, openMeter, type Sent, seeStatement, type Work } from './measure.ts';
import { createThings, dayOf, instantOf, nameOf, ROWS, storedInstant, uuidOf } from './things.ts';

type Condition = string | { readonly [D in Dialect]: string };

const instants = (sign: string, row: number): Condition => ({
  sqlite: `made_at ${sign} '${instantOf(row)}'`,
  mariadb: `made_at ${sign} '${storedInstant('mariadb', instantOf(row))}'`,
  postgres: `made_at ${sign} '${instantOf(row)}'`,
});
const prefix: Condition = {
  sqlite: `name glob 'name 0007*'`,
  mariadb: `name like 'name 0007%'`,
  postgres: `name like 'name 0007%'`,
};
const late = ROWS - 30;

/** A field, an operator, a value, and the condition by hand. */
const conditions: readonly (readonly [string, Operator, unknown, Condition])[] = [
  ['whole', 'Equal', 77, 'whole = 77'],
  ['whole', 'In', [77, 78, 79], 'whole in (77, 78, 79)'],
  ['whole', 'LessThan', 30, 'whole < 30'],
  ['whole', 'LessThanOrEqual', 30, 'whole <= 30'],
  ['whole', 'GreaterThan', late, `whole > ${late}`],
  ['whole', 'GreaterThanOrEqual', late, `whole >= ${late}`],
  ['optional', 'Equal', 77, 'optional = 77'],
  ['optional', 'In', [77, null], '(optional = 77 or optional is null)'],
  ['optional', 'Missing', null, 'optional is null'],
  ['optional', 'LessThan', 30, 'optional < 30'],
  ['optional', 'GreaterThan', late, `optional > ${late}`],
  ['amount', 'Equal', 77.5, 'amount = 77.5'],
  ['amount', 'LessThan', 30, 'amount < 30'],
  ['amount', 'In', [77.5, 78.5], 'amount in (77.5, 78.5)'],
  ['name', 'Equal', nameOf(77), `name = '${nameOf(77)}'`],
  ['name', 'In', [nameOf(77), nameOf(78)], `name in ('${nameOf(77)}', '${nameOf(78)}')`],
  ['name', 'StartsWith', 'name 0007', prefix],
  ['name', 'Like', 'name 0007%', prefix],
  ['name', 'LessThan', nameOf(30), `name < '${nameOf(30)}'`],
  ['name', 'GreaterThan', nameOf(late), `name > '${nameOf(late)}'`],
  ['made_at', 'Equal', instantOf(77), instants('=', 77)],
  ['made_at', 'In', [instantOf(77)], instants('=', 77)],
  ['made_at', 'LessThan', instantOf(30), instants('<', 30)],
  ['made_at', 'GreaterThan', instantOf(late), instants('>', late)],
  ['made_at', 'After', instantOf(late), instants('>', late)],
  ['made_at', 'Before', instantOf(30), instants('<', 30)],
  ['day', 'Equal', dayOf(77), `day = '${dayOf(77)}'`],
  ['day', 'LessThan', dayOf(3), `day < '${dayOf(3)}'`],
  ['day', 'After', dayOf(1997), `day > '${dayOf(1997)}'`],
  ['mark', 'Equal', uuidOf(77), `mark = '${uuidOf(77)}'`],
  ['mark', 'In', [uuidOf(77), uuidOf(78)], `mark in ('${uuidOf(77)}', '${uuidOf(78)}')`],
];

/** No index of the usual kind answers these. */
const withoutIndex: readonly (readonly [string, Operator, unknown])[] = [
  ['name', 'Contains', 'e 0007'],
  ['name', 'IContains', 'E 0007'],
  ['name', 'EndsWith', '0077'],
  ['name', 'IStartsWith', 'NAME 0007'],
  ['name', 'LongerThan', 100],
];

const sorts = ['made_at', 'optional', 'owner:last_name', 'lender:nick'] as const;
const columnOf = { made_at: 'made_at', optional: 'optional', 'owner:last_name': 'last_name', 'lender:nick': 'nick' };
const noWork: Work = { rows: 0, steps: [], sorts: false };
const joinOf = { 'owner:last_name': 'owner_id', 'lender:nick': 'lender_id' } as const;

describe.each(servers)('$dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let meter: Meter;
  let engine: Engine;
  const access = accessOf();
  const table: string[] = [];
  let watch = (_text: string): void => {};

  beforeAll(async () => {
    database = await create();
    meter = await openMeter(dialect, database.url);
    for (const sql of createThings(dialect)) await meter.run(sql);
    engine = await createHeadlessAgent()
      .addDataSource(() => {
        const source = createSqlSource(database.url, { clock: systemClock, observe: () => {} });
        return {
          ...source,
          read: (select, options) => source.read(select, { ...options, watch: (text) => watch(text) }),
        };
      })
      .customizeCollection('things', (things) => things.trustForeignKey('owner'))
      .createEngine({ observe: () => {}, clock: systemClock, limits: { pageSizeLimit: 1000, queryTimeoutMs: 20_000 } });
  }, 60_000);
  afterAll(async () => {
    await engine?.close();
    await meter?.close();
    await database?.drop();
    if (process.env.PLANS) console.log(table.join('\n'));
  });

  /** The first page of a list, as the engine reads it. `values`: those of the statement, for SQLite. */
  async function ofEngine(
    request: Omit<ListRequest, 'collection' | 'limit'>,
    values: readonly unknown[] = [],
  ): Promise<Work> {
    const sent = await seeStatement(dialect, (see) => {
      watch = see;
      return engine.list(access, { collection: 'things', limit: 15, ...request });
    });
    return meter.measure(dialect === 'sqlite' ? { ...sent, values } : sent);
  }

  const byHand = (text: string): Promise<Work> => meter.measure({ text, values: [] } satisfies Sent);

  /** `nulls`: a second statement by hand, for the records without a value. */
  function compare(what: string, ours: Work, hand: Work, nulls = noWork): void {
    table.push(`${dialect} ${what}: rows ${ours.rows}/${hand.rows} sorts ${ours.sorts}/${hand.sorts} ${hand.steps}`);
    if (hand.sorts) return;
    if (!nulls.sorts) expect(ours.sorts, `${what}: sorts`).toBe(false);
    if (dialect === 'sqlite') expect(ours.steps, what).toEqual(expect.arrayContaining([...hand.steps]));
    else expect(ours.rows, `${what}: rows`).toBeLessThanOrEqual((hand.rows + nulls.rows) * 3 + 100);
  }

  test.each(conditions)(
    '%s %s %j reads as few rows as a hand-written statement',
    async (field, operator, value, condition) => {
      const filter = { field, operator, value } as PlainFilter;
      const isPattern = operator === 'StartsWith' || operator === 'Like';
      const values = [isPattern ? 'name 0007*' : value].flat().filter((each) => each !== null);
      const ours = await ofEngine({ fields: ['id', 'note'], filter }, values);
      const where = typeof condition === 'string' ? condition : condition[dialect];
      const hand = await byHand(`select id, note from things where ${where} order by id limit 16`);
      compare(`${field} ${operator}`, ours, hand);
    },
  );

  test.each(withoutIndex)('%s %s %j reads every row, as documented', async (field, operator, value) => {
    const { rows, steps } = await ofEngine({
      fields: ['id', 'note'],
      filter: { field, operator, value } as PlainFilter,
    });
    if (dialect === 'sqlite') expect(steps).toEqual([expect.stringMatching(/^SCAN/)]);
    else expect(rows).toBeGreaterThan(1000);
  });

  const pages = sorts.flatMap((field) =>
    [true, false].flatMap((ascending) =>
      [false, true].flatMap((filtered) =>
        [false, true].map((isCursor) => [field, ascending, filtered, isCursor] as const),
      ),
    ),
  );

  test.each(pages)(
    'a sort reads as few rows as a hand-written one: by %s, ascending %s, filtered %s, after a cursor %s',
    async (...[field, ascending, filtered, isCursor]) => {
      const request = {
        fields: ['id', 'note', field],
        sort: [{ field, ascending }],
        ...(filtered && { filter: { field: 'status', operator: 'Equal', value: 'status 3' } as PlainFilter }),
      };
      const before = { collection: 'things', ...request, skip: filtered ? 1000 : 8000, limit: 1 };
      const start = isCursor ? await engine.list(access, before) : undefined;
      const ours = await ofEngine({ ...request, ...(start && { cursor: start.cursorAfter(0)! }) });
      const [id, , value] = (start?.rows[0] ?? []) as [number, string, string | number];
      const after = start && { id, value };
      const hand = await byHand(handWritten(field, ascending, filtered, after));
      const isNullable = field === 'optional' || field === 'lender:nick';
      const readsNulls = isNullable && !(ascending && isCursor);
      const nulls = readsNulls ? await byHand(nullsByHand(field, ascending, filtered)) : noWork;
      compare(
        `sort ${field} ${ascending ? 'asc' : 'desc'} ${filtered ? 'filtered' : ''} ${isCursor ? 'cursor' : ''}`,
        ours,
        hand,
        nulls,
      );
    },
  );

  function nullsByHand(field: (typeof sorts)[number], ascending: boolean, filtered: boolean): string {
    const key = field in joinOf ? joinOf[field as keyof typeof joinOf] : undefined;
    const join = key ? `left join owners on owners.id = things.${key}` : '';
    const where = `${columnOf[field]} is null ${filtered ? `and status = 'status 3'` : ''}`;
    return `select things.id, note from things ${join} where ${where}
      order by things.id ${ascending ? 'asc' : 'desc'} limit 16`;
  }

  /** Without nulls, which a developer would leave out. */
  function handWritten(
    field: (typeof sorts)[number],
    ascending: boolean,
    filtered: boolean,
    after?: { id: number; value: string | number },
  ): string {
    const column = columnOf[field];
    const [sign, direction] = ascending ? ['>', 'asc'] : ['<', 'desc'];
    const key = field in joinOf ? joinOf[field as keyof typeof joinOf] : undefined;
    const join = key ? `join owners on owners.id = things.${key}` : '';
    const given = after && (column === 'made_at' ? storedInstant(dialect, String(after.value)) : after.value);
    const literal = typeof given === 'number' ? given : `'${given}'`;
    // One range of SQLite's and MySQL's index has the nulls too.
    const isWhole = column === 'optional' && dialect !== 'postgres' && !after;
    const where = [
      ...(filtered ? [`status = 'status 3'`] : []),
      ...((column === 'optional' || column === 'nick') && !isWhole ? [`${column} is not null`] : []),
      ...(after
        ? [
            `${column} ${sign}= ${literal}`,
            `(${column} ${sign} ${literal} or (${column} = ${literal} and things.id ${sign} ${after.id}))`,
          ]
        : []),
    ];
    return `select things.id, note, ${column} from things ${join} ${where.length ? `where ${where.join(' and ')}` : ''}
      order by ${column} ${direction}, things.id ${direction} limit 16`;
  }
});
