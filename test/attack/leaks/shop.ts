// Two worlds of one shop. They are equal in everything that the clerk may see, and differ in hidden fields, in rows
// beyond row scopes, and in hidden collections. `base` has the common values; a value that differs is a pair `[A, B]`.
import type { PlainFilter } from '../../../src/core/filter.ts';
import type { CollectionPermission } from '../../../src/store/permissions/types.ts';
import type { Dialect } from '../../databases.ts';
import { all, none } from '../target.ts';

export type World = 'A' | 'B';

type Cell = string | number | null;
/** One value in both worlds, or one for each. */
type Value = Cell | readonly [a: Cell, b: Cell];
/** `in`: the world that has the row; both when absent. */
interface Row {
  readonly in?: World;
  readonly cells: readonly Value[];
}

const both = (...cells: readonly Value[]): Row => ({ cells });
const only = (world: World, ...cells: readonly Value[]): Row => ({ in: world, cells });

/** Parents first, because foreign keys are enforced. */
const columns: Readonly<Record<string, string>> = {
  staff: 'id INTEGER PRIMARY KEY, name VARCHAR(40), wage INTEGER',
  coupons: 'id INTEGER PRIMARY KEY, code VARCHAR(40), percent INTEGER',
  agents: 'id INTEGER PRIMARY KEY, name VARCHAR(40), zone VARCHAR(10), bonus INTEGER',
  customers:
    'id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40), region VARCHAR(10), parent_id INTEGER REFERENCES customers(id), credit INTEGER, tier VARCHAR(10), born DATE, referrer_id INTEGER, joined DATE, grade INTEGER',
  orders:
    'id INTEGER PRIMARY KEY, label VARCHAR(40), status VARCHAR(10), total INTEGER, placed DATE, region VARCHAR(10), customer_id INTEGER REFERENCES customers(id), staff_id INTEGER REFERENCES staff(id), agent_id INTEGER, margin INTEGER, note VARCHAR(40), paid DATE, coupon_id INTEGER',
  items:
    'id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), sku VARCHAR(40), quantity INTEGER, level INTEGER, cost INTEGER, rate DOUBLE PRECISION',
  tags: 'id INTEGER PRIMARY KEY, word VARCHAR(40), kind VARCHAR(10), secret VARCHAR(40)',
  order_tags:
    'order_id INTEGER NOT NULL REFERENCES orders(id), tag_id INTEGER NOT NULL REFERENCES tags(id), kind VARCHAR(10), PRIMARY KEY (order_id, tag_id)',
  watches: 'id INTEGER PRIMARY KEY, order_id INTEGER, customer_id INTEGER',
  remarks: 'id INTEGER PRIMARY KEY, body VARCHAR(40), about_id INTEGER, about_type VARCHAR(20)',
  visits:
    'id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), place VARCHAR(40), minutes INTEGER, pace DOUBLE PRECISION, parcel_id INTEGER',
  parcels:
    'id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), carrier VARCHAR(40), grams INTEGER, ratio DOUBLE PRECISION',
};

