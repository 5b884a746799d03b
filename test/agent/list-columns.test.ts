// Columns of lists that are not fields: random columns give what SQL that is written by hand gives, on every database and
// over arrays. The rights of the caller hold inside every column.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainColumn } from '../../src/core/filter/columns.ts';
import { servers } from '../databases.ts';
import { askSql } from '../sql/schemas.ts';
import {
  closeSubjects,
  column,
  customers,
  list,
  members,
  number,
  ofOrders,
  ofOthers,
  open,
  openSubjects,
  orders,
  random,
  refusal,
  type Subject,
  shown,
  visits,
} from './listed.ts';
import type { Rights } from './shop.ts';

const QUESTIONS = 60;
let subjects: readonly Subject[];
beforeAll(async () => {
  subjects = await openSubjects();
});
afterAll(() => closeSubjects(subjects));

const compare = (a: unknown, b: unknown): number => {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
};

test('random columns and sorts give the results of SQL', { timeout: 120_000 }, async () => {
  for (let question = 0; question < QUESTIONS; question++) {
    const asked = Array.from({ length: 1 + random.number(3) }, (_, at) => {
      const [json, sql] = random.chance(0.7) ? ofOrders() : ofOthers();
      return { json: { name: `c${at}`, ...json } as PlainColumn, sql };
    });
    const by = random.number(asked.length);
    const ascending = random.chance(0.5);
    const sort = [{ field: `c${by}`, ascending }];
    const filter = random.chance(0.3) ? ({ field: 'id', operator: 'LessThan', value: 18 } as const) : undefined;
    const request = { fields: ['name', ...asked.map(({ json }) => json), 'id'], ...(filter && { filter }) };
    let first: unknown;
    for (const subject of subjects) {
      const at = `${subject.name} ${JSON.stringify(request)} ${JSON.stringify(sort)}`;
      const plain = (await list(subject, request)).rows.map((row) => row.map(shown));
      const sorted = (await list(subject, { ...request, sort })).rows.map((row) => row.map(shown));
      if (subject.database) {
        const { dialect } = subject.database;
        const columns = asked.map(({ sql }, index) => `${sql(dialect)} as c${index}`).join(', ');
        const statement =
          `select c.name, ${columns}, c.id from customers c ${filter ? 'where c.id < 18' : ''} order by c.id`.replaceAll(
            't.rank',
            dialect === 'mariadb' ? 't.`rank`' : 't."rank"',
          );
        const found = (await askSql(subject.database, statement)).map((row) => Object.values(row).map(shown));
        expect(plain, at).toEqual(found);
      } else first = plain;
      expect(plain, at).toEqual(first);
      const expected = [...plain].sort((a, b) => {
        const difference = compare(a[by + 1], b[by + 1]) || compare(a.at(-1), b.at(-1));
        return ascending ? difference : -difference;
      });
      expect(sorted, at).toEqual(expected);
    }
  }
});

const counts = column('orders_count', { count: 'orders' });

test('pages of a sort by a column have a cursor that belongs to the call', async () => {
  for (const subject of subjects) {
    const request: Partial<ListRequest> = {
      fields: ['id', counts, column('last', { max: 'orders:placed_at' })],
      sort: [{ field: 'orders_count', ascending: false }, { field: 'name' }],
    };
    const all = await list(subject, request);
    const pages: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(subject, { ...request, limit: 7, ...(cursor && { cursor }) });
      pages.push(...page.rows);
      cursor = page.hasMore ? page.cursorAfter(page.rows.length - 1) : undefined;
    } while (cursor);
    expect(pages, subject.name).toEqual(all.rows);
    expect((await list(subject, { ...request, limit: 5, skip: 3 })).rows).toEqual(all.rows.slice(3, 8));
    const first = await list(subject, { ...request, limit: 7 });
    const other = {
      ...request,
      fields: ['id', column('orders_count', { count: 'teams' })],
      cursor: first.cursorAfter(6)!,
    };
    expect(await refusal(subject, other)).toMatch(/cursor/);
    expect(await refusal(subject, { ...request, sort: [{ field: 'id' }], cursor: first.cursorAfter(6)! })).toMatch(
      /cursor/,
    );
    const none = { ...request, filter: { field: 'id', operator: 'Equal', value: 0 } as const };
    expect((await list(subject, none)).rows).toEqual([]);
  }
});

