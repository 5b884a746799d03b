// The other twenty of forty first guesses, written and committed before one of them ran.
import { daysAgo, figures, type Guess, monthOf, ranked, records, thisYear } from './guess.ts';

const byCustomer = 'orders o JOIN customers u ON u.id = o.customer_id';
const lines = { sum: { times: ['unit_price', 'quantity'] } };

export const otherWiderGuesses: readonly Guess[] = [
  figures(
    'Seven-day rolling average of daily sign-ups this year?',
    {
      collectionName: 'customers',
      measures: { signups: { count: true }, rolling7: { rolling_avg: { measure: 'signups', last: 7 } } },
      groups: [{ field: 'created_at', bucket: 'Day' }],
      filters: { field: 'created_at', operator: '>=', value: thisYear },
      limit: 400,
    },
    `SELECT d, n, avg(n) OVER (ORDER BY d ROWS 6 PRECEDING) FROM (SELECT date(created_at) AS d, count(*) AS n FROM customers
     WHERE created_at >= '${thisYear}' GROUP BY 1)`,
  ),
  figures(
    'Average of the monthly revenues of the last four months, for each country?',
    {
      collectionName: 'orders',
      measures: {
        revenue: { sum: 'total' },
        avg4: 'avg(revenue) over (order by placed_at rows between 3 preceding and current row)',
      },
      groups: ['customer:country', { field: 'placed_at', bucket: 'Month' }],
    },
    `SELECT c, m, v, avg(v) OVER (PARTITION BY c ORDER BY m ROWS 3 PRECEDING) FROM (SELECT country AS c, ${monthOf('placed_at')} AS m,
     sum(total) AS v FROM ${byCustomer} GROUP BY 1, 2)`,
  ),
  figures(
    'How many orders were placed in the afternoon, by status?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: ['status'],
      filters: { field: 'placed_at', operator: 'HourBetween', value: [12, 17] },
    },
    "SELECT status, count(*) FROM orders WHERE CAST(strftime('%H', placed_at) AS INTEGER) BETWEEN 12 AND 17 GROUP BY 1",
  ),
  figures(
    'How many customers have their birthday in May?',
    {
      collectionName: 'customers',
      measures: { n: { count: true } },
      filters: { expression: { month: 'birth_date' }, operator: 'Equal', value: 5 },
    },
    "SELECT count(*) FROM customers WHERE strftime('%m', birth_date) = '05'",
  ),
  figures(
    'Revenue of the year 2025 by status?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['status'],
      filters: { field: 'placed_at', part: 'Year', operator: 'Equal', value: 2025 },
    },
    "SELECT status, sum(total) FROM orders WHERE placed_at >= '2025-01-01' AND placed_at < '2026-01-01' GROUP BY 1",
  ),
  figures(
    'Average days from order to shipment on weekdays and at weekends?',
    {
      collectionName: 'orders',
      measures: {
        weekdays: {
          avg: { difference: ['placed_at', 'shipped_at'], unit: 'day' },
          where: { field: 'placed_at', part: 'Weekday', operator: 'LessThan', value: 6 },
        },
        weekends: {
          avg: { difference: ['placed_at', 'shipped_at'], unit: 'day' },
          where: { field: 'placed_at', part: 'Weekday', operator: '>=', value: 6 },
        },
      },
    },
    `SELECT avg(d) FILTER (WHERE w < 6), avg(d) FILTER (WHERE w >= 6) FROM (SELECT julianday(shipped_at) - julianday(placed_at) AS d,
     (strftime('%w', placed_at) + 6) % 7 + 1 AS w FROM orders)`,
  ),
  figures(
    'Which suppliers deliver products of more than three categories?',
    {
      collectionName: 'products',
      measures: { categories: { count: 'category_id', distinct: true } },
      groups: ['supplier:name'],
      filters: { field: 'supplier_id', operator: 'Present' },
      having: { categories: { '>': 3 } },
    },
    `SELECT s.name, count(DISTINCT category_id) FROM products JOIN suppliers s ON s.id = supplier_id GROUP BY 1 HAVING count(DISTINCT category_id) > 3`,
  ),
  ranked(
    figures(
      'Which products lost most revenue between last year and this year?',
      {
        collectionName: 'order_items',
        measures: {
          this_year: { ...lines, where: { field: 'order:placed_at', operator: 'After', value: thisYear } },
          before: { ...lines, where: { field: 'order:placed_at', operator: 'Before', value: thisYear } },
          change: { subtract: ['this_year', 'before'] },
        },
        groups: ['product:sku'],
        sort: [{ measure: 'change', direction: 'ascending' }],
        limit: 5,
      },
      `SELECT sku, a, b, a - b FROM (SELECT sku, sum(unit_price * quantity) FILTER (WHERE placed_at > '${thisYear}') AS a,
       sum(unit_price * quantity) FILTER (WHERE placed_at < '${thisYear}') AS b FROM order_items i JOIN orders o ON o.id = i.order_id
       JOIN products p ON p.id = i.product_id GROUP BY 1) ORDER BY a - b, sku LIMIT 5`,
    ),
  ),
  figures(
    'How many orders does a customer have at most, at least and on average?',
    {
      collectionName: 'orders',
      measures: { most: { max: { count: true } }, least: { min: { count: true } }, average: { avg: { count: true } } },
      over: 'customer_id',
    },
    'SELECT max(n), min(n), avg(n) FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id)',
  ),
  figures(
    'What percentage of all customers has ordered in the last half year?',
    {
      collectionName: 'customers',
      measures: {
        customers: { count: true },
        active: {
          count: true,
          where: { some: 'orders', where: { field: 'placed_at', operator: 'After', value: daysAgo(180) } },
        },
        pct: { multiply: [{ divide: ['active', 'customers'] }, 100] },
      },
    },
    `SELECT count(*), sum(a), 100.0 * sum(a) / count(*) FROM (SELECT id IN (SELECT customer_id FROM orders WHERE placed_at > '${daysAgo(180)}') AS a FROM customers)`,
  ),
  figures(
    'Distribution of the number of items in an order?',
    {
      collectionName: 'order_items',
      measures: { orders: { count: true } },
      groups: ['lines'],
      over: { groups: ['order_id'], measures: { lines: { count: true } } },
      sort: ['lines'],
    },
    'SELECT n, count(*) FROM (SELECT count(*) AS n FROM order_items GROUP BY order_id) GROUP BY 1',
  ),
  figures(
    'Which cities have at least three customers and at most twelve buyers this month?',
    {
      collectionName: 'customers',
      measures: {
        customers: { count: true },
        buyers: {
          count: true,
          where: { some: 'orders', where: { field: 'placed_at', operator: 'PreviousXDays', value: 30 } },
        },
      },
      groups: ['city'],
      having: 'customers >= 3 and buyers <= 12',
      limit: 1000,
    },
    `SELECT city, count(*), sum(b) FROM (SELECT city, id IN (SELECT customer_id FROM orders WHERE placed_at >= '${daysAgo(30)}'
     AND placed_at < '${daysAgo(0)}') AS b FROM customers) GROUP BY 1 HAVING count(*) >= 3 AND sum(b) <= 12`,
  ),
  figures(
    'Revenue by month with the months as columns for each status: just give me month and status.',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['date_trunc(month, placed_at)', 'status'],
      limit: 500,
    },
    `SELECT ${monthOf('placed_at')}, status, sum(total) FROM orders GROUP BY 1, 2`,
  ),
  ranked(
    records(
      'List the ten orders with the longest delivery time.',
      {
        collectionName: 'orders',
        fields: ['number', { name: 'days', difference: ['placed_at', 'delivered_at'], unit: 'day' }],
        filters: { field: 'delivered_at', operator: 'Present' },
        sort: [{ field: 'days', ascending: false }, { field: 'number' }],
        pagination: { size: 10 },
      },
      'SELECT number FROM orders WHERE delivered_at IS NOT NULL ORDER BY round(julianday(delivered_at) - julianday(placed_at), 6) DESC, 1 LIMIT 10',
    ),
  ),
  records(
    'Show the orders of last Friday the thirteenth type days: all orders placed on a Friday in the last three weeks.',
    {
      collectionName: 'orders',
      fields: ['number'],
      filters: {
        and: [
          { field: 'placed_at', operator: 'PreviousXDays', value: 21 },
          { field: 'placed_at', part: 'weekday', operator: 'equals', value: 'Friday' },
        ],
      },
      pagination: { size: 200 },
    },
    `SELECT number FROM orders WHERE placed_at >= '${daysAgo(21)}' AND placed_at < '${daysAgo(0)}' AND strftime('%w', placed_at) = '5'`,
  ),
  records(
    'Which products cost more than twice their purchase price and are low on stock?',
    {
      collectionName: 'products',
      fields: ['sku', 'price', 'cost'],
      filters: {
        conditions: [
          { field: 'price', operator: 'GreaterThan', value: { times: ['cost', 2] } },
          { field: 'stock', operator: 'LessThan', value: 20 },
        ],
      },
      pagination: { size: 200 },
    },
    'SELECT sku, price, cost FROM products WHERE price > cost * 2 AND stock < 20',
  ),
  figures(
    'Average rating by supplier, weighted towards suppliers with many reviews: just rating and number.',
    {
      collectionName: 'reviews',
      aggregates: [
        { fn: 'avg', column: 'rating', as: 'rating' },
        { fn: 'count', as: 'n' },
      ],
      group_by: ['product.supplier.name'],
      filter: { 'product.supplier_id': { not: null } },
    },
    `SELECT s.name, avg(rating), count(*) FROM reviews JOIN products p ON p.id = product_id JOIN suppliers s ON s.id = supplier_id GROUP BY 1`,
  ),
  figures(
    'Cumulative share of revenue along the months of this year?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, cum_share: { running: { share: 'revenue' } } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      filters: { field: 'placed_at', operator: 'AfterOrEqual', value: thisYear },
      sort: [{ group: 0 }],
    },
    `SELECT m, v, sum(v) OVER (ORDER BY m) / sum(v) OVER () FROM (SELECT ${monthOf('placed_at')} AS m, sum(total) AS v FROM orders
     WHERE placed_at >= '${thisYear}' GROUP BY 1)`,
  ),
  figures(
    'For every country, how far is its average order above or below the overall average?',
    {
      collectionName: 'orders',
      measures: {
        average: { avg: 'total' },
        overall: { avg: 'total', over: 'all' },
        gap: { minus: ['average', 'overall'] },
      },
      groups: ['customer:country'],
    },
    `SELECT country, avg(total), avg(total) - (SELECT avg(total) FROM orders) FROM ${byCustomer} GROUP BY 1`,
  ),
  figures(
    'Which customers spent over 3000 in their best single month?',
    {
      collectionName: 'orders',
      measures: { best: { max: 'spent' } },
      groups: ['customer:email'],
      over: {
        groups: ['customer:email', { field: 'placed_at', bucket: 'Month' }],
        measures: { spent: { sum: 'total' } },
      },
      having: { measure: 'best', operator: 'GreaterThan', value: 3000 },
      limit: 1000,
    },
    `SELECT email, max(v) FROM (SELECT email, sum(total) AS v FROM ${byCustomer} GROUP BY 1, strftime('%Y-%m', placed_at)) GROUP BY 1 HAVING max(v) > 3000`,
  ),
];
