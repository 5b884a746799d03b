// Thirty of sixty first guesses, written and committed before one of them ran. guesses-7.ts has the others.
import { daysAgo, figures, type Guess, monthOf, percentileOf, quarterOf, ranked, records, thisYear } from './guess.ts';

const byCustomer = 'orders o JOIN customers u ON u.id = o.customer_id';
const sold = `order_items i JOIN orders o ON o.id = i.order_id JOIN products p ON p.id = i.product_id
  JOIN categories g ON g.id = p.category_id`;
const lines = { sum: { times: ['unit_price', 'quantity'] } };

export const blindGuesses: readonly Guess[] = [
  figures(
    'How many orders and how much revenue did we have in each month since January?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, revenue: { sum: 'total' } },
      group_by: [{ field: 'placed_at', bucket: 'month' }],
      filters: { field: 'placed_at', operator: 'GreaterThanOrEqual', value: thisYear },
    },
    `SELECT ${monthOf('placed_at')}, count(*), sum(total) FROM orders WHERE placed_at >= '${thisYear}' GROUP BY 1`,
  ),
  ranked(
    figures(
      'Which five countries have the highest average order value?',
      {
        collectionName: 'orders',
        measures: { aov: { avg: 'total' } },
        groups: ['customer:country'],
        order_by: [{ measure: 'aov', direction: 'desc' }],
        limit: 5,
      },
      `SELECT country, avg(total) FROM ${byCustomer} GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
    ),
  ),
  figures(
    'How many different customers ordered in each quarter?',
    {
      collectionName: 'orders',
      measures: { customers: { count_distinct: 'customer_id' } },
      groups: [{ field: 'placed_at', bucket: 'Quarter' }],
    },
    `SELECT ${quarterOf('placed_at')}, count(DISTINCT customer_id) FROM orders GROUP BY 1`,
  ),
  figures(
    'What percentage of orders is returned, by country?',
    {
      collectionName: 'orders',
      measures: {
        orders: { count: true },
        returned: { count: true, where: { status: 'returned' } },
        return_rate_pct: { times: [{ ratio: ['returned', 'orders'] }, 100] },
      },
      groups: ['customer:country'],
    },
    `SELECT country, count(*), sum(status = 'returned'), 100.0 * sum(status = 'returned') / count(*) FROM ${byCustomer} GROUP BY 1`,
  ),
  ranked(
    figures(
      'What share of revenue does each category have?',
      {
        collectionName: 'order_items',
        measures: { revenue: lines, share: { share: 'revenue' } },
        groups: ['product:category:slug'],
        sort: [{ measure: 'revenue', desc: true }],
      },
      `SELECT slug, sum(unit_price * quantity), sum(unit_price * quantity) / (SELECT sum(unit_price * quantity) FROM order_items)
       FROM ${sold} GROUP BY 1 ORDER BY 2 DESC`,
    ),
  ),
  ranked(
    figures(
      'Show me cumulative revenue through this year, month by month.',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, cumulative: { running: { measure: 'revenue' } } },
        groups: [{ field: 'placed_at', bucket: 'Month' }],
        filters: { field: 'placed_at', operator: 'GreaterThanOrEqual', value: thisYear },
        sort: [{ group: 0 }],
      },
      `SELECT ${monthOf('placed_at')}, sum(total), sum(sum(total)) OVER (ORDER BY ${monthOf('placed_at')}) FROM orders
       WHERE placed_at >= '${thisYear}' GROUP BY 1 ORDER BY 1`,
    ),
  ),
  figures(
    'Revenue of each month beside that of the month before?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      compare: { period: 'previous' },
    },
    `SELECT ${monthOf('placed_at')}, sum(total), lag(sum(total)) OVER (ORDER BY ${monthOf('placed_at')}) FROM orders GROUP BY 1`,
  ),
  figures(
    'By how many percent did revenue grow from month to month?',
    {
      collectionName: 'orders',
      measures: {
        revenue: { sum: 'total' },
        growth_pct: { times: [{ ratio: [{ minus: ['revenue', 'previous_revenue'] }, 'previous_revenue'] }, 100] },
      },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      compare: { previous: 1 },
    },
    `SELECT m, v, 100.0 * (v - lag(v) OVER (ORDER BY m)) / lag(v) OVER (ORDER BY m) FROM
     (SELECT ${monthOf('placed_at')} AS m, sum(total) AS v FROM orders GROUP BY 1)`,
  ),
  figures(
    'What are the three best products by revenue in each category?',
    {
      collectionName: 'order_items',
      measures: { revenue: lines },
      groups: ['product:category:slug', 'product:sku'],
      top: { limit: 3, partitionBy: ['product:category:slug'], orderBy: 'revenue' },
    },
    `SELECT slug, sku, v FROM (SELECT slug, sku, sum(unit_price * quantity) AS v, row_number() OVER
     (PARTITION BY slug ORDER BY sum(unit_price * quantity) DESC, sku) AS place FROM ${sold} GROUP BY 1, 2) WHERE place <= 3`,
  ),
  figures(
    'Rank the suppliers by revenue.',
    {
      collectionName: 'order_items',
      measures: { revenue: lines, position: { rank: 'revenue', order: 'desc' } },
      groups: ['product:supplier:name'],
      filters: { field: 'product:supplier_id', operator: 'Present' },
    },
    `SELECT s.name, sum(unit_price * quantity), rank() OVER (ORDER BY sum(unit_price * quantity) DESC) FROM order_items i
     JOIN products p ON p.id = product_id JOIN suppliers s ON s.id = supplier_id GROUP BY 1`,
  ),
  figures(
    'Which two products rank first by revenue in their category?',
    {
      collectionName: 'order_items',
      measures: { revenue: lines, rank: { rank: 'revenue', per: ['product:category:slug'] } },
      groups: ['product:category:slug', 'product:sku'],
      having: { measure: 'rank', operator: 'LessThanOrEqual', value: 2 },
      sort: [{ group: 0 }, { measure: 'rank' }],
    },
    `SELECT slug, sku, v, place FROM (SELECT slug, sku, sum(unit_price * quantity) AS v, rank() OVER
     (PARTITION BY slug ORDER BY sum(unit_price * quantity) DESC) AS place FROM ${sold} GROUP BY 1, 2) WHERE place <= 2`,
  ),
  figures(
    'How many items does an order have on average?',
    {
      collectionName: 'order_items',
      measures: { avg_items: { avg: 'items' } },
      over: { groupBy: ['order_id'], measures: { items: { sum: 'quantity' } } },
    },
    'SELECT avg(items) FROM (SELECT sum(quantity) AS items FROM order_items GROUP BY order_id)',
  ),
  figures(
    'What is the revenue per customer in each country?',
    {
      collectionName: 'orders',
      measures: {
        revenue: { sum: 'total' },
        customers: { countDistinct: 'customer:id' },
        per_customer: { divide: ['revenue', 'customers'] },
      },
      groups: ['customer:country'],
    },
    `SELECT country, sum(total), count(DISTINCT u.id), sum(total) * 1.0 / count(DISTINCT u.id) FROM ${byCustomer} GROUP BY 1`,
  ),
  figures(
    'What is the gross margin of each category in percent?',
    {
      collectionName: 'order_items',
      measures: {
        revenue: { sum: 'unit_price * quantity' },
        cost: { sum: 'product:cost * quantity' },
        margin_pct: { expression: '(revenue - cost) / revenue * 100' },
      },
      groups: ['product:category:slug'],
    },
    `SELECT slug, sum(unit_price * quantity), sum(cost * quantity),
     100.0 * (sum(unit_price * quantity) - sum(cost * quantity)) / sum(unit_price * quantity) FROM ${sold} GROUP BY 1`,
  ),
  figures(
    'On which weekdays do people order?',
    { collectionName: 'orders', measures: { orders: { count: true } }, groups: ['weekday(placed_at)'] },
    "SELECT (strftime('%w', placed_at) + 6) % 7 + 1, count(*) FROM orders GROUP BY 1",
  ),
  figures(
    'At what hour of the day do we get most orders?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [{ field: 'placed_at', bucket: 'HourOfDay' }],
      sort: [{ measure: 'orders', ascending: false }],
    },
    "SELECT CAST(strftime('%H', placed_at) AS INTEGER), count(*) FROM orders GROUP BY 1",
  ),
  figures(
    'Is there a season: revenue by month of the year over all years?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', part: 'Month' }],
    },
    "SELECT CAST(strftime('%m', placed_at) AS INTEGER), sum(total) FROM orders GROUP BY 1",
  ),
  figures(
    'How many customers signed up in each year?',
    { collectionName: 'customers', measures: 'count(*)', groups: [{ field: 'created_at', bucket: 'YEAR' }] },
    "SELECT strftime('%Y-01-01', created_at), count(*) FROM customers GROUP BY 1",
  ),
  figures(
    'How many orders are small (below 50), medium (50 to 200) and large?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [
        {
          field: 'total',
          ranges: [
            { label: 'small', to: 50 },
            { label: 'medium', from: 50, to: 200 },
            { label: 'large', from: 200 },
          ],
        },
      ],
    },
    'SELECT count(*) FROM orders GROUP BY (total >= 50) + (total >= 200)',
  ),
  figures(
    'What are the median and the 95th percentile of order totals by status?',
    {
      collectionName: 'orders',
      measures: { median: { median: 'total' }, p95: { percentile: { field: 'total', p: 95 } } },
      groups: ['status'],
    },
    `SELECT status, m, p FROM (${percentileOf('status', 'total', 0.5, 'm')}) JOIN (${percentileOf('status', 'total', 0.95, 'p')})
     USING (status)`,
  ),
  figures(
    'How many customers never ordered?',
    { collectionName: 'customers', measures: { n: 'count' }, filters: { field: 'orders', operator: 'IsEmpty' } },
    'SELECT count(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)',
  ),
  ranked(
    records(
      'Which customers have more than fourteen orders?',
      {
        collectionName: 'customers',
        fields: ['email', { name: 'order_count', count: 'orders' }],
        filters: { field: 'order_count', operator: 'GreaterThan', value: 14 },
        sort: [{ field: 'order_count', ascending: false }, { field: 'email' }],
        pagination: { size: 100 },
      },
      `SELECT email, count(*) FROM ${byCustomer} GROUP BY 1 HAVING count(*) > 14 ORDER BY 2 DESC, 1 LIMIT 100`,
    ),
  ),
  ranked(
    records(
      'Which ten customers have been silent for longest, of those whose last order is over half a year ago?',
      {
        collectionName: 'customers',
        fields: ['email', { name: 'last_order', max: 'orders.placed_at' }],
        filters: { field: 'last_order', operator: 'Before', value: daysAgo(180) },
        sort: [{ field: 'last_order', order: 'asc' }],
        pagination: { size: 10 },
      },
      `SELECT email, max(placed_at) FROM ${byCustomer} GROUP BY 1 HAVING max(placed_at) < '${daysAgo(180)}' ORDER BY 2 LIMIT 10`,
    ),
  ),
  records(
    'Which ten products have the smallest margin in percent of the price?',
    {
      collectionName: 'products',
      fields: ['sku', { name: 'margin', expression: { ratio: [{ minus: ['price', 'cost'] }, 'price'] } }],
      sort: [{ field: 'margin', ascending: true }, { field: 'sku' }],
      pagination: { size: 10 },
    },
    'SELECT sku, (price - cost) * 1.0 / price FROM products ORDER BY round((price - cost) * 1.0 / price, 10), 1 LIMIT 10',
  ),
  ranked(
    figures(
      'What are the ten best sellers of this year by revenue?',
      {
        collectionName: 'order_items',
        measures: { revenue: lines },
        groups: ['product:sku'],
        where: { 'order:placed_at': { gte: thisYear } },
        order: 'revenue desc',
        limit: 10,
      },
      `SELECT sku, sum(unit_price * quantity) FROM ${sold} WHERE placed_at >= '${thisYear}' GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
    ),
  ),
  figures(
    'How many orders took longer than six days from placing to delivery?',
    {
      collectionName: 'orders',
      measures: { slow: { count: true } },
      filters: { expression: { minus: ['delivered_at', 'placed_at'] }, operator: 'GreaterThan', value: '6 days' },
    },
    'SELECT count(*) FROM orders WHERE julianday(delivered_at) - julianday(placed_at) > 6',
  ),
  figures(
    'How long does delivery take on average, by month?',
    {
      collectionName: 'orders',
      measures: { days: { avg: { difference: ['placed_at', 'delivered_at'], unit: 'days' } } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
    },
    `SELECT ${monthOf('placed_at')}, avg(julianday(delivered_at) - julianday(placed_at)) FROM orders GROUP BY 1`,
  ),
  figures(
    'How many orders used a coupon, and how many did not?',
    {
      collectionName: 'orders',
      measures: {
        with_coupon: { count: 'coupon' },
        without: { count: true, where: { field: 'coupon', operator: 'Missing' } },
      },
    },
    'SELECT count(coupon), sum(coupon IS NULL) FROM orders',
  ),
  figures(
    'How much revenue came with a coupon and how much without?',
    {
      collectionName: 'orders',
      measures: {
        with_coupon: { sum: 'total', where: 'coupon is not null' },
        without: { sum: 'total', where: 'coupon is null' },
      },
    },
    'SELECT sum(total) FILTER (WHERE coupon IS NOT NULL), sum(total) FILTER (WHERE coupon IS NULL) FROM orders',
  ),
  figures(
    'How many orders and how much revenue did each coupon bring?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, revenue: { sum: 'total' } },
      groups: ['coupon'],
      filters: { field: 'coupon', operator: 'IsNotNull' },
    },
    'SELECT coupon, count(*), sum(total) FROM orders WHERE coupon IS NOT NULL GROUP BY 1',
  ),
];
