// First guesses at questions that need more of the query language than tools/list explains.
import { daysAgo, figures, type Guess, ranked, records, thisYear } from './guess.ts';

const month = "strftime('%Y-%m-01', placed_at)";
const quarter = (column: string) =>
  `strftime('%Y-', ${column}) || substr('01040710', (CAST(strftime('%m', ${column}) AS INTEGER) - 1) / 3 * 2 + 1, 2) || '-01'`;
const itemsByCategory = `order_items i JOIN orders o ON o.id = order_id JOIN products p ON p.id = product_id
  JOIN categories c ON c.id = category_id`;
const monthly = { collectionName: 'orders', groups: [{ field: 'placed_at', bucket: 'Month' }] };

export const harderGuesses: readonly Guess[] = [
  figures(
    'Who are the top three customers in each country by revenue?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country', 'customer:email'],
      top: { n: 3, by: 'revenue', per: 'customer:country' },
    },
    `SELECT country, email, r FROM (SELECT country, email, sum(total) r,
       row_number() OVER (PARTITION BY country ORDER BY sum(total) DESC) n
     FROM orders JOIN customers c ON c.id = customer_id GROUP BY c.id) WHERE n <= 3`,
  ),
  figures(
    'How does each month compare with the one before?',
    { ...monthly, measures: { revenue: { sum: 'total' } }, compare: { previous: 'Month' } },
    `SELECT m, r, lag(r) OVER (ORDER BY m) FROM (SELECT ${month} m, sum(total) r FROM orders GROUP BY 1)`,
  ),
  ranked(
    figures(
      'What is the cumulative revenue month by month?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, cumulative: { running: 'revenue' } },
        groups: [{ field: 'placed_at', bucket: 'month' }],
        sort: [{ field: 'placed_at' }],
      },
      `SELECT m, r, sum(r) OVER (ORDER BY m) FROM (SELECT ${month} m, sum(total) r FROM orders GROUP BY 1) ORDER BY 1`,
    ),
  ),
  figures(
    'How many orders does a buying customer place on average?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: ['customer_id'],
      over: { avg: 'orders' },
    },
    'SELECT avg(n) FROM (SELECT count(*) n FROM orders GROUP BY customer_id)',
  ),
  figures(
    'What is the average of our monthly revenues?',
    { ...monthly, measures: { revenue: { sum: 'total' } }, over: { average: { avg: 'revenue' } } },
    `SELECT avg(r) FROM (SELECT sum(total) r FROM orders GROUP BY ${month})`,
  ),
  ranked(
    records(
      'Who ordered last, and when?',
      {
        collectionName: 'customers',
        fields: ['email', { name: 'last_order', max: 'orders:placed_at' }],
        sort: [{ field: 'last_order', ascending: false }],
        pagination: { size: 10 },
      },
      `SELECT email, (SELECT max(placed_at) FROM orders WHERE customer_id = c.id) d FROM customers c
       ORDER BY d DESC LIMIT 10`,
    ),
  ),
  figures(
    "How many order lines were sold below today's price?",
    {
      collectionName: 'order_items',
      operation: 'count',
      filters: { field: 'unit_price', operator: 'LessThan', value: { field: 'product:price' } },
    },
    'SELECT count(*) FROM order_items JOIN products p ON p.id = product_id WHERE unit_price < price',
  ),
  figures(
    'How many customers of each country have never written a review?',
    { collectionName: 'customers', measures: { count: true }, groups: ['country'], filters: { none: 'reviews' } },
    'SELECT country, count(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM reviews) GROUP BY 1',
  ),
  figures(
    'How many products have only good reviews?',
    {
      collectionName: 'products',
      operation: 'count',
      filters: { every: 'reviews', where: { field: 'rating', operator: 'GreaterThanOrEqual', value: 4 } },
    },
    'SELECT count(*) FROM products WHERE id NOT IN (SELECT product_id FROM reviews WHERE rating < 4)',
  ),
  figures(
    'How many days does an order take to arrive, on average?',
    { collectionName: 'orders', measures: { days: { avg: { daysBetween: ['placed_at', 'delivered_at'] } } } },
    'SELECT avg(julianday(delivered_at) - julianday(placed_at)) FROM orders',
  ),
  figures(
    'How many hours are orders on the road?',
    { collectionName: 'orders', measures: { hours: { avg: { minus: ['delivered_at', 'shipped_at'] } } } },
    'SELECT avg(julianday(delivered_at) - julianday(shipped_at)) * 24 FROM orders',
  ),
  ranked(
    figures(
      'What share of the revenue do the five strongest countries have?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, share: { share: 'revenue' } },
        groups: [{ field: 'customer:country' }],
        sort: [{ field: 'share', order: 'desc' }],
        limit: 5,
      },
      `SELECT country, sum(total), sum(total) / (SELECT sum(total) FROM orders) FROM orders
       JOIN customers c ON c.id = customer_id GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
    ),
  ),
  figures(
    'By what percentage does revenue grow from month to month?',
    { ...monthly, measures: { revenue: { sum: 'total' } }, compare: { period: 'previous', as: 'percent' } },
    `SELECT m, (r - lag(r) OVER (ORDER BY m)) / lag(r) OVER (ORDER BY m)
     FROM (SELECT ${month} m, sum(total) r FROM orders GROUP BY 1)`,
  ),
  figures(
    'How many customers of each quarter of sign-up still buy in later quarters?',
    {
      collectionName: 'orders',
      groups: [
        { field: 'customer:created_at', bucket: 'Quarter' },
        { field: 'placed_at', bucket: 'Quarter' },
      ],
      measures: { active: { countDistinct: 'customer_id' } },
    },
    `SELECT ${quarter('created_at')}, ${quarter('placed_at')}, count(DISTINCT customer_id)
     FROM orders JOIN customers c ON c.id = customer_id GROUP BY 1, 2`,
  ),
  ranked(
    figures(
      'Which five categories earn the most margin?',
      {
        collectionName: 'order_items',
        measures: { margin: { sum: { times: ['quantity', { minus: ['unit_price', 'product:cost'] }] } } },
        groups: ['product:category:name'],
        sort: [{ measure: 'margin', descending: true }],
        limit: 5,
      },
      `SELECT c.name, sum(quantity * (unit_price - cost)) FROM ${itemsByCategory} GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
    ),
  ),
  figures(
    'How many orders did we get on each of the last 30 days?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [{ field: 'placed_at', bucket: 'Day' }],
      filters: { field: 'placed_at', operator: 'PreviousXDays', value: 30 },
      includeEmpty: true,
    },
    `WITH RECURSIVE d(day) AS (SELECT date('now', '-30 days') UNION ALL SELECT date(day, '+1 day') FROM d
       WHERE day < date('now', '-1 day'))
     SELECT day, (SELECT count(*) FROM orders WHERE date(placed_at) = day) FROM d`,
  ),
  figures(
    'Which products sold more than 60 pieces?',
    {
      collectionName: 'order_items',
      measures: { units: { sum: 'quantity' } },
      groups: ['product:name'],
      having: { units: { gt: 60 } },
    },
    `SELECT name, sum(quantity) FROM order_items JOIN products p ON p.id = product_id
     GROUP BY 1 HAVING sum(quantity) > 60`,
  ),
  figures(
    'Which products have five or more reviews and an average under 3 stars?',
    {
      collectionName: 'reviews',
      measures: { reviews: { count: true }, avg_rating: { avg: 'rating' } },
      groups: ['product:name'],
      having: {
        aggregator: 'And',
        conditions: [
          { field: 'reviews', operator: 'GreaterThanOrEqual', value: 5 },
          { field: 'avg_rating', operator: 'LessThan', value: 3 },
        ],
      },
    },
    `SELECT name, count(*), avg(rating) FROM reviews JOIN products p ON p.id = product_id
     GROUP BY 1 HAVING count(*) >= 5 AND avg(rating) < 3`,
  ),
  ranked(
    records(
      'Who are the ten customers with the most orders?',
      {
        collectionName: 'customers',
        fields: ['first_name', 'last_name', { name: 'orders_count', count: 'orders' }],
        sort: [
          { field: 'orders_count', ascending: false },
          { field: 'id', ascending: true },
        ],
        pagination: { size: 10 },
      },
      `SELECT first_name, last_name, (SELECT count(*) FROM orders WHERE customer_id = c.id) n FROM customers c
       ORDER BY n DESC, id LIMIT 10`,
    ),
  ),
  figures(
    'How many orders took more than five days to arrive?',
    {
      collectionName: 'orders',
      operation: 'count',
      filters: {
        expression: { daysBetween: ['placed_at', 'delivered_at'] },
        operator: 'GreaterThan',
        value: 5,
      },
    },
    'SELECT count(*) FROM orders WHERE julianday(delivered_at) - julianday(placed_at) > 5',
  ),
  figures(
    'What is the return rate in each category?',
    {
      collectionName: 'order_items',
      measures: {
        orders: { countDistinct: 'order_id' },
        returned: {
          countDistinct: 'order_id',
          where: { field: 'order:status', operator: 'Equal', value: 'returned' },
        },
        return_rate: { ratio: ['returned', 'orders'] },
      },
      groups: ['product:category:name'],
    },
    `SELECT c.name, count(DISTINCT CASE WHEN status = 'returned' THEN order_id END) * 1.0 / count(DISTINCT order_id)
     FROM ${itemsByCategory} GROUP BY 1`,
  ),
  figures(
    'What was the revenue per quarter this year, without cancelled orders?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', granularity: 'quarter' }],
      filters: [
        { field: 'placed_at', op: '>=', value: thisYear },
        { field: 'status', op: '!=', value: 'cancelled' },
      ],
    },
    `SELECT ${quarter('placed_at')}, sum(total) FROM orders
     WHERE placed_at >= '${thisYear}' AND status <> 'cancelled' GROUP BY 1`,
  ),
  figures(
    'How many products cost up to 50, up to 200, and more?',
    {
      collectionName: 'products',
      measures: { products: { count: true } },
      groups: [{ field: 'price', ranges: [{ from: 0, to: 50 }, { from: 50, to: 200 }, { from: 200 }] }],
    },
    'SELECT count(*) FROM products GROUP BY (price >= 50) + (price >= 200)',
  ),
  ranked(
    figures(
      'Who brought us the most new customers?',
      {
        collectionName: 'customers',
        measures: { referrals: { count: true } },
        groups: ['referred_by.email'],
        filters: { field: 'referred_by_id', operator: 'IsNotNull' },
        sort: [{ measure: 'referrals', ascending: false }, { group: 0 }],
        limit: 5,
      },
      `SELECT r.email, count(*) FROM customers c JOIN customers r ON r.id = c.referred_by_id
       GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
    ),
  ),
  figures(
    'How many products does each supplier deliver, also those with none?',
    { collectionName: 'suppliers', measures: { products: { count: 'products' } }, groups: ['name'] },
    `SELECT s.name, count(p.id) FROM suppliers s LEFT JOIN products p ON p.supplier_id = s.id GROUP BY 1`,
  ),
  figures(
    'How much do companies spend, and how much private customers?',
    {
      collectionName: 'orders',
      measures: {
        business: { sum: 'total', filters: { field: 'customer:company', operator: 'Present' } },
        private: { sum: 'total', filters: { field: 'customer:company', operator: 'Missing' } },
      },
    },
    `SELECT sum(CASE WHEN company <> '' THEN total END), sum(CASE WHEN company IS NULL THEN total END)
     FROM orders JOIN customers c ON c.id = customer_id`,
  ),
  figures(
    'How many pieces does an average order contain?',
    {
      collectionName: 'order_items',
      measures: {
        items: { sum: 'quantity' },
        orders: { countDistinct: 'order_id' },
        per_order: { ratio: { numerator: 'items', denominator: 'orders' } },
      },
    },
    'SELECT sum(quantity) * 1.0 / count(DISTINCT order_id) FROM order_items',
  ),
  figures(
    'How many customers placed ten orders or more?',
    {
      collectionName: 'customers',
      operation: 'count',
      filters: { count: 'orders', operator: 'GreaterThanOrEqual', value: 10 },
    },
    'SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id HAVING count(*) >= 10)',
  ),
  ranked(
    records(
      'Which customers spent more than 5000 euros in total?',
      {
        collectionName: 'customers',
        fields: ['email', { name: 'spent', sum: 'orders:total' }],
        filters: { field: 'spent', operator: 'GreaterThan', value: 5000 },
        sort: [{ field: 'spent', ascending: false }],
        pagination: { size: 100 },
      },
      `SELECT email, sum(total) FROM customers c JOIN orders o ON customer_id = c.id
       GROUP BY c.id HAVING sum(total) > 5000 ORDER BY 2 DESC LIMIT 100`,
    ),
  ),
  figures(
    'How many customers have not ordered for half a year?',
    {
      collectionName: 'customers',
      operation: 'count',
      filters: { none: 'orders', where: { field: 'placed_at', operator: 'After', value: daysAgo(180) } },
    },
    `SELECT count(*) FROM customers
     WHERE id NOT IN (SELECT customer_id FROM orders WHERE placed_at > '${daysAgo(180)}')`,
  ),
];
