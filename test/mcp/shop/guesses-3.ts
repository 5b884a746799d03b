// First guesses that were written after the repairs of the others, and before they ran.
import { figures, type Guess, ranked, records } from './guess.ts';

const quarter = (column: string) =>
  `strftime('%Y-', ${column}) || substr('01040710', (CAST(strftime('%m', ${column}) AS INTEGER) - 1) / 3 * 2 + 1, 2) || '-01'`;

export const freshGuesses: readonly Guess[] = [
  ranked(
    figures(
      'Which ten countries bring the most revenue?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' } },
        groups: ['customer:country'],
        sort: [{ revenue: 'desc' }],
        limit: 10,
      },
      `SELECT country, sum(total) FROM orders JOIN customers c ON c.id = customer_id
       GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
    ),
  ),
  figures(
    'What is the average rating of products with at least eight reviews?',
    {
      collection: 'reviews',
      measures: { avg: { avg: 'rating' }, n: { count: '*' } },
      groups: ['product:name'],
      having: { n: { '>=': 8 } },
    },
    `SELECT name, avg(rating), count(*) FROM reviews JOIN products p ON p.id = product_id
     GROUP BY 1 HAVING count(*) >= 8`,
  ),
  figures(
    'How many unique buyers do we have per quarter?',
    {
      collectionName: 'orders',
      measures: { buyers: 'countDistinct(customer_id)' },
      groups: [{ column: 'placed_at', truncate: 'quarter' }],
    },
    `SELECT ${quarter('placed_at')}, count(DISTINCT customer_id) FROM orders GROUP BY 1`,
  ),
  figures(
    'How many hours does it typically take us to answer a review?',
    {
      collectionName: 'reviews',
      measures: { hours: { median: { dateDiff: ['created_at', 'answered_at', 'hour'] } } },
    },
    `SELECT avg(h) FROM (SELECT h, row_number() OVER (ORDER BY h) n, count(*) OVER () c
       FROM (SELECT (julianday(answered_at) - julianday(created_at)) * 24 h FROM reviews WHERE answered_at IS NOT NULL))
     WHERE n IN ((c + 1) / 2, (c + 2) / 2)`,
  ),
  figures(
    'What is the return rate in each country?',
    {
      collectionName: 'orders',
      measures: { rate: { ratio: [{ count: true, where: { status: 'returned' } }, { count: true }] } },
      groups: ['customer.country'],
    },
    "SELECT country, avg(status = 'returned') FROM orders JOIN customers c ON c.id = customer_id GROUP BY 1",
  ),
  figures(
    'How much do we earn with and without coupons?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'coupon', operator: 'Present' }],
    },
    'SELECT sum(total) FROM orders GROUP BY coupon IS NULL',
  ),
  figures(
    'How many customers have under 1000, up to 5000 and more loyalty points?',
    {
      collectionName: 'customers',
      measures: { customers: { count: true } },
      groups: [{ field: 'loyalty_points', buckets: [1000, 5000] }],
    },
    'SELECT count(*) FROM customers GROUP BY (loyalty_points >= 1000) + (loyalty_points >= 5000)',
  ),
  ranked(
    figures(
      'How does our number of customers grow per quarter?',
      {
        collectionName: 'customers',
        measures: { new: { count: true }, total: { running: { count: true } } },
        groups: [{ created_at: 'Quarter' }],
        sort: ['created_at'],
      },
      `SELECT q, n, sum(n) OVER (ORDER BY q) FROM (SELECT ${quarter('created_at')} q, count(*) n FROM customers
       GROUP BY 1) ORDER BY 1`,
    ),
  ),
  ranked(
    figures(
      'What is the largest order of each country?',
      {
        collectionName: 'orders',
        measures: { largest: { max: 'total' } },
        groupBy: ['customer.country'],
        sort: 'largest:desc',
      },
      'SELECT country, max(total) FROM orders JOIN customers c ON c.id = customer_id GROUP BY 1 ORDER BY 2 DESC',
    ),
  ),
  ranked(
    records(
      'What were our last five orders, by whom, and with how many pieces?',
      {
        collectionName: 'orders',
        fields: ['number', 'customer.last_name', { name: 'pieces', sum: 'order_items.quantity' }],
        sort: [{ field: 'placed_at', descending: true }],
        pagination: { size: 5 },
      },
      `SELECT number, last_name, (SELECT sum(quantity) FROM order_items WHERE order_id = o.id) FROM orders o
       JOIN customers c ON c.id = customer_id ORDER BY placed_at DESC LIMIT 5`,
    ),
  ),
  records(
    'Which products cost us more than 60 percent of their price?',
    {
      collectionName: 'products',
      fields: ['sku'],
      filters: { expression: { divide: ['cost', 'price'] }, operator: '>', value: 0.6 },
      pagination: { size: 1000 },
    },
    'SELECT sku FROM products WHERE cost * 1.0 / price > 0.6',
  ),
  figures(
    'How many of our orders take more than four days?',
    {
      collectionName: 'orders',
      measures: {
        late: {
          count: true,
          where: {
            expression: { difference: ['placed_at', 'delivered_at'], unit: 'days' },
            operator: 'GreaterThan',
            value: 4,
          },
        },
        all: { count: true },
      },
    },
    'SELECT sum(julianday(delivered_at) - julianday(placed_at) > 4), count(*) FROM orders',
  ),
  figures(
    'How many customers have never ordered anything?',
    { collectionName: 'customers', operation: 'count', filters: { field: 'orders', operator: 'Missing' } },
    'SELECT count(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)',
  ),
  figures(
    'How many orders of each status do we have?',
    { collectionName: 'orders', select: ['status', 'count(*) as n'], groupBy: 'status' },
    'SELECT status, count(*) FROM orders GROUP BY 1',
  ),
  figures(
    'What share of the revenue does each department have?',
    {
      collectionName: 'order_items',
      measures: { revenue: { sum: { multiply: ['quantity', 'unit_price'] } }, pct: { share: 'revenue' } },
      groups: ['product:category:parent:name'],
    },
    `SELECT d.name, sum(quantity * unit_price), sum(quantity * unit_price) /
       (SELECT sum(quantity * unit_price) FROM order_items) FROM order_items JOIN products p ON p.id = product_id
     JOIN categories c ON c.id = category_id LEFT JOIN categories d ON d.id = c.parent_id GROUP BY 1`,
  ),
  figures(
    'How many pieces are in an order on average?',
    {
      collectionName: 'order_items',
      groups: ['order_id'],
      measures: { pieces: { sum: 'quantity' } },
      over: { measures: { average: { avg: 'pieces' } } },
    },
    'SELECT avg(q) FROM (SELECT sum(quantity) q FROM order_items GROUP BY order_id)',
  ),
  figures(
    'What is the best product of each category?',
    {
      collectionName: 'order_items',
      measures: { revenue: { sum: 'quantity * unit_price' } },
      groups: ['product:category:name', 'product:name'],
      top: { limit: 1, per: 'product:category:name', orderBy: 'revenue' },
    },
    `SELECT category, product, r FROM (SELECT c.name category, p.name product, sum(quantity * unit_price) r,
       row_number() OVER (PARTITION BY c.name ORDER BY sum(quantity * unit_price) DESC) n
     FROM order_items JOIN products p ON p.id = product_id JOIN categories c ON c.id = category_id GROUP BY 1, 2)
     WHERE n = 1`,
  ),
  figures(
    'How does each month compare with the same month a year ago?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      compare: { type: 'previous_year' },
    },
    `SELECT m, r, lag(r, 12) OVER (ORDER BY m) FROM (SELECT strftime('%Y-%m-01', placed_at) m, sum(total) r
     FROM orders GROUP BY 1)`,
  ),
  figures(
    'Which weekday brings the most revenue?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', datePart: 'dow' }],
    },
    "SELECT sum(total) FROM orders GROUP BY strftime('%w', placed_at)",
  ),
  figures(
    'How many German orders are between 100 and 200?',
    {
      collectionName: 'orders',
      operation: 'count',
      filters: { and: [{ total: { between: [100, 200] } }, { 'customer.country': 'DE' }] },
    },
    `SELECT count(*) FROM orders JOIN customers c ON c.id = customer_id
     WHERE total BETWEEN 100 AND 200 AND country = 'DE'`,
  ),
];
