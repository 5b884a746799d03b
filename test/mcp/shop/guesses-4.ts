// A second set of first guesses, written before it ran and after all repairs.
import { daysAgo, figures, type Guess, monthOf, quarterOf, ranked, records } from './guess.ts';

const byCountry = 'orders o JOIN customers u ON u.id = o.customer_id';

export const lastGuesses: readonly Guess[] = [
  figures(
    'How many orders and how much revenue per country?',
    {
      collection: 'orders',
      group_by: ['customer.country'],
      metrics: { orders: { fn: 'count' }, revenue: { fn: 'sum', field: 'total' } },
    },
    `SELECT country, count(*), sum(total) FROM ${byCountry} GROUP BY 1`,
  ),
  figures(
    'What is the minimum, average and maximum price in each category?',
    {
      collectionName: 'products',
      measures: [{ min: 'price' }, { avg: 'price' }, { max: 'price' }],
      groups: [{ field: 'category:name' }],
    },
    'SELECT c.name, min(price), avg(price), max(price) FROM products p JOIN categories c ON c.id = category_id GROUP BY 1',
  ),
  ranked(
    figures(
      'Which months were the best three?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' } },
        groups: [{ field: 'placed_at', by: 'month' }],
        sort: { revenue: -1 },
        limit: 3,
      },
      `SELECT ${monthOf('placed_at')}, sum(total) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 3`,
    ),
  ),
  figures(
    'How many orders did we ship on the day they were placed?',
    {
      collectionName: 'orders',
      operation: 'count',
      filters: {
        field: { difference: ['placed_at', 'shipped_at'], unit: 'hour' },
        operator: 'LessThan',
        value: 24,
      },
    },
    'SELECT count(*) FROM orders WHERE (julianday(shipped_at) - julianday(placed_at)) * 24 < 24',
  ),
  figures(
    'How many orders were paid but not yet shipped?',
    { collectionName: 'orders', operation: 'count', filters: "status = 'paid' AND shipped_at IS NULL" },
    "SELECT count(*) FROM orders WHERE status = 'paid' AND shipped_at IS NULL",
  ),
  figures(
    'What is the cancellation rate per month?',
    {
      collectionName: 'orders',
      measures: {
        cancelled: { countIf: { field: 'status', operator: 'Equal', value: 'cancelled' } },
        total: { count: true },
        cancellation_rate: 'cancelled / total',
      },
      groups: ['placed_at:month'],
    },
    `SELECT ${monthOf('placed_at')}, avg(status = 'cancelled') FROM orders GROUP BY 1`,
  ),
  figures(
    'What is the 95th percentile of order totals per status?',
    { collectionName: 'orders', measures: { p95: { percentile: { field: 'total', p: 0.95 } } }, groups: ['status'] },
    `SELECT s, (SELECT max(CASE WHEN n = floor(t) THEN v END) + (max(t) - floor(max(t))) * (max(CASE WHEN n = ceil(t)
       THEN v END) - max(CASE WHEN n = floor(t) THEN v END)) FROM (SELECT total v, row_number() OVER (ORDER BY total) - 1 n,
       (count(*) OVER () - 1) * 0.95 t FROM orders WHERE status = s)) FROM (SELECT DISTINCT status s FROM orders)`,
  ),
  figures(
    'How much more do we sell this year than the year before?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', bucket: 'Year' }],
      compare: 'previous',
    },
    `SELECT y, r, lag(r) OVER (ORDER BY y) FROM (SELECT strftime('%Y-01-01', placed_at) y, sum(total) r FROM orders
     GROUP BY 1)`,
  ),
  figures(
    'How many orders came in since the day 30 days ago, by status?',
    {
      collectionName: 'orders',
      measures: { n: { count: '*' } },
      groups: ['status'],
      filters: { placed_at: { gte: daysAgo(30) } },
    },
    `SELECT status, count(*) FROM orders WHERE placed_at >= '${daysAgo(30)}' GROUP BY 1`,
  ),
  ranked(
    records(
      'Who are the five customers with the highest lifetime value?',
      {
        collectionName: 'customers',
        fields: ['first_name', 'last_name', 'sum(orders.total) as lifetime_value'],
        sort: 'lifetime_value desc',
        limit: 5,
      },
      `SELECT first_name, last_name, (SELECT sum(total) FROM orders WHERE customer_id = u.id) v FROM customers u
       ORDER BY v DESC LIMIT 5`,
    ),
  ),
  records(
    'Which products have more than eight reviews?',
    {
      collectionName: 'products',
      fields: ['name', { name: 'review_count', count: 'reviews' }],
      filters: { review_count: { gt: 8 } },
      pagination: { size: 200 },
    },
    `SELECT name, count(*) FROM products p JOIN reviews r ON product_id = p.id GROUP BY p.id HAVING count(*) > 8`,
  ),
  figures(
    'How many products does each supplier country deliver, with the average lead time?',
    {
      collectionName: 'products',
      measures: { products: { count: true }, lead: { average: 'supplier.lead_time_days' } },
      groups: ['supplier.country'],
    },
    `SELECT s.country, count(*), avg(lead_time_days) FROM products p LEFT JOIN suppliers s ON s.id = supplier_id
     GROUP BY 1`,
  ),
  figures(
    'Which share of customers has a company?',
    {
      collectionName: 'customers',
      measures: {
        with_company: { count: 'company' },
        customers: { count: true },
        share: { ratio: 'with_company/customers' },
      },
    },
    'SELECT count(company), count(*), count(company) * 1.0 / count(*) FROM customers',
  ),
  figures(
    'In which quarter did we gain how many customers, cumulatively?',
    {
      collectionName: 'customers',
      measures: { new_customers: { count: true }, cumulative_customers: { cumulative: 'new_customers' } },
      groups: [{ field: 'created_at', dateTrunc: 'quarter' }],
      order_by: 'created_at',
    },
    `SELECT q, n, sum(n) OVER (ORDER BY q) FROM (SELECT ${quarterOf('created_at')} q, count(*) n FROM customers GROUP BY 1)`,
  ),
  figures(
    'Which five products of each category sell most?',
    {
      collectionName: 'order_items',
      measures: { units: { sum: 'quantity' }, revenue: { sum: 'unit_price * quantity' } },
      groups: ['product.category.name', 'product.sku'],
      top: { n: 5, per: ['product.category.name'], sort: { revenue: 'desc' } },
      limit: 500,
    },
    `SELECT c, sku, r FROM (SELECT c.name c, sku, sum(unit_price * quantity) r, row_number() OVER (PARTITION BY c.name
       ORDER BY sum(unit_price * quantity) DESC) n FROM order_items JOIN products p ON p.id = product_id
     JOIN categories c ON c.id = category_id GROUP BY 1, 2) WHERE n <= 5`,
  ),
  figures(
    'How many units do we sell per order size, small up to 2, medium up to 5, large?',
    {
      collectionName: 'order_items',
      measures: { lines: { count: true } },
      groups: [
        {
          field: 'quantity',
          ranges: [
            { label: 'small', max: 2 },
            { label: 'medium', min: 2, max: 5 },
            { label: 'large', min: 5 },
          ],
        },
      ],
    },
    'SELECT count(*) FROM order_items GROUP BY (quantity >= 2) + (quantity >= 5)',
  ),
  figures(
    'What is the average order value of customers with and without newsletter, without cancelled ones?',
    {
      collectionName: 'orders',
      aggregation: 'avg',
      field: 'total',
      groupBy: 'customer.newsletter',
      where: { status: { $ne: 'cancelled' } },
    },
    `SELECT newsletter, avg(total) FROM ${byCountry} WHERE status <> 'cancelled' GROUP BY 1`,
  ),
  figures(
    'What is the average number of different products per order?',
    {
      collectionName: 'order_items',
      measures: { average: { avg: { count: true } } },
      over: 'order_id',
    },
    'SELECT avg(n) FROM (SELECT count(*) n FROM order_items GROUP BY order_id)',
  ),
  figures(
    'How many countries have more than 100 customers?',
    {
      collectionName: 'customers',
      groups: ['country'],
      measures: { customers: { count: true } },
      having: { count: { greater_than: 100 } },
    },
    'SELECT country, count(*) FROM customers GROUP BY 1 HAVING count(*) > 100',
  ),
  figures(
    'How many orders were delivered within three days?',
    {
      collectionName: 'orders',
      measures: {
        fast: { count: true, where: 'delivered_at - placed_at <= 3' },
        all: { count: 'delivered_at' },
      },
    },
    'SELECT sum(julianday(delivered_at) - julianday(placed_at) <= 3), count(delivered_at) FROM orders',
  ),
];
