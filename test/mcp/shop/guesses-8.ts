// Twenty first guesses, written after the repairs for the sixty of guesses-6.ts and guesses-7.ts, and before one of them ran.
import { daysAgo, figures, type Guess, monthOf, ranked, records, thisYear } from './guess.ts';

const byCustomer = 'orders o JOIN customers u ON u.id = o.customer_id';
const weekday = "(strftime('%w', placed_at) + 6) % 7 + 1";

export const laterGuesses: readonly Guess[] = [
  figures(
    'For each weekday, which part of its orders has each status?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, share: { share: 'orders', per: ['placed_at'] } },
      groups: [{ field: 'placed_at', part: 'Weekday' }, 'status'],
    },
    `SELECT ${weekday}, status, count(*), count(*) * 1.0 / sum(count(*)) OVER (PARTITION BY ${weekday}) FROM orders GROUP BY 1, 2`,
  ),
  ranked(
    figures(
      'Orders per month and cumulated?',
      {
        collectionName: 'orders',
        measures: { orders: { count: true }, cumulated: { cumulative_sum: 'orders' } },
        groups: [{ field: 'placed_at', bucket: 'Month' }],
        sort: [{ field: 'placed_at' }],
      },
      `SELECT ${monthOf('placed_at')}, count(*), sum(count(*)) OVER (ORDER BY ${monthOf('placed_at')}) FROM orders GROUP BY 1 ORDER BY 1`,
    ),
  ),
  figures(
    'Revenue by country without cancelled orders, beside all revenue?',
    {
      collectionName: 'orders',
      measures: { all: { sum: 'total' }, kept: { sum: 'total', filter: "status != 'cancelled'" } },
      groups: ['customer:country'],
    },
    `SELECT country, sum(total), sum(total) FILTER (WHERE status <> 'cancelled') FROM ${byCustomer} GROUP BY 1`,
  ),
  figures(
    'Revenue by country and year?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country', 'year(placed_at)'],
      limit: 100,
    },
    `SELECT country, strftime('%Y-01-01', placed_at), sum(total) FROM ${byCustomer} GROUP BY 1, 2`,
  ),
  figures(
    'What is the standard deviation of order totals by status?',
    { collectionName: 'orders', measures: { deviation: { stddev: 'total' } }, groups: ['status'] },
    'SELECT status, sqrt(avg(total * total) - avg(total) * avg(total)) FROM orders GROUP BY 1',
  ),
  ranked(
    records(
      'Which five products have most reviews, and what is their rating?',
      {
        collectionName: 'products',
        fields: ['sku', { name: 'review_count', count: 'reviews' }, { name: 'rating', avg: 'reviews:rating' }],
        sort: [
          { field: 'review_count', direction: 'desc' },
          { field: 'sku', direction: 'asc' },
        ],
        pagination: { size: 5 },
      },
      `SELECT sku, count(r.id), avg(rating) FROM products p LEFT JOIN reviews r ON r.product_id = p.id GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
    ),
  ),
  figures(
    'Which products have at least five reviews and a rating below three and a half?',
    {
      collectionName: 'reviews',
      measures: { n: { count: true }, rating: { avg: 'rating' } },
      groups: ['product:sku'],
      having: { $and: [{ n: { $gte: 5 } }, { rating: { $lt: 3.5 } }] },
    },
    `SELECT sku, count(*), avg(rating) FROM reviews JOIN products p ON p.id = product_id GROUP BY 1
     HAVING count(*) >= 5 AND avg(rating) < 3.5`,
  ),
  ranked(
    figures(
      'Which countries bring most revenue?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' } },
        groups: ['customer:country'],
        sort: { revenue: -1 },
      },
      `SELECT country, sum(total) FROM ${byCustomer} GROUP BY 1 ORDER BY 2 DESC`,
    ),
  ),
  figures(
    'How many orders per month, in UTC?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [{ field: 'placed_at', granularity: 'month', timezone: 'UTC' }],
    },
    `SELECT ${monthOf('placed_at')}, count(*) FROM orders GROUP BY 1`,
  ),
  figures(
    'How many orders are there, and from how many countries?',
    {
      collectionName: 'orders',
      measures: { n: { count: '*' }, countries: { count_distinct: 'customer:country' } },
    },
    `SELECT count(*), count(DISTINCT country) FROM ${byCustomer}`,
  ),
  figures(
    'How much do Norway and Sweden spend?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country'],
      filters: 'customer:country in ("NO", "SE")',
    },
    `SELECT country, sum(total) FROM ${byCustomer} WHERE country IN ('NO', 'SE') GROUP BY 1`,
  ),
  figures(
    'How much did Norway and Sweden spend this year until three weeks ago?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country'],
      filters: {
        and: [{ 'customer.country': { in: ['NO', 'SE'] } }, { placed_at: { gte: thisYear, lt: daysAgo(20) } }],
      },
    },
    `SELECT country, sum(total) FROM ${byCustomer} WHERE country IN ('NO', 'SE') AND placed_at >= '${thisYear}'
     AND placed_at < '${daysAgo(20)}' GROUP BY 1`,
  ),
  figures(
    'Which three statuses have most orders?',
    { collectionName: 'orders', operation: 'count', groups: ['status'], order: 'desc', limit: 3 },
    'SELECT status, count(*) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
  ),
  figures(
    'Which three coupons are used most?',
    {
      collectionName: 'orders',
      measures: { uses: { count: true } },
      groups: ['coupon'],
      filters: { coupon: { ne: null } },
      top: 3,
      sort: [{ measure: 'uses', ascending: false }],
    },
    'SELECT coupon, count(*) FROM orders WHERE coupon IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
  ),
  figures(
    'How many days lie between the first and the last order of each customer with more than twenty?',
    {
      collectionName: 'orders',
      measures: {
        n: { count: true },
        first: { min: 'placed_at' },
        last: { max: 'placed_at' },
        days: { difference: ['first', 'last'], unit: 'day' },
      },
      groups: ['customer_id'],
      having: { n: { gt: 20 } },
    },
    `SELECT customer_id, count(*), julianday(max(placed_at)) - julianday(min(placed_at)) FROM orders GROUP BY 1 HAVING count(*) > 20`,
  ),
  figures(
    'What is the average order value of each month?',
    {
      collectionName: 'orders',
      measures: { aov: { ratio: [{ sum: 'total' }, 'count'] } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
    },
    `SELECT ${monthOf('placed_at')}, avg(total) FROM orders GROUP BY 1`,
  ),
  ranked(
    figures(
      'Five best sellers by revenue?',
      {
        collectionName: 'order_items',
        measures: ['SUM(quantity * unit_price) AS revenue'],
        groups: ['product:sku'],
        sort: 'revenue DESC',
        limit: 5,
      },
      `SELECT sku, sum(quantity * unit_price) FROM order_items JOIN products p ON p.id = product_id GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
    ),
  ),
  figures(
    'How many orders of each country were returned?',
    {
      collectionName: 'orders',
      measures: { returned: { sum: "case when status = 'returned' then 1 else 0 end" } },
      groups: ['customer:country'],
    },
    `SELECT country, sum(status = 'returned') FROM ${byCustomer} GROUP BY 1`,
  ),
  figures(
    'How did the number of orders change from month to month?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, change: { minus: ['orders', 'orders_previous'] } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      compare: { previous: 1, unit: 'Month' },
    },
    `SELECT m, n, n - lag(n) OVER (ORDER BY m) FROM (SELECT ${monthOf('placed_at')} AS m, count(*) AS n FROM orders GROUP BY 1)`,
  ),
  figures(
    'What is the best city of each country by revenue, and its rank among all cities?',
    {
      collectionName: 'orders',
      measures: {
        revenue: { sum: 'total' },
        rank_in_country: { rank: 'revenue', partition_by: 'customer:country' },
        rank: { rank: 'revenue' },
      },
      groups: ['customer:country', 'customer:city'],
      having: { rank_in_country: 1 },
    },
    `SELECT country, city, v, a, b FROM (SELECT country, city, sum(total) AS v, rank() OVER (PARTITION BY country ORDER BY sum(total) DESC) AS a,
     rank() OVER (ORDER BY sum(total) DESC) AS b FROM ${byCustomer} GROUP BY 1, 2) WHERE a = 1`,
  ),
];
