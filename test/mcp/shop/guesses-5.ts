// A third set of first guesses, written before it ran and after the repairs for the others.
import { daysAgo, figures, type Guess, monthOf, ranked, records } from './guess.ts';

const byCountry = 'orders o JOIN customers u ON u.id = o.customer_id';

export const thirdGuesses: readonly Guess[] = [
  figures(
    'How do orders, revenue and average order value develop by quarter?',
    {
      collectionName: 'orders',
      measures: {
        orders: { operation: 'count' },
        revenue: { operation: 'sum', field: 'total' },
        aov: { operation: 'avg', field: 'total' },
      },
      groups: [{ field: 'placed_at', bucket: 'quarter', alias: 'quarter' }],
    },
    `SELECT count(*), sum(total), avg(total) FROM orders
     GROUP BY strftime('%Y', placed_at), (strftime('%m', placed_at) - 1) / 3`,
  ),
  figures(
    'Which customers placed more than fifteen orders?',
    {
      collectionName: 'orders',
      measures: { n: { count: true } },
      groups: ['customer:email'],
      filters: { measure: 'n', operator: 'GreaterThan', value: 15 },
    },
    `SELECT email, count(*) FROM ${byCountry} GROUP BY 1 HAVING count(*) > 15`,
  ),
  figures(
    'How much revenue do we make per day of the week and hour?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [
        { field: 'placed_at', part: 'DayOfWeek' },
        { field: 'placed_at', part: 'HourOfDay' },
      ],
      limit: 200,
    },
    "SELECT sum(total) FROM orders GROUP BY strftime('%w', placed_at), strftime('%H', placed_at)",
  ),
  ranked(
    figures(
      'Which ten products have the worst rating, with at least five reviews?',
      {
        collectionName: 'reviews',
        measures: { rating: { avg: 'rating' }, reviews: { count: true } },
        groups: ['product:sku'],
        having: { reviews: { $gte: 5 } },
        sort: [{ measure: 'rating', ascending: true }, { field: 'product:sku' }],
        limit: 10,
      },
      `SELECT sku, avg(rating), count(*) FROM reviews JOIN products p ON p.id = product_id GROUP BY 1
       HAVING count(*) >= 5 ORDER BY 2, 1 LIMIT 10`,
    ),
  ),
  figures(
    'What is the difference between order total and shipping fee, in total per status?',
    {
      collectionName: 'orders',
      measures: { net: { sum: { subtract: ['total', 'shipping_fee'] } } },
      groups: ['status'],
    },
    'SELECT status, sum(total - shipping_fee) FROM orders GROUP BY 1',
  ),
  figures(
    'How much revenue per country, and what percentage of the total?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, pct: { shareOfTotal: 'revenue' } },
      groups: [{ relation: 'customer', field: 'country' }],
    },
    `SELECT country, sum(total), sum(total) / (SELECT sum(total) FROM orders) FROM ${byCountry} GROUP BY 1`,
  ),
  figures(
    'How many orders did each customer segment place: newsletter or not, and company or not?',
    {
      collectionName: 'orders',
      measures: {
        newsletter: { count: true, where: { 'customer:newsletter': true } },
        company: { count: true, where: { 'customer:company': { not: null } } },
      },
    },
    `SELECT sum(newsletter), count(company) FROM ${byCountry}`,
  ),
  figures(
    'How many customers ordered in both of the last two years?',
    {
      collectionName: 'customers',
      operation: 'count',
      filters: {
        aggregator: 'And',
        conditions: [
          { some: 'orders', where: { field: 'placed_at', operator: 'LessThan', value: daysAgo(365) } },
          { some: 'orders', where: { field: 'placed_at', operator: 'GreaterThanOrEqual', value: daysAgo(365) } },
        ],
      },
    },
    `SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id
     HAVING min(placed_at) < '${daysAgo(365)}' AND max(placed_at) >= '${daysAgo(365)}')`,
  ),
  figures(
    'What is the average revenue per customer?',
    {
      collectionName: 'orders',
      measures: { per_customer: { ratio: [{ sum: 'total' }, { countDistinct: 'customer_id' }] } },
    },
    'SELECT sum(total) / count(DISTINCT customer_id) FROM orders',
  ),
  figures(
    'How does the running total of orders look in the last 90 days, week by week?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, running_total: { runningTotal: 'orders' } },
      groups: [{ field: 'placed_at', interval: '1 week' }],
      filters: { field: 'placed_at', operator: 'After', value: daysAgo(90) },
    },
    `SELECT w, n, sum(n) OVER (ORDER BY w) FROM (SELECT date(placed_at, 'weekday 0', '-6 days') w, count(*) n FROM orders
     WHERE placed_at > '${daysAgo(90)}' GROUP BY 1)`,
  ),
  figures(
    'Which five suppliers do we earn most with?',
    {
      collectionName: 'suppliers',
      measures: { revenue: { sum: 'products.order_items.unit_price' } },
      groups: ['name'],
    },
    `SELECT s.name, sum(unit_price) FROM order_items JOIN products p ON p.id = product_id
     JOIN suppliers s ON s.id = supplier_id GROUP BY 1`,
  ),
  ranked(
    records(
      'Which ten orders took longest from order to delivery?',
      {
        collectionName: 'orders',
        fields: ['number', { name: 'days', expression: { daysBetween: ['placed_at', 'delivered_at'] } }],
        filters: { field: 'delivered_at', operator: 'NotNull' },
        sort: [{ field: 'days', ascending: false }],
        pagination: { size: 10 },
      },
      `SELECT number, round(julianday(delivered_at) - julianday(placed_at), 6) FROM orders WHERE delivered_at IS NOT NULL
       ORDER BY 2 DESC, id DESC LIMIT 10`,
    ),
  ),
  records(
    'Which products are out of stock, but were ordered this month?',
    {
      collectionName: 'products',
      fields: ['sku'],
      filters: {
        stock: 0,
        order_items: { some: { order: { placed_at: { gte: daysAgo(60) } } } },
      },
      pagination: { size: 500 },
    },
    `SELECT sku FROM products WHERE stock = 0 AND id IN (SELECT product_id FROM order_items JOIN orders o ON o.id = order_id
     WHERE placed_at >= '${daysAgo(60)}')`,
  ),
  figures(
    'What is the share of five star reviews per year?',
    {
      collectionName: 'reviews',
      measures: {
        five_stars: { count: true, where: { rating: 5 } },
        all: { count: true },
        share: { divide: ['five_stars', 'all'] },
      },
      groups: [{ field: 'created_at', bucket: 'yearly' }],
    },
    "SELECT sum(rating = 5), count(*), avg(rating = 5) FROM reviews GROUP BY strftime('%Y', created_at)",
  ),
  figures(
    'How many orders per month came from Germany, France and Spain?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: ['customer:country', { field: 'placed_at', bucket: 'MONTH' }],
      filters: [{ field: 'customer:country', operator: 'in', value: 'DE,FR,ES' }],
      limit: 100,
    },
    `SELECT country, ${monthOf('placed_at')}, count(*) FROM ${byCountry} WHERE country IN ('DE', 'FR', 'ES') GROUP BY 1, 2`,
  ),
  figures(
    'What is the standard price spread: highest minus lowest price of each category?',
    {
      collectionName: 'products',
      measures: { highest: { max: 'price' }, lowest: { min: 'price' }, spread: { minus: ['highest', 'lowest'] } },
      groups: ['category:name'],
    },
    `SELECT c.name, max(price), min(price), max(price) - min(price) FROM products p JOIN categories c ON c.id = category_id
     GROUP BY 1`,
  ),
  figures(
    'How many customers have no orders, and how many have at least one?',
    {
      collectionName: 'customers',
      measures: {
        without: { count: true, where: { none: 'orders' } },
        with: { count: true, where: { some: 'orders' } },
      },
    },
    `SELECT sum(id NOT IN (SELECT customer_id FROM orders)), sum(id IN (SELECT customer_id FROM orders)) FROM customers`,
  ),
  figures(
    'What is the average of the totals of the orders per customer, over all customers?',
    {
      collectionName: 'orders',
      measures: { average_lifetime: { avg: { sum: 'total' } } },
      over: { groups: ['customer_id'] },
    },
    'SELECT avg(t) FROM (SELECT sum(total) t FROM orders GROUP BY customer_id)',
  ),
  figures(
    'How does revenue compare with the previous month, in the last months?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, previous: { lag: 'revenue' } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
    },
    `SELECT m, r, lag(r) OVER (ORDER BY m) FROM (SELECT ${monthOf('placed_at')} m, sum(total) r FROM orders GROUP BY 1)`,
  ),
  figures(
    'How many orders were there on each day of the last week?',
    {
      collectionName: 'orders',
      operation: 'count',
      groups: [{ field: 'placed_at', bucket: 'Day' }],
      filters: { field: 'placed_at', operator: 'PreviousXDays', value: '7' },
    },
    `SELECT date(placed_at), count(*) FROM orders WHERE date(placed_at) BETWEEN date('now', '-7 days') AND date('now', '-1 day')
     GROUP BY 1`,
  ),
];
