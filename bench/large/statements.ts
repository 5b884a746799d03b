// The SQL that a good developer writes by hand for the operations, as the bare servers run it. It owes nothing to the
// statements of the engine. A page reads one row more than it shows.
import type { Dialect } from '../../test/databases.ts';

const columns = 'o.id, o.number, o.status, o.total, o.coupon, o.created_at, c.last_name';
const joined = 'orders o join customers c on c.id = o.customer_id';
const newestFirst = 'order by o.created_at desc, o.id desc';

/** By operation name. */
export function handwritten(dialect: Dialect): ReadonlyMap<string, readonly string[]> {
  const like = dialect === 'postgres' ? 'ilike' : 'like';
  const searched = ['o.number', 'o.status', 'o.coupon', 'c.first_name', 'c.last_name', 'c.email', 'c.city'];
  // MariaDB would begin with the customers and sort all orders, and would sort all orders for a late page.
  const searchJoined = dialect === 'mariadb' ? joined.replace('join', 'straight_join') : joined;
  const byTime = dialect === 'mariadb' ? 'orders force index (orders_created_at)' : 'orders';
  const create = `insert into notes (order_id, author, text, stars) values (?, ?, ?, ?)
    returning id, order_id, author, text, stars`;
  const statements: Readonly<Record<string, string>> = {
    'W1 list': `select ${columns} from ${joined} where o.status = ? ${newestFirst} limit 16`,
    'W2 search': `select ${columns} from ${searchJoined}
      where ${searched.map((column) => `${column} ${like} ?`).join(' or ')} ${newestFirst} limit 16`,
    'W3 by key': `select ${columns} from ${joined} where o.id = ?`,
    'W5 create': create,
    'W5 create, all with an audit entry': create,
    'W6 related': `select ${columns} from ${joined} where o.customer_id = ? ${newestFirst} limit 16`,
    // The keys come from the index; only the rows of the page are read.
    'W7 pages 1,000 to 4,000': `select ${columns}
      from (select id from ${byTime} order by created_at desc, id desc limit 16 offset ?) page
      join orders o on o.id = page.id join customers c on c.id = o.customer_id ${newestFirst}`,
  };
  return new Map(Object.entries(statements).map(([name, sql]) => [name, [placeholders(dialect, sql)]]));
}

/** `$1` on PostgreSQL. */
function placeholders(dialect: Dialect, sql: string): string {
  let count = 0;
  return dialect === 'postgres' ? sql.replaceAll('?', () => `$${++count}`) : sql;
}
