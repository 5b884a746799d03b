// The other thirty of sixty first guesses, written and committed before one of them ran.
import { daysAgo, figures, type Guess, monthOf, ranked, records, thisYear } from './guess.ts';

const byCustomer = 'orders o JOIN customers u ON u.id = o.customer_id';
const month = { field: 'placed_at', bucket: 'Month' };

export const moreBlindGuesses: readonly Guess[] = [
  figures(
    'How many products of each category were never sold?',
    {
      collectionName: 'products',
      measures: { unsold: { count: true } },
      groups: ['category:slug'],
      filters: { aggregator: 'Not', conditions: [{ some: 'order_items' }] },
    },
    `SELECT slug, count(*) FROM products p JOIN categories g ON g.id = category_id
     WHERE p.id NOT IN (SELECT product_id FROM order_items) GROUP BY 1`,
  ),
  figures(
    'How many products does each category have, with the empty ones?',
    {
      collectionName: 'categories',
      measures: { products: { count: 'products' } },
      groups: ['slug'],
      includeEmpty: true,
    },
    'SELECT slug, count(p.id) FROM categories g LEFT JOIN products p ON p.category_id = g.id GROUP BY 1',
  ),
  ranked(
    figures(
      'Which suppliers have the worst rating, with at least twenty reviews?',
      {
        collectionName: 'reviews',
        measures: { rating: { avg: 'rating' }, reviews: { count: true } },
        groups: ['product:supplier:name'],
        having: 'reviews >= 20',
        sort: 'rating asc',
        filters: { field: 'product:supplier:id', operator: 'NotNull' },
      },
      `SELECT s.name, avg(rating), count(*) FROM reviews r JOIN products p ON p.id = r.product_id
       JOIN suppliers s ON s.id = p.supplier_id GROUP BY 1 HAVING count(*) >= 20 ORDER BY 2, 1`,
    ),
  ),
  figures(
    'How many customers placed one order, two orders, three and so on?',
    {
      collectionName: 'orders',
      measures: { customers: { count: true } },
      groups: ['orders'],
      over: { groups: ['customer_id'], measures: { orders: { count: true } } },
    },
    'SELECT n, count(*) FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id) GROUP BY 1',
  ),
  figures(
    'What share of our buyers ordered more than once?',
    {
      collectionName: 'orders',
      measures: {
        customers: { count: true },
        repeat: { count: true, where: { measure: 'orders', operator: 'GreaterThan', value: 1 } },
        repeat_rate: { ratio: ['repeat', 'customers'] },
      },
      over: { groups: ['customer_id'], measures: { orders: { count: true } } },
    },
    'SELECT count(*), sum(n > 1), sum(n > 1) * 1.0 / count(*) FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id)',
  ),
  figures(
    'How many customers placed their first order in each month?',
    {
      collectionName: 'orders',
      measures: { new_customers: { count: true } },
      groups: [{ field: 'first_order', bucket: 'Month' }],
      over: { groups: ['customer_id'], measures: { first_order: { min: 'placed_at' } } },
    },
    `SELECT ${monthOf('d')}, count(*) FROM (SELECT min(placed_at) AS d FROM orders GROUP BY customer_id) GROUP BY 1`,
  ),
  figures(
    'What was our best month?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [month],
      sort: [{ measure: 'revenue', order: 'desc' }],
      limit: 1,
    },
    `SELECT ${monthOf('placed_at')}, sum(total) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 1`,
  ),
  figures(
    'Revenue by year, with the year before beside it?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: [{ field: 'placed_at', bucket: 'Year' }],
      compare: { previous: 'year' },
    },
    `SELECT strftime('%Y-01-01', placed_at), sum(total), lag(sum(total)) OVER (ORDER BY strftime('%Y-01-01', placed_at))
     FROM orders GROUP BY 1`,
  ),
  figures(
    'Revenue of each month this year, and of the same month last year?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' }, last_year: { previous: 'revenue', offset: 12 } },
      groups: [month],
    },
    `WITH m AS (SELECT ${monthOf('placed_at')} AS d, sum(total) AS v FROM orders GROUP BY 1)
     SELECT a.d, a.v, b.v AS before FROM m a LEFT JOIN m b ON b.d = date(a.d, '-12 month')`,
  ),
  figures(
    'Orders by day this year with a moving average over seven days?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true }, avg7: { movingAverage: 'orders', window: 7 } },
      groups: [{ field: 'placed_at', bucket: 'Day' }],
      filters: { field: 'placed_at', operator: 'GreaterThanOrEqual', value: thisYear },
    },
    `SELECT date(placed_at), count(*), avg(count(*)) OVER (ORDER BY date(placed_at) ROWS 6 PRECEDING) FROM orders
     WHERE placed_at >= '${thisYear}' GROUP BY 1`,
  ),
  ranked(
    figures(
      'Which part of revenue do the best customers make up together: cumulative share by customer?',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, share: { share: 'revenue' }, cumulative: { running: 'share' } },
        groups: ['customer:email'],
        sort: [{ measure: 'revenue', ascending: false }],
        limit: 20,
      },
      `SELECT email, sum(total), sum(total) / (SELECT sum(total) FROM orders),
       sum(sum(total)) OVER (ORDER BY sum(total) DESC) / (SELECT sum(total) FROM orders) FROM ${byCustomer}
       GROUP BY 1 ORDER BY 2 DESC LIMIT 20`,
    ),
  ),
  figures(
    'What are the lowest, highest and average price of each category?',
    { collectionName: 'products', measures: { price: ['min', 'max', 'avg'] }, groups: ['category:slug'] },
    `SELECT slug, min(price), max(price), avg(price) FROM products JOIN categories g ON g.id = category_id GROUP BY 1`,
  ),
  figures(
    'How much is our stock worth at cost, by country of the supplier?',
    {
      collectionName: 'products',
      measures: '{"stock_value":{"sum":{"multiply":["stock","cost"]}}}',
      groups: '["supplier:country"]',
    },
    `SELECT country, sum(stock * cost) FROM products p LEFT JOIN suppliers s ON s.id = supplier_id GROUP BY 1`,
  ),
  figures(
    'How many products of each category have a stock below ten?',
    {
      collectionName: 'products',
      measures: {
        products: { count: true },
        low: { countIf: { field: 'stock', operator: 'LessThan', value: 10 } },
      },
      groups: ['category:slug'],
    },
    `SELECT slug, count(*), sum(stock < 10) FROM products JOIN categories g ON g.id = category_id GROUP BY 1`,
  ),
  figures(
    'How many reviews wait for an answer, by rating?',
    { collectionName: 'reviews', operation: 'COUNT', groups: 'rating', filters: { answered_at: null } },
    'SELECT rating, count(*) FROM reviews WHERE answered_at IS NULL GROUP BY 1',
  ),
  figures(
    'How many days pass until a review is answered, by rating?',
    {
      collectionName: 'reviews',
      measures: { days: { avg: { dateDiff: { unit: 'day', from: 'created_at', to: 'answered_at' } } } },
      groups: ['rating'],
    },
    'SELECT rating, avg(julianday(answered_at) - julianday(created_at)) FROM reviews GROUP BY 1',
  ),
  figures(
    'How are the stars distributed, in percent?',
    { collectionName: 'reviews', measures: { pct: { percent: { count: true } } }, groups: ['rating'] },
    'SELECT rating, 100.0 * count(*) / (SELECT count(*) FROM reviews) FROM reviews GROUP BY 1',
  ),
  figures(
    'How many customers does each country have, and which percentage gets the newsletter?',
    {
      collectionName: 'customers',
      measures: {
        customers: { count: true },
        subscribers: { count: true, filter: { newsletter: true } },
        pct: { percentage: ['subscribers', 'customers'] },
      },
      groups: ['country'],
    },
    'SELECT country, count(*), sum(newsletter), 100.0 * sum(newsletter) / count(*) FROM customers GROUP BY 1',
  ),
  figures(
    'How does our number of customers grow, month by month?',
    {
      collectionName: 'customers',
      measures: { new: { count: true }, total: { cumulativeSum: 'new' } },
      groups: [{ field: 'created_at', bucket: 'Month' }],
      limit: 100,
    },
    `SELECT ${monthOf('created_at')}, count(*), sum(count(*)) OVER (ORDER BY ${monthOf('created_at')}) FROM customers GROUP BY 1`,
  ),
  figures(
    'Which city has most customers in each country?',
    {
      collectionName: 'customers',
      measures: { customers: { count: true } },
      groups: ['country', 'city'],
      sort: [{ field: 'customers', ascending: false }],
      top: { n: 1, per: 'country' },
    },
    `SELECT country, city, n FROM (SELECT country, city, count(*) AS n, row_number() OVER
     (PARTITION BY country ORDER BY count(*) DESC, city) AS place FROM customers GROUP BY 1, 2) WHERE place = 1`,
  ),
  figures(
    'How many orders does a buyer place on average, by country?',
    {
      collectionName: 'orders',
      measures: { per_buyer: { ratio: [{ count: true }, { countDistinct: 'customer_id' }] } },
      groups: ['customer:country'],
    },
    `SELECT country, count(*) * 1.0 / count(DISTINCT customer_id) FROM ${byCustomer} GROUP BY 1`,
  ),
  figures(
    'How many orders have a total above the average of all orders?',
    {
      collectionName: 'orders',
      measures: { n: { count: true } },
      filters: { field: 'total', operator: 'GreaterThan', value: { avg: 'total' } },
    },
    'SELECT count(*) FROM orders WHERE total > (SELECT avg(total) FROM orders)',
  ),
  ranked(
    records(
      'How many orders do our ten newest customers have, and how much did they spend?',
      {
        collectionName: 'customers',
        fields: ['email', 'count(orders)', { name: 'spent', sum: 'orders.total' }],
        sort: '-created_at',
        limit: 10,
      },
      `SELECT email, (SELECT count(*) FROM orders WHERE customer_id = u.id), (SELECT sum(total) FROM orders WHERE customer_id = u.id)
       FROM customers u ORDER BY created_at DESC LIMIT 10`,
    ),
  ),
  figures(
    'How much do newsletter readers spend, and how much the others?',
    {
      collectionName: 'orders',
      measures: [{ name: 'revenue', op: 'sum', field: 'total' }],
      groups: ['customer.newsletter'],
    },
    `SELECT newsletter, sum(total) FROM ${byCustomer} GROUP BY 1`,
  ),
  figures(
    'How many orders are in each status, by month, in the last hundred days?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: ['placed_at:month', 'status'],
      filters: { field: 'placed_at', operator: '>=', value: daysAgo(100) },
    },
    `SELECT ${monthOf('placed_at')}, status, count(*) FROM orders WHERE placed_at >= '${daysAgo(100)}' GROUP BY 1, 2`,
  ),
  figures(
    'What are the average and the longest lead time of suppliers by country?',
    {
      collectionName: 'suppliers',
      measures: ['avg:lead_time_days', 'max:lead_time_days'],
      groups: [{ field: 'country' }],
      sort: [{ measure: 'avg:lead_time_days', ascending: false }],
    },
    'SELECT country, avg(lead_time_days), max(lead_time_days) FROM suppliers GROUP BY 1',
  ),
  figures(
    'For how many orders is the shipping fee more than a tenth of the total?',
    {
      collectionName: 'orders',
      measures: { n: { count: true } },
      filters: { expression: { ratio: ['shipping_fee', 'total'] }, operator: '>', value: 0.1 },
    },
    'SELECT count(*) FROM orders WHERE shipping_fee * 10 > total',
  ),
  figures(
    'How many customers of each country were born in the eighties?',
    {
      collectionName: 'customers',
      measures: { customers: { count: true } },
      groups: ['country'],
      filters: { field: 'birth_date', operator: 'Between', value: ['1980-01-01', '1989-12-31'] },
    },
    "SELECT country, count(*) FROM customers WHERE birth_date BETWEEN '1980-01-01' AND '1989-12-31' GROUP BY 1",
  ),
  figures(
    'How much revenue do we make at weekends, compared with all days?',
    {
      collectionName: 'orders',
      measures: {
        weekend: { sum: 'total', where: { field: 'placed_at', part: 'Weekday', operator: 'In', value: [6, 7] } },
        all: { sum: 'total' },
      },
    },
    "SELECT sum(total) FILTER (WHERE strftime('%w', placed_at) IN ('0', '6')), sum(total) FROM orders",
  ),
  figures(
    'How many customers bought something for the kitchen and something for the garden?',
    {
      collectionName: 'customers',
      measures: { customers: { count: true } },
      filters: {
        aggregator: 'And',
        conditions: [
          {
            some: 'orders:order_items',
            where: { field: 'product:category:parent:slug', operator: 'Equal', value: 'kitchen' },
          },
          {
            some: 'orders:order_items',
            where: { field: 'product:category:parent:slug', operator: 'Equal', value: 'garden' },
          },
        ],
      },
    },
    `WITH b AS (SELECT o.customer_id, q.slug FROM orders o JOIN order_items i ON i.order_id = o.id
       JOIN products p ON p.id = i.product_id JOIN categories g ON g.id = p.category_id JOIN categories q ON q.id = g.parent_id)
     SELECT count(*) FROM customers WHERE id IN (SELECT customer_id FROM b WHERE slug = 'kitchen')
       AND id IN (SELECT customer_id FROM b WHERE slug = 'garden')`,
  ),
];