const rows: Readonly<Record<string, readonly Row[]>> = {
  staff: [
    both(1, ['Amon', 'Bert'], [4100, 3200]),
    both(2, 'Cleo', [2900, 5300]),
    only('A', 3, 'Drew', 7000),
    only('B', 4, 'Evan', 100),
    only('B', 5, 'Finn', 200),
  ],
  coupons: [both(1, 'spring', 10), both(2, 'summer', 20)],
  agents: [
    both(1, 'Agnes', 'a', [11, 52]),
    both(2, 'Albin', 'a', [12, 51]),
    both(3, ['Quade', 'Rolfe'], 'b', [61, 62]),
    only('A', 30, 'Quint', 'b', 13),
    only('B', 31, 'Rufus', 'b', 14),
  ],
  customers: [
    both(
      1,
      'Ada',
      'Oslo',
      'north',
      null,
      [7317, 2204],
      ['gold', 'gold'],
      ['1970-02-03', '1981-05-06'],
      [2, 4],
      '2024-01-05',
      1,
    ),
    both(
      2,
      'Bea',
      'Bergen',
      'north',
      1,
      [2204, 7317],
      ['iron', 'zinc'],
      ['1981-05-06', '1970-02-03'],
      [null, 1],
      '2024-02-05',
      [2, 3],
    ),
    both(
      3,
      ['Quill', 'Rowan'],
      ['Quito', 'Riga'],
      'south',
      1,
      [9001, 12],
      ['gold', 'zinc'],
      ['1999-01-01', '1950-01-01'],
      1,
      ['2024-03-05', '2023-03-05'],
      [1, 4],
    ),
    both(4, 'Cai', 'Oslo', 'north', 3, [15, 990], ['zinc', 'iron'], ['1990-09-09', null], [1, 2], '2024-03-15', [3, 2]),
    only('A', 5, 'Quincy', 'OSLO', 'south', 1, 9002, 'gold', '1999-01-02', 2, '2022-01-01', 1),
    both(
      6,
      'Dov',
      null,
      'north',
      1,
      [null, 44],
      ['iron', 'zinc'],
      [null, '1990-09-09'],
      [4, null],
      '2024-04-15',
      [2, 3],
    ),
    only('B', 7, 'Rory', 'BERGEN', 'south', 1, 13, 'zinc', '1950-01-02', 2, '2025-09-01', 4),
    only('B', 8, 'Eli', 'Riga', 'south', 2, 14, 'gold', '1950-01-03', 6, '2025-10-01', 1),
    both(
      9,
      'Eli',
      'Bodo',
      'north',
      6,
      [88, 87],
      ['gold', 'gold'],
      ['1995-05-05', '1995-05-06'],
      [6, 1],
      '2024-06-15',
      1,
    ),
  ],
  orders: [
    both(
      1,
      'apples',
      'paid',
      100,
      '2024-01-10',
      'north',
      1,
      1,
      1,
      [31, 77],
      ['amber', 'birch'],
      ['2024-01-12', '2024-03-11'],
      [1, 2],
    ),
    both(
      2,
      'beans',
      'open',
      250,
      '2024-01-20',
      'north',
      1,
      2,
      2,
      [77, 31],
      ['birch', 'amber'],
      ['2024-02-12', null],
      [2, 1],
    ),
    both(
      3,
      'corn',
      'paid',
      40,
      '2024-02-10',
      'north',
      3,
      1,
      3,
      [55, 12],
      ['cedar', 'acorn'],
      [null, '2024-02-12'],
      [null, 1],
    ),
    both(
      4,
      'dates',
      'open',
      75,
      '2024-03-10',
      'north',
      null,
      null,
      30,
      [12, 55],
      ['acorn', 'cedar'],
      ['2024-03-11', '2024-03-12'],
      [1, null],
    ),
    both(
      5,
      'eggs',
      'paid',
      310,
      '2024-03-12',
      'north',
      2,
      2,
      31,
      [90, 91],
      [null, 'elder'],
      ['2024-03-20', '2024-03-21'],
      [2, 1],
    ),
    both(
      6,
      'figs',
      'late',
      60,
      '2024-04-10',
      'north',
      4,
      null,
      null,
      [91, 90],
      ['elder', null],
      ['2024-04-20', '2024-04-11'],
      [1, 2],
    ),
    both(
      20,
      ['quinoa', 'radish'],
      ['paid', 'gone'],
      [999, 5],
      ['2024-02-15', '2024-08-15'],
      'south',
      1,
      1,
      1,
      [1, 2],
      ['quiet', 'rough'],
      ['2024-02-20', null],
      1,
    ),
    only('A', 24, 'quilt', 'late', 2147483647, '9999-12-31', 'south', 4, 2, 2, 2147483647, 'quiet', '9999-12-31', 2),
    only('A', 25, 'APPLES', 'PAID', 3, '2024-05-01', 'south', 6, 2, 2, 3, 'quiet', null, 2),
    only('A', 21, 'quince', 'late', 700, '2023-11-01', 'south', 2, 2, 2, 40, 'quiet', '2023-11-02', 2),
    only('B', 22, 'rice', 'gone', 8000, '2024-12-24', 'south', 3, 1, 3, 50, 'rough', '2024-12-25', 1),
    only('B', 23, 'rye', 'open', 9000, '2024-12-25', 'south', 1, 1, 1, 50, 'rough', '2024-12-26', 1),
    both(30, 'Eli', 'open', 20, '2024-05-01', 'north', 6, 1, 2, [7, 8], ['acorn', 'acorn'], null, [1, 2]),
  ],
  // The largest numbers, beyond the row scope: a sum or product of them is out of range.
  items: [
    both(1, 1, 'sku-a', 3, 1, [5, 8], 0.5),
    both(2, 1, 'sku-b', 1, 1, [8, 5], 1.5),
    both(3, 2, 'sku-a', 7, 2, [6, 9], 2.5),
    both(4, 3, 'sku-c', 2, 1, [9, 6], null),
    both(5, 20, 'sku-d', 4, 1, [2, 3], 0.25),
    both(6, 5, 'sku-b', 5, 3, [3, 2], 8),
    both(10, 1, ['sku-q', 'sku-r'], [60, 70], 9, [1, 4], [1.7e308, 3]),
    only('A', 11, 2, 'sku-q', 800, 8, 71, 4),
    only('A', 14, 2, 'SKU-A', 2147483647, 8, 71, 1.7e308),
    only('B', 12, 6, 'sku-r', 1, 8, 72, 5),
    only('B', 13, 4, 'sku-r', 2, 7, 73, 6),
  ],
  tags: [
    both(1, 'fresh', 'open', ['silk', 'wool']),
    both(2, 'local', 'open', ['wool', 'silk']),
    both(3, 'rare', 'open', ['felt', null]),
    both(4, ['quaint', 'rustic'], 'closed', ['jute', 'hemp']),
    only('A', 5, 'quirky', 'closed', 'jute'),
    only('B', 6, 'royal', 'closed', 'hemp'),
  ],
  order_tags: [
    both(1, 1, 'open'),
    both(1, 2, 'open'),
    both(2, 4, 'open'),
    both(3, 3, 'open'),
    both(20, 1, 'open'),
    only('A', 5, 1, 'closed'),
    only('A', 5, 2, 'closed'),
    only('B', 6, 3, 'closed'),
  ],
  watches: [both(1, 1, [1, 2]), both(2, [2, 5], 4), only('A', 3, 3, 1), only('B', 4, 6, 2), only('B', 5, 5, 2)],
  remarks: [
    both(1, 'nice', 1, ['order', 'customer']),
    both(2, 'kind', 1, ['customer', 'order']),
    both(3, 'fast', 2, ['order', null]),
  ],
  // The row scope needs the grade of the customer, which the clerk may not see.
  visits: [
    both(1, 1, 'stall', 10, 0.5, 3),
    both(2, 9, 'shop', 20, 1.5, 1),
    both(3, 2, ['quay', 'roof'], [30, 35], [1.7e308, 1], 1),
    both(4, 4, 'shop', [2147483647, 4], [3, 1.7e308], 1),
    only('A', 7, 4, 'SHOP', 400, 1.7e308, 1),
    only('A', 5, 6, 'quay', 50, 1e-308, 2),
    only('B', 6, 2, 'roof', 60, 2, 2),
  ],
  // The row scope needs related rows: those of an order with an item of a low level.
  parcels: [
    both(1, 1, 'bike', 100, 0.5),
    both(2, 2, 'van', 200, 2),
    both(3, 4, ['quad', 'road'], [2147483647, 5], [1.7e308, 1]),
    only('A', 4, 6, 'quad', 2147483646, 1.7e308),
    only('B', 5, 4, 'road', 6, 2),
  ],
};

