// Questions of an analyst about the demo shop, each with the one call that answers it and plain SQL for the answer.
import { figures, type Guess, monthOf, quarterOf, ranked, thisYear } from './guess.ts';

const items = `order_items i JOIN orders o ON o.id = i.order_id JOIN customers u ON u.id = o.customer_id
  JOIN products p ON p.id = i.product_id JOIN categories c ON c.id = p.category_id`;
const orders = 'orders o JOIN customers u ON u.id = o.customer_id';
const revenue = { sum: { times: ['unit_price', 'quantity'] } };
const days = (from: string, to: string) => `julianday(${to}) - julianday(${from})`;
const perMonth = { field: 'placed_at', bucket: 'Month' };
const firstGroup = [{ group: 0 }];
/** The value at a fraction of the sorted values in `of`, interpolated between two of them. */
const percentile = (fraction: number, of: string) => `(SELECT max(CASE WHEN n = floor(t) THEN v END) +
  (max(t) - floor(max(t))) * (max(CASE WHEN n = ceil(t) THEN v END) - max(CASE WHEN n = floor(t) THEN v END))
  FROM (SELECT v, row_number() OVER (ORDER BY v) - 1 n, (count(*) OVER () - 1) * ${fraction} t FROM (${of}) WHERE v IS NOT NULL))`;

