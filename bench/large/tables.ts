// The tables of the large shop: columns, keys and the indexes that a developer makes, on each database. Primary keys,
// unique columns and foreign keys come from here too, so every database has the same.
import type { Dialect } from '../../test/databases.ts';

type ColumnType = 'integer' | 'text' | 'money' | 'instant';

export interface Table {
  readonly name: TableName;
  /** A type ends with `?` if the column may be null. The first column is the primary key. */
  readonly columns: Readonly<Record<string, ColumnType | `${ColumnType}?`>>;
  readonly unique?: readonly string[];
  /** The table that a column refers to. */
  readonly references?: Readonly<Record<string, TableName>>;
  /** The columns of each index. */
  readonly indexes?: readonly (readonly string[])[];
}

export type TableName = 'categories' | 'products' | 'customers' | 'orders' | 'items' | 'payments' | 'notes';

/** In an order in which references exist. */
export const tables: readonly Table[] = [
  { name: 'categories', columns: { id: 'integer', name: 'text' } },
  {
    name: 'products',
    columns: { id: 'integer', category_id: 'integer', name: 'text', sku: 'text', price: 'money' },
    unique: ['sku'],
    references: { category_id: 'categories' },
    indexes: [['category_id']],
  },
  {
    name: 'customers',
    columns: {
      id: 'integer',
      first_name: 'text',
      last_name: 'text',
      email: 'text',
      city: 'text',
      created_at: 'instant',
    },
    unique: ['email'],
    indexes: [['last_name']],
  },
  {
    name: 'orders',
    columns: {
      id: 'integer',
      number: 'text',
      customer_id: 'integer',
      status: 'text',
      total: 'money',
      coupon: 'text?',
      created_at: 'instant',
      shipped_at: 'instant?',
    },
    unique: ['number'],
    references: { customer_id: 'customers' },
    indexes: [['status', 'created_at'], ['customer_id'], ['created_at'], ['shipped_at']],
  },
  {
    name: 'items',
    columns: { id: 'integer', order_id: 'integer', product_id: 'integer', quantity: 'integer', unit_price: 'money' },
    references: { order_id: 'orders', product_id: 'products' },
    indexes: [['order_id'], ['product_id']],
  },
  {
    name: 'payments',
    columns: { id: 'integer', order_id: 'integer', method: 'text', amount: 'money', paid_at: 'instant' },
    references: { order_id: 'orders' },
    indexes: [['order_id'], ['paid_at']],
  },
  {
    name: 'notes',
    columns: { id: 'integer', order_id: 'integer', author: 'text', text: 'text?', stars: 'integer' },
    references: { order_id: 'orders' },
    indexes: [['order_id']],
  },
];

const types: Readonly<Record<Dialect, Readonly<Record<ColumnType | 'key', string>>>> = {
  sqlite: {
    key: 'integer primary key',
    integer: 'integer',
    text: 'varchar(120)',
    money: 'decimal(10, 2)',
    instant: 'datetime',
  },
  mariadb: {
    key: 'int auto_increment primary key',
    integer: 'int',
    text: 'varchar(120)',
    money: 'decimal(10, 2)',
    instant: 'datetime',
  },
  postgres: {
    key: 'serial primary key',
    integer: 'integer',
    text: 'varchar(120)',
    money: 'numeric(10, 2)',
    instant: 'timestamptz',
  },
};

/** Creates the table. `withForeignKeys`: in the statement, because SQLite cannot add them later. */
export function createTable(dialect: Dialect, { name, columns, references = {} }: Table, withForeignKeys: boolean) {
  const lines = Object.entries(columns).map(([column, type], at) => {
    if (at === 0) return `${column} ${types[dialect].key}`;
    const target = withForeignKeys && references[column];
    const isNullable = type.endsWith('?');
    const text = types[dialect][type.replace('?', '') as ColumnType];
    return `${column} ${text}${isNullable ? '' : ' not null'}${target ? ` references ${target} (id)` : ''}`;
  });
  return `create table ${name} (${lines.join(', ')})`;
}

/** Run after the rows are loaded, which is faster than maintaining each index meanwhile. */
export function createIndexes({ name, unique = [], indexes = [] }: Table): readonly string[] {
  const create = (isUnique: boolean, columns: readonly string[]) =>
    `create ${isUnique ? 'unique ' : ''}index ${name}_${columns.join('_')} on ${name} (${columns.join(', ')})`;
  return [...unique.map((column) => create(true, [column])), ...indexes.map((columns) => create(false, columns))];
}

export function addForeignKeys({ name, references = {} }: Table): readonly string[] {
  return Object.entries(references).map(
    ([column, target]) =>
      `alter table ${name} add constraint ${name}_${column}_fk foreign key (${column}) references ${target} (id)`,
  );
}
