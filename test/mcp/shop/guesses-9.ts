// Twenty of forty first guesses, written and committed before one of them ran. guesses-10.ts has the others.
import { daysAgo, figures, type Guess, monthOf, percentileOf, quarterOf, ranked, thisYear } from './guess.ts';

const byCustomer = 'orders o JOIN customers u ON u.id = o.customer_id';
const weekday = "(strftime('%w', placed_at) + 6) % 7 + 1";
const lines = { sum: { times: ['unit_price', 'quantity'] } };

export const widerGuesses: readonly Guess[] = [
  figures(
    'Smooth the monthly revenue over three months.',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, smoothed: { moving_average: 'revenue', periods: 3 } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
    },
    `SELECT m, v, avg(v) OVER (ORDER BY m ROWS 2 PRECEDING) FROM (SELECT ${monthOf('placed_at')} AS m, sum(total) AS v FROM orders GROUP BY 1)`,
  ),
  figures(
    'What is the trailing twelve-month revenue at the end of each month?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, ttm: { rollingSum: 'revenue', window: 12 } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      sort: [{ group: 0 }],
    },
    `SELECT m, v, sum(v) OVER (ORDER BY m ROWS 11 PRECEDING) FROM (SELECT ${monthOf('placed_at')} AS m, sum(total) AS v FROM orders GROUP BY 1)`,
  ),
  figures(
    'How much do order totals vary within each status: the standard deviation?',
    {
      collectionName: 'orders',
      measures: { avg_total: { avg: 'total' }, spread: { stddev: 'total' } },
      groups: ['status'],
    },
    `SELECT status, avg(total), sqrt((sum(total * total) - sum(total) * sum(total) / count(*)) / (count(*) - 1)) FROM orders GROUP BY 1`,
  ),
  figures(
    'What is the variance of ratings for each category?',
    {
      collectionName: 'reviews',
      measures: { variance: { variance: 'rating' }, n: { count: true } },
      groups: ['product:category:slug'],
    },
    `SELECT slug, (sum(rating * rating) - 1.0 * sum(rating) * sum(rating) / count(*)) / (count(*) - 1), count(*) FROM reviews r
     JOIN products p ON p.id = r.product_id JOIN categories g ON g.id = p.category_id GROUP BY 1`,
  ),
  figures(
    'How many orders come in on Saturdays and Sundays, by country?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: ['customer:country'],
      filters: { field: 'placed_at', part: 'Weekday', operator: 'In', value: ['Saturday', 'Sunday'] },
    },
    `SELECT country, count(*) FROM ${byCustomer} WHERE ${weekday} IN (6, 7) GROUP BY 1`,
  ),
  figures(
    'What did each country spend in December, over all years?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country'],
      filters: { field: 'month(placed_at)', operator: 'Equal', value: 12 },
    },
    `SELECT country, sum(total) FROM ${byCustomer} WHERE strftime('%m', placed_at) = '12' GROUP BY 1`,
  ),
  figures(
    'What share of orders is placed outside office hours, before nine or from six in the evening?',
    {
      collectionName: 'orders',
      measures: {
        all: { count: true },
        outside: { count: true, where: 'hour(placed_at) < 9 or hour(placed_at) >= 18' },
        share: { ratio: ['outside', 'all'] },
      },
    },
    `SELECT count(*), sum(h < 9 OR h >= 18), sum(h < 9 OR h >= 18) * 1.0 / count(*) FROM
     (SELECT CAST(strftime('%H', placed_at) AS INTEGER) AS h FROM orders)`,
  ),
  figures(
    'How old are our customers, in ten-year bands?',
    {
      collectionName: 'customers',
      measures: { customers: { count: true } },
      groups: [
        { expression: { difference: ['birth_date', { value: '2026-01-01' }], unit: 'year' }, ranges: [30, 40, 50, 60] },
      ],
      filters: { field: 'birth_date', operator: 'Present' },
    },
    `SELECT count(*) FROM (SELECT 2026 - CAST(strftime('%Y', birth_date) AS INTEGER) - (strftime('%m-%d', birth_date) > '01-01') AS a
     FROM customers WHERE birth_date IS NOT NULL) GROUP BY (a >= 30) + (a >= 40) + (a >= 50) + (a >= 60)`,
  ),
  figures(
    'Which customers ordered in more than five different months?',
    {
      collectionName: 'orders',
      measures: { months: { countDistinct: { field: 'placed_at', bucket: 'Month' } } },
      groups: ['customer:email'],
      having: { measure: 'months', operator: 'GreaterThan', value: 5 },
      limit: 1000,
    },
    `SELECT email, count(DISTINCT strftime('%Y-%m', placed_at)) FROM ${byCustomer} GROUP BY 1 HAVING count(DISTINCT strftime('%Y-%m', placed_at)) > 5`,
  ),
  figures(
    'Which customers placed their latest order before this year?',
    {
      collectionName: 'orders',
      measures: { last_order: { max: 'placed_at' } },
      groups: ['customer:email'],
      having: `last_order < '${thisYear}'`,
      limit: 1000,
    },
    `SELECT email, max(placed_at) FROM ${byCustomer} GROUP BY 1 HAVING max(placed_at) < '${thisYear}'`,
  ),
  ranked(
    figures(
      'Which products have the highest revenue, and by how much do they lead the one after them? First just the top ten.',
      {
        collectionName: 'order_items',
        measures: { revenue: lines, place: { rank: 'revenue' } },
        groups: ['product:name', 'product:sku'],
        sort: ['place'],
        limit: 10,
      },
      `SELECT name, sku, sum(unit_price * quantity) AS v, rank() OVER (ORDER BY sum(unit_price * quantity) DESC) AS p FROM order_items
       JOIN products p ON p.id = product_id GROUP BY 1, 2 ORDER BY 4, 1 LIMIT 10`,
    ),
  ),
  figures(
    'What are the quartiles of order totals by country?',
    {
      collectionName: 'orders',
      measures: { q1: { percentile: ['total', 25] }, q2: { median: 'total' }, q3: { percentile: ['total', 75] } },
      groups: ['status'],
    },
    `SELECT status, a, b, c FROM (${percentileOf('status', 'total', 0.25, 'a')}) JOIN (${percentileOf('status', 'total', 0.5, 'b')}) USING (status)
     JOIN (${percentileOf('status', 'total', 0.75, 'c')}) USING (status)`,
  ),
  figures(
    'How did each quarter compare with the same quarter of the year before, in percent?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, yoy: { ratio: ['revenue', 'previous revenue'] } },
      groups: [{ field: 'placed_at', bucket: 'Quarter' }],
      compare: 'previous_year',
    },
    `WITH q AS (SELECT ${quarterOf('placed_at')} AS d, sum(total) AS v FROM orders GROUP BY 1)
     SELECT a.d, a.v, b.v AS before, a.v * 1.0 / b.v FROM q a LEFT JOIN q b ON b.d = date(a.d, '-12 month')`,
  ),
  figures(
    'How many orders used each coupon in the last ninety days, compared with orders without any?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [{ coalesce: ['coupon', { value: 'none' }] }],
      filters: { field: 'placed_at', operator: 'PreviousXDays', value: 90 },
    },
    `SELECT count(*) FROM orders WHERE placed_at >= '${daysAgo(90)}' AND placed_at < '${daysAgo(0)}' GROUP BY coupon`,
  ),
  figures(
    'How many orders were free of shipping, and how many not?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [{ expression: "case when shipping_fee = 0 then 'free' else 'paid' end" }],
    },
    'SELECT count(*) FROM orders GROUP BY shipping_fee = 0',
  ),
  figures(
    'What is the average basket: items and value of an order?',
    {
      collectionName: 'order_items',
      measures: {
        items_per_order: { dividedBy: [{ sum: 'quantity' }, { countDistinct: 'order_id' }] },
        value_per_order: { dividedBy: [lines, { countDistinct: 'order_id' }] },
      },
    },
    'SELECT sum(quantity) * 1.0 / count(DISTINCT order_id), sum(unit_price * quantity) * 1.0 / count(DISTINCT order_id) FROM order_items',
  ),
  figures(
    'For each month: new customers, and how many of them came by a referral?',
    {
      collectionName: 'customers',
      measures: {
        new: { count: true },
        referred: { count: 'referred_by_id' },
        referral_rate: { percent: ['referred', 'new'] },
      },
      groups: { field: 'created_at', bucket: 'month' },
    },
    `SELECT ${monthOf('created_at')}, count(*), count(referred_by_id), 100.0 * count(referred_by_id) / count(*) FROM customers GROUP BY 1`,
  ),
  figures(
    'Which weekday brings the most revenue per order?',
    {
      collectionName: 'orders',
      measures: { avg_total: { avg: 'total' } },
      groups: [{ field: 'placed_at', part: 'DayOfWeek' }],
      sort: [{ measure: 'avg_total', ascending: false }],
      limit: 1,
    },
    `SELECT ${weekday}, avg(total) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 1`,
  ),
  figures(
    'How many customers bought again within thirty days of their first order?',
    {
      collectionName: 'orders',
      measures: { customers: { count: true } },
      over: {
        groups: ['customer_id'],
        measures: { first: { min: 'placed_at' }, second: { nth: ['placed_at', 2] } },
      },
      filters: { expression: { difference: ['first', 'second'], unit: 'day' }, operator: 'LessThanOrEqual', value: 30 },
    },
    `SELECT count(*) FROM (SELECT customer_id, max(placed_at) FILTER (WHERE place = 1) AS a, max(placed_at) FILTER (WHERE place = 2) AS b
     FROM (SELECT customer_id, placed_at, row_number() OVER (PARTITION BY customer_id ORDER BY placed_at) AS place FROM orders) GROUP BY 1)
     WHERE julianday(b) - julianday(a) <= 30`,
  ),
  figures(
    'What are the busiest three hours on each weekday?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [
        { field: 'placed_at', part: 'Weekday' },
        { field: 'placed_at', part: 'HourOfDay' },
      ],
      sort: [{ measure: 'orders', ascending: false }, { group: 1 }],
      top: { n: 3, per: ['weekday'] },
    },
    `SELECT d, h, n FROM (SELECT ${weekday} AS d, CAST(strftime('%H', placed_at) AS INTEGER) AS h, count(*) AS n, row_number() OVER
     (PARTITION BY ${weekday} ORDER BY count(*) DESC, CAST(strftime('%H', placed_at) AS INTEGER)) AS place FROM orders GROUP BY 1, 2) WHERE place <= 3`,
  ),
];