export const questions: readonly Guess[] = [
  figures(
    'What was the revenue per month and department?',
    {
      collectionName: 'order_items',
      measures: { revenue },
      groups: [{ field: 'order:placed_at', bucket: 'Month' }, 'product:category:parent:name'],
      limit: 1000,
    },
    `SELECT ${monthOf('placed_at')}, d.name, sum(quantity * unit_price) FROM ${items}
     LEFT JOIN categories d ON d.id = c.parent_id GROUP BY 1, 2`,
  ),
  ranked(
    figures(
      'What share of the orders came back, quarter by quarter?',
      {
        collectionName: 'orders',
        measures: {
          returned: { count: true, where: { field: 'status', operator: 'Equal', value: 'returned' } },
          rate: { ratio: ['returned', { count: true }] },
        },
        groups: [{ field: 'placed_at', bucket: 'Quarter' }],
        sort: firstGroup,
      },
      `SELECT ${quarterOf('placed_at')}, sum(status = 'returned'), avg(status = 'returned') FROM orders
       GROUP BY 1 ORDER BY 1`,
    ),
  ),
  ranked(
    figures(
      'What is the median order in each country, highest first?',
      { collectionName: 'orders', measures: { middle: { median: 'total' } }, groups: ['customer:country'] },
      `SELECT country, ${percentile(0.5, 'SELECT total v FROM orders JOIN customers ON customers.id = customer_id WHERE country = k.country')}
       FROM (SELECT DISTINCT country FROM ${orders}) k ORDER BY 2 DESC`,
    ),
  ),
  figures(
    'Who are the three best customers of each country?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country', 'customer:email'],
      sort: [{ measure: 'revenue', ascending: false }],
      top: { n: 3, per: [0] },
    },
    `SELECT country, email, r FROM (SELECT country, email, sum(total) r,
       row_number() OVER (PARTITION BY country ORDER BY sum(total) DESC) n FROM ${orders} GROUP BY email) WHERE n < 4`,
  ),
  ranked(
    figures(
      'How does each month compare with the month before and the same month of last year?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, change: { ratio: ['revenue', 'previous revenue'] } },
        groups: [perMonth],
        compare: { previous: 12 },
        sort: firstGroup,
      },
      `SELECT m, r, lag(r, 12) OVER w, r / lag(r, 12) OVER w FROM (SELECT ${monthOf('placed_at')} m, sum(total) r
       FROM orders GROUP BY 1) WINDOW w AS (ORDER BY m) ORDER BY 1`,
    ),
  ),
  ranked(
    figures(
      'What have we earned so far this year, month by month?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, 'so far': { running: 'revenue' } },
        groups: [perMonth],
        filters: { field: 'placed_at', operator: 'GreaterThanOrEqual', value: thisYear },
        sort: firstGroup,
      },
      `SELECT m, r, sum(r) OVER (ORDER BY m) FROM (SELECT ${monthOf('placed_at')} m, sum(total) r FROM orders
       WHERE placed_at >= '${thisYear}' GROUP BY 1) ORDER BY 1`,
    ),
  ),
  figures(
    'How many customers of each quarter of registration buy in each quarter?',
    {
      collectionName: 'orders',
      measures: { buyers: { countDistinct: 'customer_id' }, revenue: { sum: 'total' } },
      groups: [
        { field: 'customer:created_at', bucket: 'Quarter' },
        { field: 'placed_at', bucket: 'Quarter' },
      ],
      limit: 500,
    },
    `SELECT ${quarterOf('u.created_at')}, ${quarterOf('placed_at')}, count(DISTINCT customer_id), sum(total)
     FROM ${orders} GROUP BY 1, 2`,
  ),
  figures(
    'How many orders does a customer have on average, also counting those without any?',
    {
      collectionName: 'orders',
      measures: { average: { avg: 'orders' }, customers: { count: true } },
      over: { groups: ['customer:id'], measures: { orders: { count: true } }, includeEmpty: true },
    },
    'SELECT avg(n), count(*) FROM (SELECT count(o.id) n FROM customers u LEFT JOIN orders o ON customer_id = u.id GROUP BY u.id)',
  ),
  ranked(
    figures(
      'How many customers placed one order, two orders, and so on?',
      {
        collectionName: 'orders',
        measures: { customers: { count: true } },
        groups: ['orders'],
        sort: firstGroup,
        over: { groups: ['customer_id'], measures: { orders: { count: true } } },
      },
      'SELECT n, count(*) FROM (SELECT count(*) n FROM orders GROUP BY customer_id) GROUP BY 1 ORDER BY 1',
    ),
  ),
  ranked(
    figures(
      'How do orders differ between the days of the week?',
      {
        collectionName: 'orders',
        measures: { orders: { count: true }, average: { avg: 'total' } },
        groups: [{ field: 'placed_at', part: 'Weekday' }],
        sort: firstGroup,
      },
      "SELECT (strftime('%w', placed_at) + 6) % 7 + 1, count(*), avg(total) FROM orders GROUP BY 1 ORDER BY 1",
    ),
  ),
  ranked(
    figures(
      'How many orders are in each price range, and what share of the revenue?',
      {
        collectionName: 'orders',
        measures: { orders: { count: true }, part: { share: { sum: 'total' } } },
        groups: [{ field: 'total', ranges: [50, 100, 250, 1000] }],
        sort: firstGroup,
      },
      `SELECT CASE k WHEN 0 THEN '..50' WHEN 1 THEN '50..100' WHEN 2 THEN '100..250' WHEN 3 THEN '250..1000' ELSE '1000..' END,
         count(*), sum(total) / (SELECT sum(total) FROM orders)
       FROM (SELECT total, (total >= 50) + (total >= 100) + (total >= 250) + (total >= 1000) k FROM orders) GROUP BY k ORDER BY k`,
    ),
  ),
  figures(
    'How many different products and buyers has each category?',
    {
      collectionName: 'order_items',
      measures: { products: { countDistinct: 'product_id' }, buyers: { countDistinct: 'order:customer_id' } },
      groups: ['product:category:name'],
    },
    `SELECT c.name, count(DISTINCT product_id), count(DISTINCT customer_id) FROM ${items} GROUP BY 1`,
  ),
  figures(
    'Do readers of the newsletter spend more per order?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, average: { avg: 'total' } },
      groups: ['customer:newsletter'],
    },
    `SELECT newsletter, count(*), avg(total) FROM ${orders} GROUP BY 1`,
  ),
  figures(
    'Which countries order often, but cheaply?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, average: { avg: 'total' } },
      groups: ['customer:country'],
      having: {
        aggregator: 'And',
        conditions: [
          { measure: 'orders', operator: 'GreaterThan', value: 200 },
          { measure: 'average', operator: 'LessThan', value: 460 },
        ],
      },
    },
    `SELECT country, count(*), avg(total) FROM ${orders} GROUP BY 1 HAVING count(*) > 200 AND avg(total) < 460`,
  ),
  figures(
    'How many lines of each category were sold below the price of today, and at what average discount?',
    {
      collectionName: 'order_items',
      measures: {
        lines: { count: true },
        discount: { avg: { minus: [1, { dividedBy: ['unit_price', 'product:price'] }] } },
      },
      groups: ['product:category:name'],
      filters: { field: 'unit_price', operator: 'LessThan', other: 'product:price' },
    },
    `SELECT c.name, count(*), avg(1 - unit_price * 1.0 / price) FROM ${items} WHERE unit_price < price GROUP BY 1`,
  ),
  figures(
    'How many products have reviews, and only good ones?',
    {
      collectionName: 'products',
      measures: { products: { count: true } },
      filters: {
        aggregator: 'And',
        conditions: [
          { some: 'reviews' },
          { every: 'reviews', where: { field: 'rating', operator: 'GreaterThanOrEqual', value: 4 } },
        ],
      },
    },
    'SELECT count(*) FROM (SELECT 1 FROM reviews GROUP BY product_id HAVING min(rating) >= 4)',
  ),
  figures(
    'How many days does delivery take, by country?',
    {
      collectionName: 'orders',
      measures: { days: { avg: { difference: ['placed_at', 'delivered_at'], unit: 'day' } } },
      groups: ['customer:country'],
    },
    `SELECT country, avg(${days('placed_at', 'delivered_at')}) FROM ${orders} GROUP BY 1`,
  ),
  figures(
    'Within how many hours do 90 percent of the orders leave the house?',
    {
      collectionName: 'orders',
      measures: { p90: { percentile: [{ difference: ['placed_at', 'shipped_at'], unit: 'hour' }, 0.9] } },
    },
    `SELECT ${percentile(0.9, `SELECT (${days('placed_at', 'shipped_at')}) * 24 v FROM orders`)}`,
  ),
  figures(
    'What part of the delivered orders took more than four days, per month?',
    {
      collectionName: 'orders',
      measures: {
        late: {
          count: true,
          where: {
            expression: { difference: ['placed_at', 'delivered_at'], unit: 'day' },
            operator: 'GreaterThan',
            value: 4,
          },
        },
        rate: { ratio: ['late', { count: 'delivered_at' }] },
      },
      groups: [perMonth],
    },
    `SELECT ${monthOf('placed_at')}, sum(${days('placed_at', 'delivered_at')} > 4) * 1.0 / count(delivered_at)
     FROM orders GROUP BY 1`,
  ),
  figures(
    'When was the last order in each status?',
    {
      collectionName: 'orders',
      measures: { first: { min: 'placed_at' }, last: { max: 'placed_at' } },
      groups: ['status'],
    },
    'SELECT status, min(placed_at), max(placed_at) FROM orders GROUP BY 1',
  ),
];
