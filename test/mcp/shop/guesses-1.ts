// First guesses of a model that has read tools/list and describeCollection of the demo shop, and nothing else.
import { figures, type Guess, ranked, records } from './guess.ts';

const month = "strftime('%Y-%m-01', placed_at)";

export const simpleGuesses: readonly Guess[] = [
  figures(
    'How much revenue did we make each month?',
    {
      collectionName: 'orders',
      measures: [{ name: 'revenue', sum: 'total' }],
      groups: [{ field: 'placed_at', bucket: 'Month' }],
    },
    `SELECT ${month}, sum(total) FROM orders GROUP BY 1`,
  ),
  ranked(
    figures(
      'Which categories sell best?',
      {
        collectionName: 'order_items',
        measures: { revenue: { sum: { times: ['unit_price', 'quantity'] } } },
        groupBy: ['product:category:name'],
        sort: [{ measure: 'revenue', ascending: false }],
      },
      `SELECT c.name, sum(unit_price * quantity) FROM order_items JOIN products p ON p.id = product_id
       JOIN categories c ON c.id = category_id GROUP BY 1 ORDER BY 2 DESC`,
    ),
  ),
  figures(
    'How many orders are in each status?',
    { collection: 'orders', metrics: [{ count: '*' }], group_by: 'status' },
    'SELECT status, count(*) FROM orders GROUP BY 1',
  ),
  figures(
    'What share of our orders came back?',
    {
      collectionName: 'orders',
      measures: {
        returned: { count: true, where: { status: 'returned' } },
        orders: { count: true },
        rate: { ratio: ['returned', 'orders'] },
      },
    },
    "SELECT sum(status = 'returned'), count(*), avg(status = 'returned') FROM orders",
  ),
  figures(
    'What is the median order total?',
    { collectionName: 'orders', operation: 'median', field: 'total' },
    `SELECT avg(total) FROM (SELECT total, row_number() OVER (ORDER BY total) n, count(*) OVER () c FROM orders)
     WHERE n IN ((c + 1) / 2, (c + 2) / 2)`,
  ),
  figures(
    'On which weekdays do people order?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: [{ field: 'placed_at', part: 'Weekday' }],
    },
    "SELECT count(*) FROM orders GROUP BY strftime('%w', placed_at)",
  ),
  figures(
    'How many orders are under 50, from 50 to 100, from 100 to 250 and above?',
    { collectionName: 'orders', measures: { count: true }, groups: [{ field: 'total', ranges: [50, 100, 250] }] },
    'SELECT count(*) FROM orders GROUP BY (total >= 50) + (total >= 100) + (total >= 250)',
  ),
  figures(
    'How many different customers bought each month?',
    {
      collectionName: 'orders',
      measures: { customers: { count_distinct: 'customer_id' } },
      groups: [{ field: 'placed_at', interval: 'month' }],
    },
    `SELECT ${month}, count(DISTINCT customer_id) FROM orders GROUP BY 1`,
  ),
  figures(
    'Which countries have more than 300 orders?',
    {
      collectionName: 'orders',
      measures: { orders: 'count' },
      groupBy: 'customer.country',
      having: 'orders > 300',
    },
    'SELECT country, count(*) FROM orders JOIN customers c ON c.id = customer_id GROUP BY 1 HAVING count(*) > 300',
  ),
  figures(
    'What did we earn per month, in total?',
    { collectionName: 'orders', measures: ['sum(total)'], groups: ["date_trunc('month', placed_at)"] },
    `SELECT ${month}, sum(total) FROM orders GROUP BY 1`,
  ),
  ranked(
    figures(
      'Which three statuses bring the most money?',
      {
        collectionName: 'orders',
        measures: { revenue: 'sum(total)' },
        groups: ['status'],
        order_by: 'revenue desc',
        limit: '3',
      },
      'SELECT status, sum(total) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
    ),
  ),
  ranked(
    figures(
      'How much revenue came with each coupon?',
      { collectionName: 'orders', measures: { revenue: { sum: 'total' } }, groups: ['coupon'], orderBy: '-revenue' },
      'SELECT coupon, sum(total) FROM orders GROUP BY 1 ORDER BY 2 DESC',
    ),
  ),
  figures(
    'What is the order volume per status in euros?',
    { collectionName: 'orders', aggregations: [{ field: 'total', agg: 'sum' }], groups: ['status'] },
    'SELECT status, sum(total) FROM orders GROUP BY 1',
  ),
  figures(
    'How many orders above 100 are in each status?',
    {
      collectionName: 'orders',
      measures: '{"orders":{"count":true}}',
      groups: '["status"]',
      filters: '{"field":"total","operator":"GreaterThan","value":100}',
    },
    'SELECT status, count(*) FROM orders WHERE total > 100 GROUP BY 1',
  ),
  ranked(
    figures(
      'Which five countries order most often?',
      { collectionName: 'orders', operation: 'Count', groups: ['customer:country'], order: 'desc', limit: 5 },
      'SELECT country, count(*) FROM orders JOIN customers c ON c.id = customer_id GROUP BY 1 ORDER BY 2 DESC LIMIT 5',
    ),
  ),
  figures(
    'How does the average order value develop per year?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, orders: { count: true }, aov: { ratio: ['revenue', 'orders'] } },
      groups: [{ field: 'placed_at', bucket: 'Year' }],
    },
    "SELECT strftime('%Y-01-01', placed_at), sum(total), count(*), avg(total) FROM orders GROUP BY 1",
  ),
  figures(
    'How many customers joined each year, and how many of them take the newsletter?',
    {
      collectionName: 'customers',
      measures: {
        customers: { count: true },
        subscribed: { count: true, filter: { field: 'newsletter', operator: 'Equal', value: true } },
      },
      groups: [{ field: 'created_at', bucket: 'Year' }],
    },
    "SELECT strftime('%Y-01-01', created_at), count(*), sum(newsletter) FROM customers GROUP BY 1",
  ),
  ranked(
    figures(
      'At what hours do orders come in?',
      {
        collectionName: 'orders',
        measures: { n: { count: true } },
        groups: [{ field: 'placed_at', part: 'hour' }],
        sort: [{ group: 0 }],
      },
      "SELECT CAST(strftime('%H', placed_at) AS INTEGER), count(*) FROM orders GROUP BY 1 ORDER BY 1",
    ),
  ),
  ranked(
    figures(
      'What is our stock worth at cost, in the ten largest categories?',
      {
        collectionName: 'products',
        measures: { value: { sum: 'stock * cost' } },
        groups: ['category:name'],
        sort: [{ measure: 'value', direction: 'desc' }],
        limit: 10,
      },
      `SELECT c.name, sum(stock * cost) FROM products p JOIN categories c ON c.id = category_id
       GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
    ),
  ),
  figures(
    'How many orders used a coupon?',
    { collectionName: 'orders', measures: { with_coupon: { count: 'coupon' }, all: { count: true } } },
    'SELECT count(coupon), count(*) FROM orders',
  ),
  figures(
    'When was the latest order placed?',
    { collectionName: 'orders', operation: 'max', field: 'placed_at' },
    'SELECT max(placed_at) FROM orders',
  ),
  figures(
    'When did each country order first and last?',
    {
      collectionName: 'orders',
      measures: { first: { min: 'placed_at' }, last: { max: 'placed_at' } },
      groups: ['customer.country'],
    },
    'SELECT country, min(placed_at), max(placed_at) FROM orders JOIN customers c ON c.id = customer_id GROUP BY 1',
  ),
  ranked(
    figures(
      'What was our best day ever?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' } },
        groups: [{ field: 'placed_at', bucket: 'Day' }],
        sort: [{ measure: 'revenue', desc: true }],
        limit: 1,
      },
      'SELECT date(placed_at), sum(total) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
    ),
  ),
  figures(
    'What was the turnover per month?',
    {
      collectionName: 'orders',
      operation: 'sum',
      field: 'total',
      groupBy: { field: 'placed_at', operation: 'Month' },
    },
    `SELECT ${month}, sum(total) FROM orders GROUP BY 1`,
  ),
  figures(
    'Can you show me monthly sales?',
    {
      collectionName: 'orders',
      dimensions: [{ field: 'placed_at', granularity: 'month' }],
      measures: [{ field: 'total', aggregation: 'SUM', alias: 'sales' }],
    },
    `SELECT ${month}, sum(total) FROM orders GROUP BY 1`,
  ),
  figures(
    'How many orders has each status?',
    { collectionName: 'orders', measures: { orders: { count: 'id' } }, groups: 'status' },
    'SELECT status, count(*) FROM orders GROUP BY 1',
  ),
  figures(
    'How many orders were returned?',
    { collectionName: 'orders', aggregate: 'count', where: { status: 'returned' } },
    "SELECT count(*) FROM orders WHERE status = 'returned'",
  ),
  records(
    'In which countries do we have suppliers?',
    { collectionName: 'suppliers', fields: ['country'], distinct: true },
    'SELECT DISTINCT country FROM suppliers',
  ),
  ranked(
    records(
      'Which five products have the highest margin?',
      {
        collectionName: 'products',
        fields: ['sku', { name: 'margin', expression: 'price - cost' }],
        sort: '-margin',
        limit: 5,
      },
      'SELECT sku, round(price - cost, 2) FROM products ORDER BY 2 DESC LIMIT 5',
    ),
  ),
  ranked(
    records(
      'Which products earn least per piece?',
      {
        collectionName: 'products',
        fields: ['sku', 'price', { name: 'margin', expression: { minus: ['price', 'cost'] } }],
        sort: [
          { field: 'margin', order: 'asc' },
          { field: 'sku', order: 'asc' },
        ],
        pagination: { limit: 5 },
      },
      'SELECT sku, price, round(price - cost, 2) FROM products ORDER BY 3, 1 LIMIT 5',
    ),
  ),
];
