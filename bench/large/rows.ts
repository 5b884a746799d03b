// The rows of the large shop. The number of a row determines all its values, so every database and every run has the same.
import type { TableName } from './tables.ts';

export type Cell = number | string | null;

/** The number of rows by table. `part` 1 is the whole shop, 0.01 a small one to see that a bench runs. */
export function countsOf(part: number): Readonly<Record<TableName, number>> {
  const of = (count: number) => Math.max(10, Math.round(count * part));
  return {
    categories: 40,
    products: of(10_000),
    customers: of(100_000),
    orders: of(1_000_000),
    items: of(3_000_000),
    payments: of(500_000),
    notes: of(200_000),
  };
}

const FIRST_ORDER = Date.UTC(2023, 0, 1) / 1000;
/** The seconds between two orders, so a million of them takes two years. */
const PACE = 63;
const DAY = 86_400;

const firsts = 'Ada Ben Cleo Dan Eve Finn Gina Hugo Ida Jon Kira Leo Mia Ned Olga Paul Rita Sven Tara Udo'.split(' ');
const heads = 'Al Bor Cal Dem Ell Far Gil Har Isk Jor Kol Lar Mor Nor Ost Pel Quin Ros Sal Tor'.split(' ');
const middles = 'ba de fi go lu mi na ro sa ti'.split(' ');
const tails = 'berg dale ford man sen'.split(' ');
const cities = 'Bergen Gent Graz Lyon Porto Riga Siena Turku Vigo York'.split(' ');
const adjectives = 'Blue Green Heavy Light Old Plain Round Small Tall White'.split(' ');
const things = 'bowl chair clock desk frame jug lamp mirror shelf table'.split(' ');
const methods = ['card', 'transfer', 'cash'];

/** Twenty, so that a status has a share of the orders in steps of 5 %: 15 % are paid. */
const statuses = [
  ...Array<string>(11).fill('delivered'),
  ...Array<string>(3).fill('paid'),
  ...Array<string>(3).fill('sent'),
  'new',
  'cancelled',
  'returned',
];
const shipped = new Set(['delivered', 'sent', 'returned']);

/** 32 bits that look random. `salt` differs for each value of a row. */
function mixed(row: number, salt: number): number {
  let bits = Math.imul(row ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 15), 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 13), 0x27d4eb2f);
  return (bits ^ (bits >>> 16)) >>> 0;
}
const below = (limit: number, row: number, salt: number): number => mixed(row, salt) % limit;
const from = <T>(all: readonly T[], row: number, salt: number): T => all[below(all.length, row, salt)]!;
const money = (most: number, row: number, salt: number): number => (100 + below(most * 100, row, salt)) / 100;
const padded = (value: number, width: number): string => String(value).padStart(width, '0');
const instant = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** One order in 16 has the time of the order before it, because real data has such ties. */
const orderedAt = (order: number): number => FIRST_ORDER + PACE * (order - (below(16, order, 1) === 0 ? 1 : 0));

type MakeRow = (id: number, counts: Readonly<Record<TableName, number>>) => Cell[];

/** Instants are ISO 8601 texts in UTC. Ids start at 1. */
export const rowOf: Readonly<Record<TableName, MakeRow>> = {
  categories: (id) => [id, `Category ${id}`],
  products: (id, { categories }) => [
    id,
    1 + below(categories, id, 2),
    `${from(adjectives, id, 3)} ${from(things, id, 4)} ${id}`,
    `SKU${padded(id, 6)}`,
    money(200, id, 5),
  ],
  customers(id) {
    const [first, last] = [from(firsts, id, 6), from(heads, id, 7) + from(middles, id, 8) + from(tails, id, 9)];
    const email = `${first}.${last}.${id}@example.com`.toLowerCase();
    return [id, first, last, email, from(cities, id, 10), instant(FIRST_ORDER - 30 * DAY + below(30 * DAY, id, 11))];
  },
  orders(id, { customers }) {
    const [status, at] = [from(statuses, id, 12), orderedAt(id)];
    return [
      id,
      `ORD${padded(id, 7)}`,
      1 + below(customers, id, 13),
      status,
      money(500, id, 14),
      below(5, id, 15) === 0 ? `COUPON${below(200, id, 16)}` : null,
      instant(at),
      shipped.has(status) ? instant(at + 3600 + below(9 * DAY, id, 17)) : null,
    ];
  },
  // Three items an order on average: their order is random, as is that of payments and notes.
  items: (id, { orders, products }) => [
    id,
    1 + below(orders, id, 18),
    1 + below(products, id, 19),
    1 + below(5, id, 20),
    money(200, id, 21),
  ],
  payments(id, { orders }) {
    const order = 1 + below(orders, id, 22);
    return [id, order, from(methods, id, 23), money(500, id, 24), instant(orderedAt(order) + below(DAY, id, 25))];
  },
  notes: (id, { orders }) => [
    id,
    1 + below(orders, id, 26),
    `author ${below(50, id, 27)}`,
    below(4, id, 28) === 0 ? null : `what was said of it, ${id}`,
    below(6, id, 29),
  ],
};