test('a sort by a column and a text whose case the database ignores has every record once', async () => {
  for (const subject of subjects) {
    for (const json of [counts, column('next', { expression: { plus: ['id', 1] } })]) {
      const sort = [{ field: json.name, ascending: false }, { field: 'alias' }, { field: 'name' }];
      const { rows } = await list(subject, { fields: [json, 'alias', 'id'], sort });
      const byId = new Map(
        (await list(subject, { fields: ['id', json, 'alias'] })).rows.map(([id, ...row]) => [id, row]),
      );
      expect(
        rows.map(([, , id]) => Number(id)).sort((a, b) => a - b),
        subject.name,
      ).toEqual(customers.map(([id]) => id));
      for (const [value, alias, id] of rows) expect([value, alias]).toEqual(byId.get(id));
      const values = rows.map(([value]) => Number(value));
      expect(values).toEqual([...values].sort((a, b) => b - a));
    }
  }
});

test('columns and sorts work with composite keys', async () => {
  for (const subject of subjects) {
    const fields = ['customer_id', 'team_id', column('both', { expression: { plus: ['customer_id', 'team_id'] } })];
    const request = { collection: 'members', fields, sort: [{ field: 'both', ascending: false }] };
    const expected = members.map(([a, b]) => [a!, b!, a! + b!]) as [number, number, number][];
    expected.sort((one, other) => other[2] - one[2] || other[0] - one[0] || other[1] - one[1]);
    expect((await list(subject, request)).rows, subject.name).toEqual(expected);
  }
});

test('a list with columns that is sorted by fields has ordinary cursors', async () => {
  for (const subject of subjects) {
    const request = { fields: ['name', counts], sort: [{ field: 'name' }] };
    const first = await list(subject, { ...request, limit: 10 });
    const next = await list(subject, { ...request, cursor: first.cursorAfter(9)! });
    expect([...first.rows, ...next.rows]).toEqual((await list(subject, request)).rows);
    expect(first.columns).toEqual(['name', 'orders_count']);
  }
});

test('records contain the columns beside their fields', async () => {
  for (const subject of subjects) {
    const fields = ['city:label', column('net', { expression: { plus: ['id', 1] } })];
    const filter = { field: 'id', operator: 'Equal', value: 3 } as const;
    const label = [null, 'Oslo', 'Lyon', 'Rome', null][Number(customers[2]![1])] ?? null;
    const [record] = (await list(subject, { fields, filter })).records();
    expect(record, subject.name).toEqual({ city: customers[2]![1] === null ? null : { label }, net: 4 });
  }
});

test('a list takes one statement per relation, whatever the number of records and columns', async () => {
  for (const { dialect } of servers) {
    const { database } = subjects.find(({ name }) => name === dialect)!;
    const texts: string[] = [];
    const source = createSqlSource(database!.url, { observe: () => {}, clock: systemClock });
    const engine = await open({ ...source, read: (select, options) => source.read(select, { ...options, watch: (sql) => texts.push(sql) }), aggregate: (group, options) => source.aggregate!(group, { ...options, watch: (sql) => texts.push(sql) }) }); // biome-ignore format: a source that records
    const fields = ['id', counts, column('paid', { sum: 'orders:total', where: { field: 'status', operator: 'Equal', value: 'paid' } }), column('teams_count', { count: 'teams' })]; // biome-ignore format: columns
    await list({ name: dialect, engine }, { fields });
    expect(texts).toHaveLength(3);
    texts.length = 0;
    await list({ name: dialect, engine }, { fields: ['id', counts], sort: [{ field: 'orders_count' }] });
    expect(texts).toHaveLength(3);
    await engine.close();
  }
});

