// Pages that start far into their order. Their rows are those of a walk by cursor, which never skips a row, and the
// database reads the rows of the page and what an index has of the others.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../../src/agent/agent.ts';
import type { Engine } from '../../../src/agent/engine.ts';
import type { ListRequest } from '../../../src/agent/requests.ts';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { CutText } from '../../../src/agent/sources/values/cut-text.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import { servers, type TestDatabase } from '../../databases.ts';
import { accessOf } from '../shop.ts';
import { type Meter, openMeter, seeStatement } from './measure.ts';
import { createThings } from './things.ts';

const PLACES = 3000;
const LONG = 'a long text '.repeat(40);

type Asked = Omit<ListRequest, 'collection' | 'limit'> & { readonly collection?: string };

const filters: readonly (PlainFilter | undefined)[] = [
  undefined,
  { field: 'status', operator: 'NotIn', value: ['status 3', 'status 5'] },
  { field: 'owner:last_name', operator: 'LessThan', value: 'name 01000' },
  { field: 'lender:nick', operator: 'Missing' },
] as readonly (PlainFilter | undefined)[];

const lists: readonly Asked[] = ['made_at', 'optional', 'owner:last_name', 'lender:nick', 'status'].flatMap((field) =>
  [true, false].flatMap((ascending) =>
    (ascending ? filters.slice(0, 2) : filters.slice(2)).map((filter) => ({
      fields: ['id', 'note', 'owner:nick', 'lender:last_name', 'optional'],
      sort: [{ field, ascending }],
      ...(filter && { filter }),
    })),
  ),
) as readonly Asked[];

const scopes = {
  owners: { field: 'last_name', operator: 'NotContains', value: '7' },
  things: { field: 'owner:last_name', operator: 'GreaterThan', value: 'name 00050' },
} as unknown as Readonly<Record<string, PlainFilter>>;

