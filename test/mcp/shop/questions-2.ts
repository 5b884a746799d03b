// Further questions of an analyst, with one call each.
import { daysAgo, figures, type Guess, monthOf, ranked, records } from './guess.ts';

const items = `order_items i JOIN orders o ON o.id = i.order_id JOIN products p ON p.id = i.product_id
  JOIN categories c ON c.id = p.category_id`;
const hours = (from: string, to: string) => `(julianday(${to}) - julianday(${from})) * 24`;
const today = daysAgo(0);

export const moreQuestions: readonly Guess[] = [
  figures(
    'How many days pass between the first and the last order of a customer with several orders?',
    {
      collectionName: 'orders',
      measures: { days: { avg: { difference: ['first', 'last'], unit: 'day' } } },
      over: {
        groups: ['customer_id'],
        measures: { first: { min: 'placed_at' }, last: { max: 'placed_at' }, orders: { count: true } },
        having: { measure: 'orders', operator: 'GreaterThan', value: 1 },
      },
    },
    `SELECT avg(d) FROM (SELECT julianday(max(placed_at)) - julianday(min(placed_at)) d FROM orders
     GROUP BY customer_id HAVING count(*) > 1)`,
  ),
  ranked(
    figures(
      'Which ten categories have the best margin, in euros and as a rate?',
      {
        collectionName: 'order_items',
        measures: {
          margin: { sum: { times: ['quantity', { minus: ['unit_price', 'product:cost'] }] } },
          rate: { ratio: ['margin', { sum: { times: ['quantity', 'unit_price'] } }] },
        },
        groups: ['product:category:name'],
        limit: 10,
      },
      `SELECT c.name, sum(quantity * (unit_price - cost)), sum(quantity * (unit_price - cost)) / sum(quantity * unit_price)
       FROM ${items} GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
    ),
  ),
  figures(
    'How much do customers spend who were referred, and how much the others?',
    {
      collectionName: 'orders',
      measures: {
        referred: { sum: 'total', where: { field: 'customer:referred_by_id', operator: 'Present' } },
        others: { sum: 'total', where: { field: 'customer:referred_by_id', operator: 'Missing' } },
      },
    },
    `SELECT sum(total * (referred_by_id IS NOT NULL)), sum(total * (referred_by_id IS NULL)) FROM orders
     JOIN customers u ON u.id = customer_id`,
  ),
  ranked(
    figures(
      'Which departments sell best?',
      {
        collectionName: 'order_items',
        measures: { units: { sum: 'quantity' }, revenue: { sum: { times: ['quantity', 'unit_price'] } } },
        groups: ['product:category:parent:name'],
        sort: [{ measure: 'revenue', ascending: false }],
      },
      `SELECT d.name, sum(quantity), sum(quantity * unit_price) FROM ${items} LEFT JOIN categories d ON d.id = c.parent_id
       GROUP BY 1 ORDER BY 3 DESC`,
    ),
  ),
  figures(
    'What is our stock worth, with and without a contract with the supplier?',
    {
      collectionName: 'products',
      measures: { products: { count: true }, value: { sum: { times: ['stock', 'cost'] } } },
      groups: ['supplier:under_contract'],
    },
    `SELECT under_contract, count(*), sum(stock * cost) FROM products p LEFT JOIN suppliers s ON s.id = supplier_id
     GROUP BY 1`,
  ),
  figures(
    'What are the average and the best of our monthly revenues?',
    {
      collectionName: 'orders',
      measures: { average: { avg: 'revenue' }, best: { max: 'revenue' } },
      over: { groups: [{ field: 'placed_at', bucket: 'Month' }], measures: { revenue: { sum: 'total' } } },
    },
    `SELECT avg(r), max(r) FROM (SELECT sum(total) r FROM orders GROUP BY ${monthOf('placed_at')})`,
  ),
  figures(
    'What was the best month of each year?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [
        { field: 'placed_at', bucket: 'Year' },
        { field: 'placed_at', bucket: 'Month' },
      ],
      sort: [{ measure: 'revenue', ascending: false }],
      top: { n: 1, per: [0] },
    },
    `SELECT m, r FROM (SELECT ${monthOf('placed_at')} m, sum(total) r,
       row_number() OVER (PARTITION BY strftime('%Y', placed_at) ORDER BY sum(total) DESC) n FROM orders
     GROUP BY strftime('%Y', placed_at), 1) WHERE n = 1`,
  ),
  figures(
    'What did the coupon WELCOME10 cost us: lines and shipping minus what was paid?',
    {
      collectionName: 'order_items',
      measures: { cost: { sum: { minus: [{ plus: ['lines', 'fee'] }, 'paid'] } }, orders: { count: true } },
      over: {
        groups: ['order_id'],
        measures: {
          lines: { sum: { times: ['quantity', 'unit_price'] } },
          fee: { max: 'order:shipping_fee' },
          paid: { max: 'order:total' },
        },
      },
      filters: { field: 'order:coupon', operator: 'Equal', value: 'WELCOME10' },
    },
    `SELECT sum(l + shipping_fee - total), count(*) FROM orders o JOIN (SELECT order_id, sum(quantity * unit_price) l
     FROM order_items GROUP BY 1) ON order_id = o.id WHERE coupon = 'WELCOME10'`,
  ),
  figures(
    'How many products of each category were not sold in the last 90 days?',
    {
      collectionName: 'products',
      measures: { products: { count: true } },
      groups: ['category:name'],
      filters: {
        none: 'order_items',
        where: { field: 'order:placed_at', operator: 'GreaterThanOrEqual', value: daysAgo(90) },
      },
    },
    `SELECT c.name, count(*) FROM products p JOIN categories c ON c.id = category_id WHERE p.id NOT IN
       (SELECT product_id FROM order_items JOIN orders o ON o.id = order_id WHERE placed_at >= '${daysAgo(90)}')
     GROUP BY 1`,
  ),
  figures(
    'How many reviews of one or two stars are still without an answer, per month?',
    {
      collectionName: 'reviews',
      measures: { reviews: { count: true } },
      groups: [{ field: 'created_at', bucket: 'Month' }],
      filters: {
        aggregator: 'And',
        conditions: [
          { field: 'rating', operator: 'LessThanOrEqual', value: 2 },
          { field: 'answered_at', operator: 'Missing' },
        ],
      },
    },
    `SELECT ${monthOf('created_at')}, count(*) FROM reviews WHERE rating <= 2 AND answered_at IS NULL GROUP BY 1`,
  ),
  ranked(
    figures(
      'How many reviews has each rating, what share, and how many hours until the answer?',
      {
        collectionName: 'reviews',
        measures: {
          reviews: { count: true },
          part: { share: 'reviews' },
          hours: { avg: { difference: ['created_at', 'answered_at'], unit: 'hour' } },
        },
        groups: ['rating'],
        sort: [{ group: 0, ascending: false }],
      },
      `SELECT rating, count(*), count(*) * 1.0 / (SELECT count(*) FROM reviews), avg(${hours('created_at', 'answered_at')})
       FROM reviews GROUP BY 1 ORDER BY 1 DESC`,
    ),
  ),
  ranked(
    figures(
      'How many orders did we get on each of the last 60 days, also on days without any above 2000?',
      {
        collectionName: 'orders',
        measures: { orders: { count: true } },
        groups: [{ field: 'placed_at', bucket: 'Day' }],
        filters: {
          aggregator: 'And',
          conditions: [
            { field: 'placed_at', operator: 'PreviousXDays', value: 60 },
            { field: 'total', operator: 'GreaterThan', value: 2000 },
          ],
        },
        sort: [{ group: 0 }],
        includeEmpty: true,
        limit: 60,
      },
      `WITH RECURSIVE d(day) AS (SELECT date('now', '-60 days') UNION ALL SELECT date(day, '+1 day') FROM d
         WHERE day < date('now', '-1 day'))
       SELECT day, (SELECT count(*) FROM orders WHERE date(placed_at) = day AND total > 2000) FROM d ORDER BY 1`,
    ),
  ),
  figures(
    'What part of our customers bought again?',
    {
      collectionName: 'orders',
      measures: {
        customers: { count: true },
        again: { count: true, where: { field: 'orders', operator: 'GreaterThan', value: 1 } },
        rate: { ratio: ['again', 'customers'] },
      },
      over: { groups: ['customer_id'], measures: { orders: { count: true } } },
    },
    'SELECT count(*), sum(n > 1), avg(n > 1) FROM (SELECT count(*) n FROM orders GROUP BY customer_id)',
  ),
  ranked(
    figures(
      'How old are our customers, in decades?',
      {
        collectionName: 'customers',
        measures: { customers: { count: true } },
        groups: [{ field: 'age', ranges: [30, 40, 50, 60] }],
        sort: [{ group: 0 }],
        over: {
          groups: ['id'],
          measures: { age: { max: { difference: ['birth_date', { value: today }], unit: 'year' } } },
        },
        filters: { field: 'birth_date', operator: 'Present' },
      },
      `SELECT count(*) FROM (SELECT CAST('${today.slice(0, 4)}' AS INTEGER) - strftime('%Y', birth_date) -
         (strftime('%m-%d', birth_date) > '${today.slice(5)}') a FROM customers WHERE birth_date IS NOT NULL)
       GROUP BY (a >= 30) + (a >= 40) + (a >= 50) + (a >= 60) ORDER BY min(a)`,
    ),
  ),
  ranked(
    records(
      'Which ten customers with an order have not ordered for the longest time, and what did they spend?',
      {
        collectionName: 'customers',
        fields: [
          'email',
          { name: 'last', max: 'orders:placed_at' },
          { name: 'number of orders', count: 'orders' },
          { name: 'spent', sum: 'orders:total' },
        ],
        filters: { some: 'orders' },
        sort: [{ field: 'last', ascending: true }],
        pagination: { size: 10 },
      },
      `SELECT email, max(placed_at), count(*), sum(total) FROM customers u JOIN orders ON customer_id = u.id
       GROUP BY u.id ORDER BY 2 LIMIT 10`,
    ),
  ),
  records(
    'In which cities are our suppliers?',
    { collectionName: 'suppliers', fields: ['country', 'city'], distinct: true, pagination: { size: 100 } },
    'SELECT DISTINCT country, city FROM suppliers',
  ),
  ranked(
    records(
      'Which ten products have the highest margin as a rate?',
      {
        collectionName: 'products',
        fields: ['sku', { name: 'rate', expression: { dividedBy: [{ minus: ['price', 'cost'] }, 'price'] } }],
        sort: [{ field: 'rate', ascending: false }, { field: 'sku' }],
        pagination: { size: 10 },
      },
      'SELECT sku, (price - cost) * 1.0 / price FROM products ORDER BY 2 DESC, 1 LIMIT 10',
    ),
  ),
  figures(
    'How many orders contain products of more than one category?',
    {
      collectionName: 'order_items',
      measures: { orders: { count: true } },
      over: {
        groups: ['order_id'],
        measures: { categories: { countDistinct: 'product:category_id' } },
        having: { measure: 'categories', operator: 'GreaterThan', value: 1 },
      },
    },
    `SELECT count(*) FROM (SELECT 1 FROM ${items} GROUP BY order_id HAVING count(DISTINCT category_id) > 1)`,
  ),
];

/** One call gives what these are computed from, but not the figure. */
export const unanswered: readonly string[] = [
  'What is the average revenue of each month and the two before it?',
  'What share of the revenue do the ten best customers have together?',
];