describe('rights', () => {
  const paid = { orders: { field: 'status', operator: 'Equal', value: 'paid' } } as const;
  const own = (id: unknown, of = orders) => of.filter((order) => order[1] === id && order[2] === 'paid').length;

  test('rows outside the row scope affect neither figures nor order', async () => {
    for (const subject of subjects) {
      const expected = customers.map(([id]) => [id, own(id)]);
      expect((await list(subject, { fields: ['id', counts] }, { scopes: paid })).rows, subject.name).toEqual(expected);
      const sort = [{ field: 'orders_count' }];
      const sorted = await list(subject, { fields: ['id', counts], sort }, { scopes: paid });
      expect(sorted.rows).toEqual(expected.sort((a, b) => Number(a[1]) - Number(b[1]) || Number(a[0]) - Number(b[0])));
    }
  });

  test('junction rows and related records outside the row scope do not count', async () => {
    for (const subject of subjects) {
      const fields = ['id', column('n', { count: 'teams' })];
      for (const scopes of [
        { members: { field: 'team_id', operator: 'Equal', value: 2 } },
        { teams: { field: 'label', operator: 'Equal', value: 'blue' } },
      ] as const) {
        const expected = customers.map(([id]) => [id, members.filter(([a, b]) => a === id && b === 2).length]);
        expect((await list(subject, { fields }, { scopes })).rows, subject.name).toEqual(expected);
        const sorted = await list(subject, { fields, sort: [{ field: 'n', ascending: false }] }, { scopes });
        expect(sorted.rows[0]![1]).toBe(1);
        expect(new Set(sorted.rows.map(([id, n]) => `${id} ${n}`))).toEqual(
          new Set(expected.map(([id, n]) => `${id} ${n}`)),
        );
      }
    }
  });

  test('the row scope of the list applies to a sort by a column', async () => {
    const scopes = { customers: { field: 'id', operator: 'LessThan', value: 4 } } as const;
    for (const subject of subjects) {
      const sorted = await list(subject, { fields: ['id', counts], sort: [{ field: 'orders_count' }] }, { scopes });
      expect(sorted.rows.map(([id]) => id).sort()).toEqual([1, 2, 3]);
    }
  });

  test('hidden fields, relations and collections are refused as if they did not exist', async () => {
    const [subject] = subjects as [Subject];
    const sum = (rights: Rights) => refusal(subject, { fields: [column('x', { sum: 'orders:total' })] }, rights);
    const nothing = await refusal(subject, { fields: [column('x', { sum: 'orders:nothing' })] });
    expect(await sum({ hidden: ['orders.total'] })).toBe(nothing.replaceAll('nothing', 'total'));
    expect(await sum({ hidden: ['orders.customer_id'] })).toMatch(/^'customers' has no field 'orders:total'/);
    expect(await sum({ browse: ['customers'] })).toMatch(/^'customers' has no field 'orders:total'/);
    const count = { fields: [column('x', { count: 'orders' })] };
    expect(await refusal(subject, count, { browse: ['customers'] })).toMatch(/^'customers' has no field 'orders'/);
    expect(
      await refusal(subject, { fields: [column('x', { count: 'teams' })] }, { hidden: ['members.team_id'] }),
    ).toMatch(/^'customers' has no field 'teams'/);
    const where = { field: 'total', operator: 'GreaterThan', value: 1 } as const;
    const filtered = { fields: [column('x', { count: 'orders', where })] };
    expect(await refusal(subject, filtered, { hidden: ['orders.total'] })).toMatch(/^'orders' has no field 'total'/);
    const expression = { fields: [column('x', { expression: { plus: ['balance', 1] } })] };
    expect(await refusal(subject, expression, { hidden: ['customers.balance'] })).toMatch(
      /^'customers' has no field 'balance'/,
    );
  });

  test('a column may have the name of a hidden field, but not of a visible one', async () => {
    const [subject] = subjects as [Subject];
    const fields = ['id', column('nick', { count: 'orders' })];
    expect(await refusal(subject, { fields })).toMatch("fields.nick: is a field or relation of 'customers'");
    expect((await list(subject, { fields }, { hidden: ['customers.nick'] })).columns).toEqual(['id', 'nick']);
  });
});