/** The agents again, as the rows of a source in memory. */
export const agentsOf = (world: World): Cell[][] =>
  rows
    .agents!.filter((row) => row.in === undefined || row.in === world)
    .map(({ cells }) => cells.map((cell) => pick(cell, world)));

const pick = (value: Value, world: World): Cell =>
  (Array.isArray(value) ? value[world === 'A' ? 0 : 1] : value) as Cell;

const quote = (cell: Cell): string =>
  cell === null ? 'NULL' : typeof cell === 'number' ? String(cell) : `'${cell.replaceAll("'", "''")}'`;

export function fill(world: World): string[] {
  return Object.entries(rows).flatMap(([table, all]) =>
    all
      .filter((row) => row.in === undefined || row.in === world)
      .map(({ cells }) => `INSERT INTO ${table} VALUES (${cells.map((cell) => quote(pick(cell, world))).join(', ')})`),
  );
}

/** MariaDB reads `REFERENCES` of a column in recent versions only. */
export function create(dialect: Dialect): string[] {
  return Object.entries(columns).map(([table, text]) => {
    const keys = [...text.matchAll(/(\w+) INTEGER(?: NOT NULL)? REFERENCES (\w+)\(id\)/g)];
    if (dialect !== 'mariadb') return `CREATE TABLE ${table} (${text})`;
    const bare = text.replaceAll(/ REFERENCES \w+\(id\)/g, '');
    const constraints = keys.map(([, column, other]) => `, FOREIGN KEY (${column}) REFERENCES ${other}(id)`);
    return `CREATE TABLE ${table} (${bare}${constraints.join('')})`;
  });
}

/** Children first; rows that refer to rows of their own table need their keys cleared. */
export const empty: readonly string[] = [
  'UPDATE customers SET parent_id = NULL',
  ...Object.keys(columns)
    .toReversed()
    .map((table) => `DELETE FROM ${table}`),
];

type Role = Readonly<Record<string, CollectionPermission>>;

export const hiddenCollections: Role = { staff: none, watches: none };

export const hiddenFields: Role = {
  customers: {
    ...all,
    fields: { credit: 'hidden', tier: 'hidden', grade: 'hidden', birthday: 'hidden', referrer_id: 'hidden' },
  },
  orders: { ...all, fields: { margin: 'hidden', note: 'hidden', paid: 'hidden', coupon_id: 'hidden' } },
  items: { ...all, fields: { cost: 'hidden' } },
  agents: { ...all, fields: { bonus: 'hidden' } },
  brokers: { ...all, fields: { bonus: 'hidden' } },
  tags: { ...all, fields: { secret: 'hidden' } },
  remarks: { ...all, fields: { about_type: 'hidden' } },
};

export const leaf = (field: string, operator: 'Equal' | 'LessThan', value: string | number) =>
  ({ field, operator, value }) as const;

export const clerkScopes: Readonly<Record<string, PlainFilter>> = {
  customers: leaf('region', 'Equal', 'north'),
  orders: leaf('region', 'Equal', 'north'),
  items: leaf('level', 'LessThan', 5),
  agents: leaf('zone', 'Equal', 'a'),
  brokers: leaf('zone', 'Equal', 'a'),
  tags: leaf('kind', 'Equal', 'open'),
  order_tags: leaf('kind', 'Equal', 'open'),
  visits: leaf('customer:grade', 'Equal', 1),
  parcels: { some: 'order:items', where: leaf('level', 'LessThan', 5) },
};
