// The forms of aggregate that are measured on the large shop, and the SQL that a good analyst writes for each.
import type { Dialect } from '../../test/databases.ts';

export interface Form {
  readonly name: string;
  readonly tool?: 'aggregate' | 'list';
  readonly args: Readonly<Record<string, unknown>>;
  readonly sql: (dialect: Dialect) => string;
  /** Rows with the same values of the sort may swap, so their order is not compared. */
  readonly unordered?: true;
}

const paid = { field: 'status', operator: 'Equal', value: 'paid' };
const month = { field: 'created_at', bucket: 'Month' };
const sum = { sum: 'total' };
const largest = (measure: string) => [{ measure, ascending: false }];

/** The first day of the month. */
const monthOf = (dialect: Dialect): string =>
  ({
    sqlite: "strftime('%Y-%m-01', created_at)",
    mariadb: "date_format(created_at, '%Y-%m-01')",
    postgres: "date_trunc('month', created_at)",
  })[dialect];
const dayOf = (dialect: Dialect): string =>
  dialect === 'postgres' ? "date_trunc('day', created_at)" : 'date(created_at)';
const daysShipped = (dialect: Dialect): string =>
  ({
    sqlite: 'julianday(shipped_at) - julianday(created_at)',
    mariadb: 'timestampdiff(second, created_at, shipped_at) / 86400',
    postgres: 'extract(epoch from shipped_at - created_at) / 86400',
  })[dialect];
const weekdayOf = (dialect: Dialect): string =>
  ({
    sqlite: "(strftime('%w', created_at) + 6) % 7 + 1",
    mariadb: 'weekday(created_at) + 1',
    postgres: 'extract(isodow from created_at)',
  })[dialect];
const countIf = (dialect: Dialect, condition: string): string =>
  dialect === 'mariadb' ? `sum(${condition})` : `count(*) filter (where ${condition})`;

function percentileOf(dialect: Dialect, part: number): string {
  if (dialect === 'postgres')
    return `select status, percentile_cont(${part}) within group (order by total) from orders group by 1 order by 2 desc`;
  return `select status, sum(total * greatest_0) as p from (select status, total,
      ${dialect === 'sqlite' ? 'max' : 'greatest'}(0, 1 - abs(row_number() over w - 1 - ${part} * (count(*) over (partition by status) - 1))) as greatest_0
      from orders window w as (partition by status order by total)) as ranked where greatest_0 > 0 group by status order by p desc`;
}