test('columns of computed related fields are shown, but sorts by them are refused', async () => {
  for (const subject of subjects) {
    const double = column('double', { sum: 'orders:double' });
    const shout = column('loud', { expression: { coalesce: ['shout', 'name'] } });
    const expected = customers.map(([id, , name]) => {
      const quantities = orders.filter((order) => order[1] === id).map((order) => Number(order[4]));
      return [quantities.length ? quantities.reduce((a, b) => a + 2 * b, 0) : null, `${name}!`];
    });
    expect((await list(subject, { fields: [double, shout] })).rows, subject.name).toEqual(expected);
    expect(await refusal(subject, { fields: [double], sort: [{ field: 'double' }] })).toMatch(
      "fields.double: 'double' uses a field that the database cannot evaluate, so a list cannot be sorted or filtered by it. It can be shown.",
    );
    const sort = [{ field: 'loud' }];
    const louds = (await list(subject, { fields: [shout], sort })).rows.flat();
    expect(louds).toEqual([...louds].sort());
  }
});

test('repeated junction rows count once, and sorts by them are refused', async () => {
  for (const subject of subjects) {
    const fields = ['id', column('n', { count: 'visited' })];
    const expected = customers.map(([id]) => [id, new Set(visits.filter(([a]) => a === id).map(([, b]) => b)).size]);
    expect((await list(subject, { fields })).rows, subject.name).toEqual(expected);
    expect(await refusal(subject, { fields, sort: [{ field: 'n' }] })).toMatch('pairs of records may repeat');
  }
});

test('columns of records in another source are shown, but sorts by them are refused', async () => {
  const agent = createHeadlessAgent();
  const pick = (name: string, tables: string[]) => createMemorySource(name, [
    { name: 'buyers', columns: [number('id', false)], primaryKey: ['id'], rows: [[1], [2]] },
    { name: 'sales', columns: [number('id', false), number('buyer_id'), number('total')], primaryKey: ['id'], rows: [[1, 1, 5], [2, 1, 7], [3, null, 9]] },
  ].filter((table) => tables.includes(table.name)) as never); // biome-ignore format: tables
  agent.addDataSource(() => pick('one', ['buyers']));
  agent.addDataSource(() => pick('two', ['sales']));
  agent.customizeCollection('buyers', (each) => each.addOneToManyRelation('sales', 'sales', { originKey: 'buyer_id' }));
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const request = { collection: 'buyers', fields: ['id', column('total', { sum: 'sales:total' })] };
  expect((await list({ name: 'two', engine }, request)).rows).toEqual([[1, 12], [2, null]]); // biome-ignore format: rows
  expect(await refusal({ name: 'two', engine }, { ...request, sort: [{ field: 'total' }] })).toMatch(
    "fields.total: 'total' is about records of another source, so a list cannot be sorted or filtered by it. It can be shown.",
  );
  await engine.close();
});

test('a figure behind two to-many relations counts what the caller may see of both', async () => {
  const bought = column('bought', { count: 'customers:orders' });
  const expected = (counts: (customer: (typeof customers)[number]) => boolean, status?: string) =>
    [1, 2, 3, 4].map((city) => {
      const ids = customers.filter((each) => each[1] === city && counts(each)).map(([id]) => id);
      return orders.filter((each) => ids.includes(each[1]!) && (status === undefined || each[2] === status)).length;
    });
  for (const subject of subjects) {
    const ask = async (rights: Rights = {}, request: Partial<ListRequest> = {}) =>
      (await list(subject, { collection: 'cities', fields: ['id', bought], ...request }, rights)).rows;
    const countsOf = async (rights: Rights) => {
      const rows = await ask(rights);
      const busy = await ask(rights, { filter: { field: 'bought', operator: 'GreaterThan', value: 3 } });
      expect(busy, subject.name).toEqual(rows.filter(([, n]) => Number(n) > 3));
      return rows.map(([, n]) => n);
    };
    expect(await countsOf({}), subject.name).toEqual(expected(() => true));
    const ada = { customers: { field: 'name', operator: 'Equal', value: 'Ada' } } as const;
    expect(await countsOf({ scopes: ada })).toEqual(expected(([, , name]) => name === 'Ada'));
    const paid = { orders: { field: 'status', operator: 'Equal', value: 'paid' } } as const;
    expect(await countsOf({ scopes: { ...ada, ...paid } })).toEqual(expected(([, , name]) => name === 'Ada', 'paid'));
    for (const hidden of ['orders.customer_id', 'customers.city_id'])
      expect(await refusal(subject, { collection: 'cities', fields: [bought] }, { hidden: [hidden] })).toMatch(
        /no (field|relation)/,
      );
    expect(
      await refusal(subject, { collection: 'cities', fields: [bought] }, { browse: ['cities', 'orders'] }),
    ).toMatch(/no (field|relation)/);
  }
});

