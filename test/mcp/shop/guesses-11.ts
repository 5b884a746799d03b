// Twelve of sixty first guesses that were written before they ran: the ones that were not answered as meant, nor refused
// with the call to send. The other forty-eight were.
import { figures, type Guess, monthOf, records } from './guess.ts';

const day = (column: string) => `julianday(${column})`;

export const latestGuesses: readonly Guess[] = [
  figures(
    'How many days on average from placing to shipping, per month?',
    {
      collectionName: 'orders',
      measures: { days_to_ship: { avg: { days: ['placed_at', 'shipped_at'] } } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      filters: { field: 'shipped_at', operator: 'Present' },
    },
    `SELECT ${monthOf('placed_at')}, avg(${day('shipped_at')} - ${day('placed_at')}) FROM orders WHERE shipped_at NOT NULL GROUP BY 1`,
  ),
  records(
    'Which orders took longer than 5 days from shipping to delivery?',
    {
      collectionName: 'orders',
      fields: [
        'number',
        { name: 'transit_days', expression: { dateDiff: ['shipped_at', 'delivered_at'], unit: 'day' } },
      ],
      filters: { field: 'transit_days', operator: 'GreaterThan', value: 5.8 },
      pagination: { size: 100 },
    },
    `SELECT number, ${day('delivered_at')} - ${day('shipped_at')} FROM orders WHERE ${day('delivered_at')} - ${day('shipped_at')} > 5.8`,
  ),
  records(
    'Which customers used a coupon on every order they placed?',
    {
      collectionName: 'customers',
      fields: ['id', 'last_name', { name: 'orders', count: 'orders' }],
      filters: {
        aggregator: 'And',
        conditions: [{ some: 'orders' }, { every: 'orders', where: { field: 'coupon', operator: 'Present' } }],
      },
      pagination: { size: 100 },
    },
    `SELECT c.id, last_name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY 1 HAVING count(*) = count(nullif(coupon, ''))`,
  ),
  figures(
    "Which order lines were sold cheaper than today's list price?",
    {
      collectionName: 'order_items',
      measures: {
        lines: { count: true },
        discount: { sum: { times: ['quantity', { minus: ['product:price', 'unit_price'] }] } },
      },
      filters: { field: 'unit_price', operator: 'LessThan', valueField: 'product:price' },
    },
    'SELECT count(*), sum(quantity * (price - unit_price)) FROM order_items i JOIN products p ON p.id = product_id WHERE unit_price < price',
  ),
  records(
    'How many products, and how many discontinued ones, does each supplier have?',
    {
      collectionName: 'suppliers',
      fields: [
        'name',
        { name: 'products', count: 'products' },
        { name: 'discontinued', count: 'products', where: { field: 'discontinued_at', operator: 'Present' } },
      ],
      pagination: { size: 100 },
    },
    'SELECT s.name, count(p.id), count(p.discontinued_at) FROM suppliers s LEFT JOIN products p ON p.supplier_id = s.id GROUP BY s.id',
  ),
  figures(
    'Show revenue by calendar month with one column per year.',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [
        { field: 'placed_at', part: 'Month' },
        { field: 'placed_at', part: 'Year' },
      ],
      sort: [{ group: 0 }, { group: 1 }],
    },
    "SELECT CAST(strftime('%m', placed_at) AS INTEGER), strftime('%Y-01-01', placed_at), sum(total) FROM orders GROUP BY 1, 2",
  ),
  records(
    'For which orders does the sum of the lines plus shipping differ from the total?',
    {
      collectionName: 'orders',
      fields: ['number', { name: 'items_total', sum: { times: ['order_items:quantity', 'order_items:unit_price'] } }],
      filters: { field: 'total', operator: 'NotEqual', value: { plus: ['items_total', 'shipping_fee'] } },
    },
    `SELECT number, sum(quantity * unit_price) FROM orders o JOIN order_items i ON i.order_id = o.id GROUP BY o.id
     HAVING round(total - shipping_fee - sum(quantity * unit_price), 2) <> 0`,
  ),
  figures(
    'What share of our customers ordered more than once?',
    {
      collectionName: 'customers',
      measures: {
        customers: { count: true, where: { some: 'orders' } },
        repeat: { count: true, where: { field: { count: 'orders' }, operator: 'GreaterThan', value: 1 } },
        repeat_rate: { ratio: ['repeat', 'customers'] },
      },
    },
    'SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id HAVING count(*) > 1)',
  ),
  figures(
    'How many customers have not ordered in the last 12 months but did before?',
    {
      collectionName: 'customers',
      measures: { lost: { count: true } },
      filters: {
        aggregator: 'And',
        conditions: [
          { some: 'orders' },
          { none: 'orders', where: { field: 'placed_at', operator: 'PreviousXMonths', value: 12 } },
        ],
      },
    },
    "SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id HAVING max(placed_at) < date('now', '-12 months'))",
  ),
  figures(
    'How did revenue grow against the same month a year earlier?',
    {
      collectionName: 'orders',
      measures: {
        revenue: { sum: 'total' },
        last_year: { previous: 'revenue', offset: 12 },
        growth_pct: { change: 'revenue', periods: 12, percent: true },
      },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
    },
    `WITH m AS (SELECT ${monthOf('placed_at')} AS month, sum(total) AS v FROM orders GROUP BY 1)
     SELECT m.month, m.v, b.v, (m.v - b.v) / b.v FROM m LEFT JOIN m b ON b.month = date(m.month, '-12 months')`,
  ),
  figures(
    'How does revenue split by age group of the customer?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, customers: { countDistinct: 'customer_id' } },
      groups: [{ expression: { years: ['customer:birth_date', 'now'] }, ranges: [25, 35, 45, 55, 65] }],
    },
    'SELECT sum(total), count(DISTINCT customer_id) FROM orders',
  ),
  figures(
    'Which 5 products bring the most revenue this quarter, and what do all the others bring together?',
    {
      collectionName: 'order_items',
      measures: { revenue: { sum: { times: ['quantity', 'unit_price'] } } },
      groups: ['product:name'],
      filters: { field: 'order:placed_at', operator: 'PreviousQuarterToDate' },
      top: { limit: 5, measure: 'revenue', others: true },
    },
    `SELECT p.name, sum(quantity * unit_price) FROM order_items i JOIN products p ON p.id = product_id JOIN orders o ON o.id = order_id
     WHERE placed_at >= date('now', 'start of month', '-' || ((strftime('%m', 'now') - 1) % 3) || ' months') GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
  ),
];