describe.each(servers)('$dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let meter: Meter;
  let engine: Engine;
  let watch = (_text: string): void => {};

  beforeAll(async () => {
    database = await create();
    meter = await openMeter(dialect, database.url);
    for (const sql of createThings(dialect)) await meter.run(sql);
    await meter.run(
      `create table places (row_name varchar(20) not null, place integer not null, level integer, words text,
        primary key (row_name, place))`,
    );
    const places = Array.from({ length: PLACES }, (_, at) => {
      const level = at % 3 === 0 ? 'null' : String((at * 7) % 40);
      return `('Row ${at % 60}', ${Math.floor(at / 60)}, ${level}, '${LONG.slice(at % 7)}${at}')`;
    });
    await meter.run(`insert into places values ${places.join(', ')}`);
    // Its key may be null, and two rows have no other.
    if (dialect === 'sqlite') {
      await meter.run('create table loose (code text primary key, place integer not null)');
      const rows = Array.from({ length: 1200 }, (_, at) => `(${at % 400 === 0 ? 'null' : `'c${at}'`}, ${at})`);
      await meter.run(`insert into loose values ${rows.join(', ')}`);
    }
    engine = await createHeadlessAgent()
      .addDataSource(() => {
        const source = createSqlSource(database.url, { clock: systemClock, observe: () => {} });
        return {
          ...source,
          read: (select, options) => source.read(select, { ...options, watch: (text) => watch(text) }),
        };
      })
      .createEngine({ observe: () => {}, clock: systemClock, limits: { pageSizeLimit: 1000, queryTimeoutMs: 20_000 } });
  }, 60_000);
  afterAll(async () => {
    await engine?.close();
    await meter?.close();
    await database?.drop();
  });

  /** All rows, by cursors. */
  async function walk(access: ReturnType<typeof accessOf>, { collection = 'things', ...asked }: Asked) {
    const rows: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.list(access, { collection, limit: 1000, ...asked, ...(cursor && { cursor }) });
      rows.push(...page.rows);
      cursor = page.hasMore ? page.cursorAfter(page.rows.length - 1)! : undefined;
    } while (cursor);
    return rows;
  }

  async function expectLatePages(access: ReturnType<typeof accessOf>, { collection = 'things', ...asked }: Asked) {
    const all = await walk(access, { collection, ...asked });
    expect(all.length).toBeGreaterThan(1015);
    for (const skip of [1000, 1700, all.length - 4, all.length + 5]) {
      const { rows, hasMore } = await engine.list(access, { collection, limit: 15, ...asked, skip });
      expect(rows, `${collection} from ${skip}`).toEqual(all.slice(skip, skip + 15));
      expect(hasMore).toBe(skip + 15 < all.length);
    }
  }

  test.each(lists)('a page has the rows of a walk: $sort, $filter', async (asked) => {
    await expectLatePages(accessOf(), asked);
  });

  test.each(lists.filter(({ filter }, at) => at % 2 === 0 && filter !== filters[3]))(
    'a row scope of the collection and of a related one applies: $sort, $filter',
    async (asked) => {
      const access = accessOf({ scopes });
      await expectLatePages(access, asked);
      const shown = await walk(access, { ...asked, fields: ['owner:last_name', 'lender:last_name'] });
      expect(shown.flat().filter((name) => String(name).includes('7'))).toEqual([]);
    },
  );

  test.each([true, false])('keys of two columns, texts that are cut, ascending %s', async (ascending) => {
    const access = accessOf();
    for (const sort of [undefined, [{ field: 'level', ascending }], [{ field: 'words', ascending }]])
      await expectLatePages(access, { collection: 'places', ...(sort && { sort }) } as Asked);
    const sort = [{ field: 'level', ascending }];
    const page = { collection: 'places', fields: ['words', 'place'], sort, limit: 5, skip: 1500 };
    const whole = await engine.list(access, page);
    const cut = await engine.list(access, page, { cutTexts: { many: 20, one: 100 } });
    expect(cut.rows.map(([words, place]) => [words instanceof CutText ? words.length : words, place])).toEqual(
      whole.rows.map(([words, place]) => [String(words).length, place]),
    );
  });

  test.runIf(dialect === 'sqlite')('rows with the key null are not lost', async () => {
    const { rows } = await engine.list(accessOf(), {
      collection: 'loose',
      fields: ['place'],
      sort: [{ field: 'place', ascending: true }],
      limit: 150,
      skip: 1050,
    } as ListRequest);
    expect(rows).toEqual(Array.from({ length: 150 }, (_, at) => [at + 1050]));
  });

  test.each([
    ['made_at', undefined],
    ['made_at', { field: 'status', operator: 'Equal', value: 'status 3' }],
    ['whole', undefined],
  ] as const)('the database reads as much as for a statement by hand: by %s, %j', async (field, filter) => {
    const sent = await seeStatement(dialect, (see) => {
      watch = see;
      return engine.list(accessOf(), {
        collection: 'things',
        fields: ['id', 'note', 'owner:last_name', 'lender:nick'],
        sort: [{ field, ascending: false }],
        ...(filter && { filter }),
        limit: 15,
        skip: 2000,
      } as ListRequest);
    });
    const where = filter ? `where status = 'status 3'` : '';
    const order = `order by ${field} desc, id desc`;
    const text = `select things.id, note, o.last_name, l.nick
      from (select id from things ${where} ${order} limit 16 offset 2000) page join things on things.id = page.id
      left join owners o on o.id = things.owner_id left join owners l on l.id = things.lender_id
      order by things.${field} desc, things.id desc`;
    const values = filter ? ['status 3', 2000] : [2000];
    const ours = await meter.measure(dialect === 'sqlite' ? { ...sent, values } : sent);
    const hand = await meter.measure({ text, values: [] });
    expect(ours.sorts).toBe(hand.sorts);
    if (dialect === 'sqlite') expect(ours.steps).toEqual(expect.arrayContaining([...hand.steps]));
    // The rows that are skipped are read once, from the index.
    else expect(ours.rows).toBeLessThanOrEqual(hand.rows * 1.1 + 50);
  });
});