test('an invalid column is refused with what to send', async () => {
  const [subject] = subjects as [Subject];
  const refuse = (given: unknown, more: Partial<ListRequest> = {}) =>
    refusal(subject, { fields: ['id', given as PlainColumn], ...more });
  expect(await refuse({ count: 'orders' })).toMatch('fields: a column that is not a field has a name');
  expect(await refuse(5)).toMatch('send {"name":"orders_count","count":"orders"}');
  expect(await refuse(null)).toMatch('send {"name":"orders_count","count":"orders"}');
  expect(await refuse({ name: 'x' })).toMatch('fields.x: send {"name":"orders_count"');
  expect(await refuse({ name: 'x', count: 'orders', sum: 'orders:total' })).toMatch('fields.x.sum: unknown here');
  expect(await refuse({ name: 'x', expression: 'id', where: {} })).toMatch('fields.x.where: unknown here');
  expect(await refuse({ name: 'x', count: true })).toMatch('fields.x.count: takes a field of related records');
  expect(await refuse({ name: 'x', sum: 'orders' })).toMatch('sum takes a field of \'orders\': {"sum":"orders:id"}');
  expect(await refuse({ name: 'x', sum: 'orders:status' })).toMatch(
    /^fields\.x\.sum: Sum takes Number, but 'status' is String/,
  );
  expect(await refuse({ name: 'x', sum: 'balance' })).toMatch("'balance' is a value of the record itself");
  expect(await refuse({ name: 'x', count: 'order' })).toMatch("'customers' has no field 'order'. Near: orders");
  expect(await refuse({ name: 'x', max: 'city:label' })).toMatch("'city:label' is a value of the record itself");
  expect(await refuse({ name: 'x', sum: { plus: ['orders:total', 'teams:rank'] } })).toMatch(
    'behind different relations',
  );
  expect(await refuse({ name: 'x', sum: { plus: ['orders:total', 'rate'] } })).toMatch(
    "'rate' is a value of the record itself",
  );
  expect(await refuse({ name: 'x', count: 'city:customers:teams' })).toMatch(
    'leads through two to-many relations, and a column follows two only if',
  );
  expect(await refuse({ name: 'x', count: 'orders:customer:orders' })).toMatch('leads through two to-many relations');
  expect(await refuse({ name: 'x', sum: 'city:customers:orders:customer:orders:total' })).toMatch(
    'leads through three to-many relations',
  );
  expect(await refuse({ name: 'x', count: 'orders', where: 'paid' })).toMatch('fields.x.where: send a filter');
  expect(await refuse({ name: 'x', count: 'orders', where: { field: 'status', operator: 'Near', value: 1 } })).toMatch(
    "'Near'",
  );
  expect(await refuse(counts, { distinct: true })).toMatch('distinct takes names of fields');
  expect(await refusal(subject, { fields: [counts, counts] })).toMatch("two columns have the name 'orders_count'");
  const many = Array.from({ length: 21 }, (_, at) => column(`c${at}`, { count: 'orders' }));
  expect(await refusal(subject, { fields: many })).toMatch('at most 20 columns');
  expect(
    await refusal(subject, {
      collection: 'visits',
      fields: [column('x', { expression: { plus: ['team_id', 1] } })],
      sort: [{ field: 'x' }],
    }),
  ).toMatch("'visits' has no key");
});