export const forms: readonly Form[] = [
  {
    name: 'count by status',
    args: { collectionName: 'orders', measures: { n: { count: true } }, groups: ['status'] },
    sql: () => 'select status, count(*) from orders group by 1 order by 2 desc',
  },
  {
    name: 'sum and average by month',
    args: {
      collectionName: 'orders',
      measures: { sum, average: { avg: 'total' } },
      groups: [month],
      sort: [{ group: 0 }],
    },
    sql: (dialect) => `select ${monthOf(dialect)}, sum(total), avg(total) from orders group by 1 order by 1`,
  },
  {
    name: 'several measures, one with its own where, and a ratio, by city',
    args: {
      collectionName: 'orders',
      measures: { n: { count: true }, paid: { count: true, where: paid }, sum, rate: { ratio: ['paid', 'n'] } },
      groups: ['customer:city'],
    },
    sql: (dialect) => `select city, count(*), ${countIf(dialect, "status = 'paid'")}, sum(total),
      1.0000000000 * ${countIf(dialect, "status = 'paid'")} / count(*) from orders o join customers c on c.id = o.customer_id
      group by 1 order by 2 desc`,
  },
  {
    name: 'arithmetic of measures, by month',
    args: {
      collectionName: 'orders',
      measures: {
        sum,
        lost: { coalesce: [{ ...sum, where: { ...paid, value: 'cancelled' } }, 0] },
        net: { minus: ['sum', 'lost'] },
      },
      groups: [month],
      sort: [{ group: 0 }],
    },
    sql: (
      dialect,
    ) => `select ${monthOf(dialect)}, sum(total), sum(case when status = 'cancelled' then total else 0 end),
      sum(total) - sum(case when status = 'cancelled' then total else 0 end) from orders group by 1 order by 1`,
  },
  {
    name: 'different customers by month',
    args: {
      collectionName: 'orders',
      measures: { customers: { countDistinct: 'customer_id' } },
      groups: [month],
      sort: [{ group: 0 }],
    },
    sql: (dialect) => `select ${monthOf(dialect)}, count(distinct customer_id) from orders group by 1 order by 1`,
  },
  {
    name: '90th percentile by status',
    args: { collectionName: 'orders', measures: { p: { percentile: ['total', 0.9] } }, groups: ['status'] },
    sql: (dialect) => percentileOf(dialect, 0.9),
  },
  {
    name: 'revenue of items by category (3,000,000)',
    args: {
      collectionName: 'items',
      measures: { revenue: { sum: { times: ['unit_price', 'quantity'] } } },
      groups: ['product:category:name'],
    },
    sql: () => `select g.name, sum(unit_price * quantity) from items i join products p on p.id = i.product_id
      join categories g on g.id = p.category_id group by 1 order by 2 desc`,
  },
  {
    name: 'days until shipped by month',
    args: {
      collectionName: 'orders',
      measures: { days: { avg: { difference: ['created_at', 'shipped_at'], unit: 'day' } } },
      groups: [month],
      sort: [{ group: 0 }],
    },
    sql: (dialect) => `select ${monthOf(dialect)}, avg(${daysShipped(dialect)}) from orders group by 1 order by 1`,
  },
  {
    name: 'by weekday',
    args: {
      collectionName: 'orders',
      measures: { sum },
      groups: [{ field: 'created_at', part: 'Weekday' }],
      sort: [{ group: 0 }],
    },
    sql: (dialect) => `select ${weekdayOf(dialect)}, sum(total) from orders group by 1 order by 1`,
  },
  {
    name: 'by ranges',
    args: {
      collectionName: 'orders',
      measures: { n: { count: true } },
      groups: [{ field: 'total', ranges: [100, 300] }],
    },
    sql: () => `select case when total < 100 then '..100' when total < 300 then '100..300' else '300..' end, count(*)
      from orders group by 1 order by 2 desc`,
  },
  {
    name: 'by method of the payments (to many)',
    args: { collectionName: 'orders', measures: { n: { count: true } }, groups: ['payments:method'] },
    // A record counts once for each value.
    sql: () => `select method, count(*) from (select distinct o.id, method from orders o left join payments p on p.order_id = o.id) as t
      group by 1 order by 2 desc`,
  },
  {
    name: 'having: customers of at least 20 orders (100,000 groups)',
    args: {
      collectionName: 'orders',
      measures: { n: { count: true }, sum },
      groups: ['customer_id'],
      having: { measure: 'n', operator: 'GreaterThanOrEqual', value: 20 },
      sort: [...largest('n'), { group: 0 }],
    },
    sql: () =>
      `select customer_id, count(*), sum(total) from orders group by 1 having count(*) >= 20 order by 2 desc, 1 limit 51`,
  },
  {
    name: 'the largest groups of 100,000, by customer',
    args: { collectionName: 'orders', measures: { sum }, groups: ['customer_id'] },
    sql: () => 'select customer_id, sum(total) from orders group by 1 order by 2 desc limit 51',
  },
  {
    name: 'top 3 products of each category',
    args: {
      collectionName: 'items',
      measures: { n: { sum: 'quantity' } },
      groups: ['product:category:name', 'product:sku'],
      sort: [...largest('n'), { group: 1 }],
      top: { n: 3, per: [0] },
      limit: 200,
    },
    sql: () => `select name, sku, n from (select g.name, sku, sum(quantity) as n,
      row_number() over (partition by g.name order by sum(quantity) desc, sku) as place from items i
      join products p on p.id = i.product_id join categories g on g.id = p.category_id group by 1, 2) as t
      where place <= 3 order by n desc, sku`,
  },
  {
    name: 'share, by status',
    args: { collectionName: 'orders', measures: { sum, share: { share: 'sum' } }, groups: ['status'] },
    sql: () =>
      'select status, sum(total), sum(total) / sum(sum(total)) over () from orders group by status order by 2 desc',
  },
  {
    name: 'rank, by city and status',
    args: {
      collectionName: 'orders',
      measures: { sum, rank: { rank: 'sum' } },
      groups: ['customer:city', 'status'],
      limit: 100,
    },
    sql: () => `select city, status, sum(total), rank() over (order by sum(total) desc) from orders o
      join customers c on c.id = o.customer_id group by city, status order by 3 desc`,
  },
  {
    name: 'running total by day',
    args: {
      collectionName: 'orders',
      measures: { sum, total: { running: 'sum' } },
      groups: [{ field: 'created_at', bucket: 'Day' }],
      sort: [{ group: 0 }],
      limit: 1000,
    },
    sql: (dialect) => `select d, v, sum(v) over (order by d) from (select ${dayOf(dialect)} as d, sum(total) as v
      from orders group by 1) as t order by d`,
  },
  {
    name: 'previous period, by month',
    args: {
      collectionName: 'orders',
      measures: { sum },
      groups: [month],
      compare: { previous: 1 },
      sort: [{ group: 0 }],
    },
    sql: (dialect) => `select d, v, lag(v) over (order by d) from (select ${monthOf(dialect)} as d, sum(total) as v
      from orders group by 1) as t order by d`,
  },
  {
    name: 'average number of orders of a customer (over)',
    args: {
      collectionName: 'orders',
      measures: { average: { avg: 'n' } },
      over: { groups: ['customer_id'], measures: { n: { count: true } } },
    },
    sql: () => 'select avg(n) from (select count(*) as n from orders group by customer_id) as t',
  },
  {
    name: 'orders with many items (some)',
    args: {
      collectionName: 'orders',
      measures: { n: { count: true } },
      groups: ['status'],
      filters: { some: 'items', where: { field: 'unit_price', operator: 'GreaterThan', value: 199 } },
    },
    sql: () => `select status, count(*) from orders o where exists (select 1 from items where order_id = o.id and unit_price > 199)
      group by 1 order by 2 desc`,
  },
  {
    name: 'list: customers with their number of orders and last order',
    tool: 'list',
    args: {
      collectionName: 'customers',
      fields: ['id', 'email', { name: 'n', count: 'orders' }, { name: 'last', max: 'orders:created_at' }],
      sort: [{ field: 'id' }],
      pagination: { size: 50 },
    },
    sql: () => `select id, email, (select count(*) from orders where customer_id = c.id),
      (select max(created_at) from orders where customer_id = c.id) from customers c order by id limit 51`,
  },
  {
    name: 'list: customers with most orders',
    tool: 'list',
    args: {
      collectionName: 'customers',
      fields: ['id', 'email', { name: 'n', count: 'orders' }],
      sort: [{ field: 'n', ascending: false }, { field: 'id' }],
      pagination: { size: 50 },
    },
    sql: () => `select c.id, c.email, coalesce(o.n, 0) from customers c left join (select customer_id, count(*) as n from orders
      group by 1) as o on o.customer_id = c.id order by 3 desc, 1 limit 51`,
  },
  {
    name: 'list: customers of at least 20 orders',
    tool: 'list',
    args: {
      collectionName: 'customers',
      fields: ['id', 'email', { name: 'n', count: 'orders' }],
      filters: { field: 'n', operator: 'GreaterThanOrEqual', value: 20 },
      pagination: { size: 50 },
    },
    sql: () => `select c.id, c.email, o.n from customers c join (select customer_id, count(*) as n from orders group by 1
      having count(*) >= 20) as o on o.customer_id = c.id order by 1 limit 51`,
  },
  {
    name: 'list: customers with an order below a thousandth of all of theirs',
    tool: 'list',
    args: {
      collectionName: 'customers',
      fields: ['id', { name: 'all', sum: 'orders:total' }, { name: 'least', min: 'orders:total' }],
      filters: { field: 'least', operator: 'LessThan', other: { times: ['all', 0.001] } },
      pagination: { size: 50 },
    },
    sql: () => `select c.id, o.s, o.l from customers c join (select customer_id, sum(total) as s, min(total) as l from orders
      group by 1) as o on o.customer_id = c.id where o.l < o.s * 0.001 order by 1 limit 51`,
  },
  {
    name: 'list: customers whose average order is above 300',
    tool: 'list',
    args: {
      collectionName: 'customers',
      fields: ['id', { name: 'average', avg: 'orders:total' }],
      filters: { field: 'average', operator: 'GreaterThan', value: 300 },
      pagination: { size: 50 },
    },
    sql: () => `select c.id, o.a from customers c join (select customer_id, avg(total) as a from orders group by 1
      having avg(total) > 300) as o on o.customer_id = c.id order by 1 limit 51`,
  },
  {
    name: 'list: customers without an order since July 2024',
    tool: 'list',
    args: {
      collectionName: 'customers',
      fields: ['id', { name: 'last', max: 'orders:created_at' }],
      filters: { field: 'last', operator: 'Before', value: '2024-07-01T00:00:00Z' },
      pagination: { size: 50 },
    },
    sql: () => `select c.id, o.l from customers c join (select customer_id, max(created_at) as l from orders group by 1
      having max(created_at) < '2024-07-01') as o on o.customer_id = c.id order by 1 limit 51`,
  },
];
