// Of sixty first guesses that were written before they ran, those that were refused without the call to send. Forty were
// answered as meant, five were refused with the call, and none was answered otherwise.
import { figures, type Guess, records } from './guess.ts';

export const freshGuesses: readonly Guess[] = [
  figures(
    'Revenue per country last month compared with the same month of last year',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country'],
      filters: { field: 'placed_at', operator: 'PreviousMonth' },
      compare: { field: 'placed_at', to: 'PreviousYear' },
      limit: 50,
    },
    `select c.country, sum(case when o.placed_at >= date('now','start of month','-1 month') and o.placed_at < date('now','start of month') then o.total end), sum(case when o.placed_at >= date('now','start of month','-13 months') and o.placed_at < date('now','start of month','-12 months') then o.total end) from orders o join customers c on c.id = o.customer_id where (o.placed_at >= date('now','start of month','-1 month') and o.placed_at < date('now','start of month')) or (o.placed_at >= date('now','start of month','-13 months') and o.placed_at < date('now','start of month','-12 months')) group by 1`,
  ),
  figures(
    'Revenue and average order by age band of the customer (under 25, 25-39, 40-59, 60 and over)',
    {
      collectionName: 'orders',
      measures: { customers: { countDistinct: 'customer_id' }, revenue: { sum: 'total' }, avg_order: { avg: 'total' } },
      groups: [
        {
          name: 'age_band',
          expression: { age: 'customer:birth_date' },
          ranges: [
            { label: 'under 25', to: 25 },
            { label: '25-39', from: 25, to: 40 },
            { label: '40-59', from: 40, to: 60 },
            { label: '60 and over', from: 60 },
          ],
        },
      ],
      filters: { field: 'customer:birth_date', operator: 'Present' },
    },
    `select case when age<25 then 'under 25' when age<40 then '25-39' when age<60 then '40-59' else '60 and over' end, count(distinct customer_id), sum(total), avg(total) from (select o.customer_id, o.total, (strftime('%Y','now')-strftime('%Y',c.birth_date)) - (strftime('%m-%d','now') < strftime('%m-%d',c.birth_date)) age from orders o join customers c on c.id=o.customer_id where c.birth_date is not null) group by 1`,
  ),
  figures(
    'How many customers have placed one order, two orders, three orders and so on?',
    {
      collectionName: 'orders',
      measures: { orders: { count: true } },
      groups: ['customer_id'],
      over: { groups: ['orders'], measures: { customers: { count: true } } },
      limit: 100,
    },
    `select n, count(*) from (select count(*) n from orders group by customer_id) group by 1`,
  ),
  {
    ...records(
      'Who has referred the most new customers, and how much have the referred ones bought?',
      {
        collectionName: 'customers',
        fields: [
          'id',
          'first_name',
          'last_name',
          { name: 'referred', count: 'customers' },
          { name: 'referred_revenue', sum: 'customers:orders:total' },
        ],
        filters: { some: 'customers' },
        sort: [
          { field: 'referred', ascending: false },
          { field: 'id', ascending: true },
        ],
        pagination: { size: 15, number: 1 },
      },
      `select c.id, c.first_name, c.last_name, (select count(*) from customers x where x.referred_by_id=c.id), (select sum(o.total) from customers x join orders o on o.customer_id=x.id where x.referred_by_id=c.id) from customers c where exists (select 1 from customers x where x.referred_by_id=c.id) order by 4 desc, 1 limit 15`,
    ),
    ordered: true,
  },
  figures(
    'How many customers and subscribers do we have per email domain?',
    {
      collectionName: 'customers',
      measures: {
        customers: { count: true },
        subscribers: { count: true, where: { field: 'newsletter', operator: 'Equal', value: true } },
        subscriber_rate: { ratio: ['subscribers', 'customers'] },
      },
      groups: [{ name: 'domain', expression: { after: ['email', '@'] } }],
    },
    `select substr(email,instr(email,'@')+1), count(*), sum(newsletter), 1.0*sum(newsletter)/count(*) from customers group by 1`,
  ),
  {
    ...figures(
      'How many customers made their first purchase in each month?',
      {
        collectionName: 'customers',
        measures: { first_time_buyers: { count: true } },
        groups: [{ name: 'first_order', min: 'orders:placed_at', bucket: 'Month' }],
        filters: { some: 'orders' },
        sort: [{ group: 0 }],
        limit: 100,
      },
      `select strftime('%Y-%m-01',f), count(*) from (select min(placed_at) f from orders group by customer_id) group by 1 order by 1`,
    ),
    ordered: true,
  },
  figures(
    'How many days pass on average between signing up and the first order, per country, for customers who joined this year?',
    {
      collectionName: 'customers',
      measures: {
        avg_days: { avg: { daysBetween: ['created_at', { min: 'orders:placed_at' }] } },
        customers: { count: true },
      },
      groups: ['country'],
      filters: {
        aggregator: 'And',
        conditions: [{ some: 'orders' }, { field: 'created_at', operator: 'PreviousYearToDate' }],
      },
      limit: 50,
    },
    `select c.country, avg(julianday(f.d)-julianday(c.created_at)), count(*) from customers c join (select customer_id, min(placed_at) d from orders group by 1) f on f.customer_id=c.id where c.created_at >= date('now','start of year') group by 1`,
  ),
  {
    ...figures(
      'Month by month this year for Germany, France and the UK: revenue and the running total of each country',
      {
        collectionName: 'orders',
        measures: { revenue: { sum: 'total' }, running_total: { running: 'revenue', per: 'customer:country' } },
        groups: ['customer:country', { field: 'placed_at', bucket: 'Month' }],
        filters: {
          aggregator: 'And',
          conditions: [
            { field: 'placed_at', operator: 'PreviousYearToDate' },
            { field: 'customer:country', operator: 'In', value: ['DE', 'FR', 'GB'] },
          ],
        },
        sort: [{ group: 0 }, { group: 1 }],
        limit: 50,
      },
      `select k, m, r, sum(r) over (partition by k order by m) from (select c.country k, strftime('%Y-%m-01',o.placed_at) m, sum(o.total) r from orders o join customers c on c.id=o.customer_id where o.placed_at >= date('now','start of year') and c.country in ('DE','FR','GB') group by 1,2) order by k, m`,
    ),
    ordered: true,
  },
  figures(
    'What does an average month bring in per country, over the full months of this year?',
    {
      collectionName: 'orders',
      measures: { revenue: { sum: 'total' } },
      groups: ['customer:country', { field: 'placed_at', bucket: 'Month' }],
      filters: {
        aggregator: 'And',
        conditions: [
          { field: 'placed_at', operator: 'GreaterThanOrEqual', value: '2026-01-01' },
          { field: 'placed_at', operator: 'LessThan', value: '2026-11-01' },
        ],
      },
      over: {
        groups: ['customer:country'],
        measures: { avg_month: { avg: 'revenue' }, best_month: { max: 'revenue' }, worst_month: { min: 'revenue' } },
      },
      limit: 50,
    },
    `select k, avg(r), max(r), min(r) from (select c.country k, strftime('%Y-%m',o.placed_at) m, sum(o.total) r from orders o join customers c on c.id=o.customer_id where o.placed_at >= '2026-01-01' and o.placed_at < '2026-11-01' group by 1,2) group by 1`,
  ),
  figures(
    'Rating per category where every product counts the same: the average of the average ratings of the products',
    {
      collectionName: 'reviews',
      measures: { rating: { avg: 'rating' } },
      groups: ['product:category:name', 'product_id'],
      over: { groups: [{ group: 0 }], measures: { avg_rating: { avg: 'rating' }, products: { count: true } } },
      limit: 50,
    },
    `select k, avg(r), count(*) from (select g.name k, r.product_id, avg(r.rating) r from reviews r join products p on p.id=r.product_id join categories g on g.id=p.category_id group by 1,2) group by 1`,
  ),
  {
    ...records(
      'Orders above 500 in the last 14 days with customer, country, number of pieces and order value without shipping',
      {
        collectionName: 'orders',
        fields: [
          'number',
          'placed_at',
          { name: 'customer', expression: { concat: ['customer:first_name', ' ', 'customer:last_name'] } },
          'customer:country',
          { name: 'pieces', sum: 'order_items:quantity' },
          { name: 'net_of_shipping', expression: { minus: ['total', 'shipping_fee'] } },
        ],
        filters: {
          aggregator: 'And',
          conditions: [
            { field: 'total', operator: 'GreaterThan', value: 500 },
            { field: 'placed_at', operator: 'PreviousXDays', value: 14 },
          ],
        },
        sort: [{ field: 'total', ascending: false }],
        pagination: { size: 50, number: 1 },
      },
      `select o.number, o.placed_at, c.first_name||' '||c.last_name, c.country, (select sum(quantity) from order_items i where i.order_id=o.id), o.total-o.shipping_fee from orders o join customers c on c.id=o.customer_id where o.total>500 and o.placed_at >= date('now','-14 days') and o.placed_at < date('now') order by o.total desc limit 50`,
    ),
    ordered: true,
  },
  {
    ...records(
      'What do we have to reorder: active products with less stock than we sold in the last 30 days',
      {
        collectionName: 'products',
        fields: [
          'sku',
          'name',
          'supplier:name',
          'stock',
          {
            name: 'sold_30d',
            sum: 'order_items:quantity',
            where: { field: 'order:placed_at', operator: 'PreviousXDays', value: 30 },
          },
        ],
        filters: {
          aggregator: 'And',
          conditions: [
            { field: 'discontinued_at', operator: 'Missing' },
            { field: 'stock', operator: 'LessThan', value: { field: 'sold_30d' } },
          ],
        },
        sort: [
          { field: 'sold_30d', ascending: false },
          { field: 'sku', ascending: true },
        ],
        pagination: { size: 100, number: 1 },
      },
      `select p.sku, p.name, s.name, p.stock, x.q from products p left join suppliers s on s.id=p.supplier_id join (select i.product_id, sum(i.quantity) q from order_items i join orders o on o.id=i.order_id where o.placed_at >= date('now','-30 days') and o.placed_at < date('now') group by 1) x on x.product_id=p.id where p.discontinued_at is null and p.stock < x.q order by x.q desc, p.sku limit 100`,
    ),
    ordered: true,
  },
  {
    ...records(
      'Which customers who bought in both years have lost most: spending this year so far against the whole of last year',
      {
        collectionName: 'customers',
        fields: [
          'first_name',
          'last_name',
          'country',
          { name: 'this_year', sum: 'orders:total', where: { field: 'placed_at', operator: 'PreviousYearToDate' } },
          { name: 'last_year', sum: 'orders:total', where: { field: 'placed_at', operator: 'PreviousYear' } },
          { name: 'change', expression: { minus: ['this_year', 'last_year'] } },
        ],
        filters: {
          aggregator: 'And',
          conditions: [
            { field: 'this_year', operator: 'GreaterThan', value: 0 },
            { field: 'last_year', operator: 'GreaterThan', value: 0 },
          ],
        },
        sort: [{ field: 'change', ascending: true }],
        pagination: { size: 20, number: 1 },
      },
      `select first_name, last_name, country, a, b, a-b from (select c.first_name, c.last_name, c.country, sum(case when o.placed_at >= date('now','start of year') then o.total end) a, sum(case when o.placed_at >= date('now','start of year','-1 year') and o.placed_at < date('now','start of year') then o.total end) b from customers c join orders o on o.customer_id=c.id group by c.id) where a>0 and b>0 order by 6 limit 20`,
    ),
    ordered: true,
  },
  {
    ...records(
      'Products that cost more than three times the average price of their category',
      {
        collectionName: 'products',
        fields: ['sku', 'name', 'category:name', 'price', { name: 'category_avg', avg: 'category:products:price' }],
        filters: { field: 'price', operator: 'GreaterThan', value: { times: ['category_avg', 3] } },
        sort: [
          { field: 'price', ascending: false },
          { field: 'sku', ascending: true },
        ],
        pagination: { size: 100, number: 1 },
      },
      `select p.sku, p.name, g.name, p.price, a.v from products p join categories g on g.id=p.category_id join (select category_id, avg(price) v from products group by 1) a on a.category_id=p.category_id where p.price > 3*a.v order by p.price desc, p.sku limit 100`,
    ),
    ordered: true,
  },
  {
    ...records(
      'Our most regular customers: those with at least 10 orders, by average number of days between two orders',
      {
        collectionName: 'customers',
        fields: [
          'id',
          'first_name',
          'last_name',
          { name: 'order_count', count: 'orders' },
          { name: 'first_order', min: 'orders:placed_at' },
          { name: 'last_order', max: 'orders:placed_at' },
          {
            name: 'days_between_orders',
            expression: { divide: [{ daysBetween: ['first_order', 'last_order'] }, { minus: ['order_count', 1] }] },
          },
        ],
        filters: { field: 'order_count', operator: 'GreaterThanOrEqual', value: 10 },
        sort: [
          { field: 'days_between_orders', ascending: true },
          { field: 'id', ascending: true },
        ],
        pagination: { size: 20, number: 1 },
      },
      `select c.id, c.first_name, c.last_name, count(*), min(o.placed_at), max(o.placed_at), (julianday(max(o.placed_at))-julianday(min(o.placed_at)))/(count(*)-1) d from customers c join orders o on o.customer_id=c.id group by c.id having count(*)>=10 order by d, c.id limit 20`,
    ),
    ordered: true,
  },
];
