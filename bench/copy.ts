// Orders and customers of the demo shop, as MariaDB tables with the same keys and indexes.
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';

const tables = {
  customers: `CREATE TABLE customers (id INT PRIMARY KEY, first_name VARCHAR(60) NOT NULL, last_name VARCHAR(60) NOT NULL,
    email VARCHAR(120) NOT NULL UNIQUE, city VARCHAR(60) NOT NULL)`,
  orders: `CREATE TABLE orders (id INT PRIMARY KEY, number CHAR(9) NOT NULL UNIQUE, customer_id INT NOT NULL,
    status VARCHAR(10) NOT NULL, placed_at DATETIME(3) NOT NULL, shipping_fee DOUBLE NOT NULL, total DOUBLE NOT NULL,
    coupon VARCHAR(20), INDEX (status, placed_at), FOREIGN KEY (customer_id) REFERENCES customers (id))`,
} as const;
const columns = {
  customers: ['id', 'first_name', 'last_name', 'email', 'city'],
  orders: ['id', 'number', 'customer_id', 'status', 'placed_at', 'shipping_fee', 'total', 'coupon'],
} as const;

export async function copyShop(sqlitePath: string, url: string): Promise<void> {
  const from = new Database(sqlitePath, { readonly: true });
  const to = await mysql.createConnection(url);
  for (const table of ['customers', 'orders'] as const) {
    await to.query(tables[table]);
    const rows = from
      .prepare(`SELECT ${columns[table].join(', ')} FROM ${table}`)
      .raw()
      .all() as unknown[][];
    const values = rows.map((row) =>
      row.map((value) => (/^\d{4}-.*Z$/.test(`${value}`) ? `${value}`.replace(/[TZ]/g, ' ').trim() : value)),
    );
    await to.query(`INSERT INTO ${table} (${columns[table].join(', ')}) VALUES ?`, [values]);
  }
  await to.query('ANALYZE TABLE customers, orders');
  await to.end();
  from.close();
}
