// Generates the demo shop: a fictional housewares shop with about 20,000 rows. A seed and the current time determine
// all data. Dates reach up to today, so filters such as 'Today' and 'PreviousWeek' match records. Amounts are in cents
// until they are written.
import { closeSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { demoIndexes, demoSchema } from './schema.ts';
import {
  coupons,
  departments,
  firstNames,
  lastNames,
  lines,
  makers,
  orderNotes,
  places,
  trades,
  verdicts,
  virtues,
} from './words.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEARS_OF_TRADE = 3;
const size = { suppliers: 48, productsPerShelf: 20, customers: 1600, orders: 5600, ordersToday: 14 };

interface Connection {
  pragma(text: string): unknown;
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: Value[]): unknown };
  close(): unknown;
}

export interface ShopOptions {
  /** The SQLite driver: better-sqlite3, or one with the same interface. */
  readonly driver: new (
    path: string,
  ) => Connection;
  /** The shop has orders up to this time. */
  readonly clock: { now(): number };
}

/**
 * Writes a complete demo shop to `path` with mode 0600. The file appears atomically. An existing file, from a process
 * that started at the same time, stays unchanged.
 */
export function writeDemo(path: string, { driver, clock }: ShopOptions, seed = 20_26): void {
  const draft = `${path}.${process.pid}.tmp`;
  closeSync(openSync(draft, 'w', 0o600));
  try {
    const database = new driver(draft);
    try {
      // The draft has no readers and is deleted on failure, so it needs no journal.
      database.pragma('journal_mode = OFF');
      database.pragma('synchronous = OFF');
      database.exec(demoSchema);
      database.exec('BEGIN');
      for (const [table, rows] of Object.entries(makeShop(clock.now(), seed))) {
        const width = rows[0]?.length ?? 0;
        const insert = database.prepare(`INSERT INTO ${table} VALUES (${Array(width).fill('?').join(', ')})`);
        for (const row of rows) insert.run(...row);
      }
      database.exec('COMMIT');
      database.exec(demoIndexes);
    } finally {
      database.close();
    }
    publish(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    // The file system has no hard links.
    renameSync(draft, path);
  }
}

type Value = string | number | null;
type Rows = Value[][];

interface Dice {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** An integer. Both bounds are inclusive. */
  whole(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Xorshift with 32 bits of state. Random enough for demo data, and the same on every machine. */
function createDice(seed: number): Dice {
  let state = (seed ^ 0x9e3779b9) | 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 20; i++) next();
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return { next, whole, chance: (p) => next() < p, pick: (choices) => choices[whole(0, choices.length - 1)]! };
}

const euros = (cents: number): number => cents / 100;
const instant = (ms: number): string => new Date(ms).toISOString();
const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));
const day = (ms: number): string => instant(ms).slice(0, 10);
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[^\p{ASCII}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** Returns the rows by table. The order satisfies all foreign keys. */
function makeShop(now: number, seed: number): Record<string, Rows> {
  const dice = createDice(seed);
  const suppliers = makeSuppliers(dice, now);
  const { categories, shelves } = makeCategories();
  const products = makeProducts(dice, now, shelves);
  const customers = makeCustomers(dice, now);
  const { orders, items, bought } = makeOrders(dice, now, products, customers);
  return {
    suppliers,
    categories,
    products: products.map((product) => product.row),
    customers: customers.map((customer) => customer.row),
    orders,
    order_items: items,
    reviews: makeReviews(dice, now, bought),
  };
}

function makeSuppliers(dice: Dice, now: number): Rows {
  const names = new Set<string>();
  while (names.size < size.suppliers) names.add(`${dice.pick(lastNames)} ${dice.pick(makers)}`);
  return [...names].map((name, index) => {
    const [city, country, dialling] = dice.pick(places);
    return [
      index + 1,
      name,
      `orders@${plain(name)}.example`,
      dice.chance(0.85) ? phone(dice, dialling) : null,
      city,
      country,
      dice.whole(2, 45),
      dice.chance(0.9) ? 1 : 0,
      day(now - dice.whole(YEARS_OF_TRADE * 365, 12 * 365) * DAY),
    ];
  });
}

interface Shelf {
  readonly id: number;
  readonly materials: readonly string[];
  readonly things: readonly string[];
  readonly price: readonly [number, number];
}

function makeCategories(): { categories: Rows; shelves: Shelf[] } {
  const categories: Rows = [];
  const shelves: Shelf[] = [];
  for (const [position, department] of departments.entries()) {
    const parent = categories.length + 1;
    const slug = plain(department.name);
    categories.push([parent, null, department.name, slug, position + 1]);
    for (const [index, [name, things]] of Object.entries(department.shelves).entries()) {
      const id = categories.length + 1;
      categories.push([id, parent, name, `${slug}-${plain(name)}`, index + 1]);
      shelves.push({ id, materials: department.materials, things, price: department.price });
    }
  }
  return { categories, shelves };
}

interface Product {
  readonly id: number;
  readonly cents: number;
  readonly createdAt: number;
  readonly goneAt: number | null;
  readonly row: Value[];
}

/** Oldest first, so the products on sale at any time are a prefix of the list. */
function makeProducts(dice: Dice, now: number, shelves: readonly Shelf[]): Product[] {
  const names = new Set<string>();
  const drafts = shelves.flatMap((shelf) =>
    Array.from({ length: size.productsPerShelf }, () => {
      let name: string;
      do name = `${dice.pick(lines)} ${dice.pick(shelf.materials)} ${dice.pick(shelf.things)}`;
      while (names.has(name));
      names.add(name);
      const createdAt = now - dice.whole(20 * 24, YEARS_OF_TRADE * 365 * 24) * HOUR;
      return { shelf, name, createdAt };
    }),
  );
  // A third of the products exist from the first day.
  for (const [index, draft] of drafts.entries())
    if (index % 3 === 0) draft.createdAt = now - YEARS_OF_TRADE * 365 * DAY;
  drafts.sort((a, b) => a.createdAt - b.createdAt);
  return drafts.map(({ shelf, name, createdAt }, index) => {
    const [minPrice, maxPrice] = shelf.price;
    // Most products are cheap, and prices end like retail prices.
    const cents =
      Math.round(minPrice + (maxPrice - minPrice) * dice.next() ** 2.4) * 100 + dice.pick([-10, -5, 0, 50, 90]);
    const goneAt = dice.chance(0.07) ? createdAt + Math.floor((now - createdAt) * (0.4 + 0.6 * dice.next())) : null;
    const id = index + 1;
    const row = [
      id,
      `HP-${String(id * 37 + 10_000).padStart(6, '0')}`,
      name,
      dice.chance(0.92) ? `${name}: ${describe(dice)}.` : null,
      shelf.id,
      dice.chance(0.96) ? dice.whole(1, size.suppliers) : null,
      euros(cents),
      euros(Math.max(1, Math.round(cents * (0.35 + 0.3 * dice.next())))),
      goneAt !== null || dice.chance(0.05) ? 0 : dice.whole(1, 240),
      dice.chance(0.9) ? dice.whole(8, 1200) * 10 : null,
      instant(createdAt),
      instantOrNull(goneAt),
    ];
    return { id, cents, createdAt, goneAt, row };
  });
}

function describe(dice: Dice): string {
  const first = dice.whole(0, virtues.length - 1);
  const second = (first + dice.whole(1, virtues.length - 1)) % virtues.length;
  return `${virtues[first]!}, ${virtues[second]!}`;
}

const LOYALTY_COLUMN = 10;

interface Customer {
  readonly id: number;
  readonly createdAt: number;
  readonly row: Value[];
}

/** Oldest first. */
function makeCustomers(dice: Dice, now: number): Customer[] {
  const moments = Array.from(
    { length: size.customers },
    () => now - Math.floor(YEARS_OF_TRADE * 365 * DAY * dice.next() ** 1.3) - HOUR,
  ).sort((a, b) => a - b);
  return moments.map((createdAt, index) => {
    const id = index + 1;
    const first = dice.pick(firstNames);
    const last = dice.pick(lastNames);
    const [city, country, dialling] = dice.pick(places);
    const business = dice.chance(0.12);
    const row = [
      id,
      first,
      last,
      `${plain(first)}.${plain(last)}${id}@${dice.pick(['example.com', 'example.org', 'example.net'])}`,
      dice.chance(0.7) ? phone(dice, dialling) : null,
      business ? `${last} ${dice.pick(trades)}` : null,
      city,
      country,
      !business && dice.chance(0.6) ? day(now - dice.whole(18 * 365, 80 * 365) * DAY) : null,
      dice.chance(0.45) ? 1 : 0,
      0,
      id > 50 && dice.chance(0.18) ? dice.whole(1, id - 1) : null,
      instant(createdAt),
    ];
    return { id, createdAt, row };
  });
}

function phone(dice: Dice, dialling: string): string {
  return `${dialling} ${dice.whole(20, 99)} ${dice.whole(100, 999)} ${dice.whole(10, 99)} ${dice.whole(10, 99)}`;
}

interface Purchase {
  readonly productId: number;
  readonly customerId: number;
  readonly deliveredAt: number;
}

function makeOrders(dice: Dice, now: number, products: readonly Product[], customers: readonly Customer[]) {
  const orders: Rows = [];
  const items: Rows = [];
  const bought: Purchase[] = [];
  const midnight = now - (now % DAY);
  const moments = [
    ...Array.from({ length: size.orders - size.ordersToday }, () => {
      const past = dice.next();
      // The shop grows: recent months have more orders.
      return Math.floor(now - 2 * 365 * DAY * (0.6 * past + 0.4 * past * past));
    }),
    ...Array.from({ length: size.ordersToday }, () => midnight + Math.floor((now - midnight) * dice.next())),
  ].sort((a, b) => a - b);

  let customerCount = 0;
  let productCount = 0;
  for (const [index, placedAt] of moments.entries()) {
    while (customerCount < customers.length && customers[customerCount]!.createdAt <= placedAt) customerCount++;
    while (productCount < products.length && products[productCount]!.createdAt <= placedAt) productCount++;
    // Some customers order often.
    const at = dice.whole(0, customerCount - 1);
    const customer = customers[dice.chance(0.5) ? at - (at % 7) : at]!;
    const id = index + 1;

    const basket = new Map<Product, number>();
    const itemCount = dice.pick([1, 1, 1, 1, 2, 2, 2, 3, 4]);
    while (basket.size < itemCount) {
      const product = products[dice.whole(0, productCount - 1)]!;
      if (product.goneAt === null || product.goneAt > placedAt)
        basket.set(product, dice.pick([1, 1, 1, 1, 2, 2, 3, 6]));
    }
    let cents = 0;
    for (const [product, quantity] of basket) {
      // Prices rise by three percent per year.
      const years = (now - placedAt) / (365 * DAY);
      const price = Math.max(1, Math.round(product.cents * (1 - 0.03 * years)));
      cents += price * quantity;
      items.push([id, product.id, quantity, euros(price)]);
    }
    const coupon = dice.chance(0.12) ? dice.pick(coupons) : null;
    const fee = cents >= 10_000 || coupon === 'FREESHIP' ? 0 : 590;
    const total = (coupon === 'WELCOME10' ? Math.round(cents * 0.9) : cents) + fee;

    const { status, shippedAt, deliveredAt } = ship(dice, now, placedAt);
    if (status !== 'cancelled') {
      customer.row[LOYALTY_COLUMN] = (customer.row[LOYALTY_COLUMN] as number) + Math.floor(total / 100);
    }
    if (deliveredAt !== null) {
      for (const product of basket.keys()) bought.push({ productId: product.id, customerId: customer.id, deliveredAt });
    }
    orders.push([
      id,
      `ORD-${String(10_000 + id)}`,
      customer.id,
      status,
      instant(placedAt),
      instantOrNull(shippedAt),
      instantOrNull(deliveredAt),
      euros(fee),
      euros(total),
      coupon,
      dice.chance(0.08) ? dice.pick(orderNotes) : null,
    ]);
  }
  return { orders, items, bought };
}

function ship(dice: Dice, now: number, placedAt: number) {
  const shippedAt = placedAt + dice.whole(6, 72) * HOUR;
  const deliveredAt = shippedAt + dice.whole(20, 140) * HOUR;
  const roll = dice.next();
  if (roll < 0.05) return { status: 'cancelled', shippedAt: null, deliveredAt: null };
  if (shippedAt > now) return { status: roll < 0.3 ? 'pending' : 'paid', shippedAt: null, deliveredAt: null };
  if (deliveredAt > now) return { status: 'shipped', shippedAt, deliveredAt: null };
  return { status: roll > 0.96 ? 'returned' : 'delivered', shippedAt, deliveredAt };
}

function makeReviews(dice: Dice, now: number, bought: readonly Purchase[]): Rows {
  const pairs = new Set<string>();
  const reviews: { at: number; row: Value[] }[] = [];
  for (const { productId, customerId, deliveredAt } of bought) {
    const at = deliveredAt + dice.whole(20, 24 * 21) * HOUR;
    const pair = `${productId}:${customerId}`;
    if (!dice.chance(0.21) || at > now || pairs.has(pair)) continue;
    pairs.add(pair);
    const rating = dice.pick([1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5]);
    const [title, body] = dice.pick(verdicts[rating - 1]!);
    const answeredAt = at + dice.whole(3, 200) * HOUR;
    reviews.push({
      at,
      row: [
        productId,
        customerId,
        rating,
        dice.chance(0.9) ? title : null,
        dice.chance(0.75) ? body : null,
        instant(at),
        rating < 4 && answeredAt < now && dice.chance(0.7) ? instant(answeredAt) : null,
      ],
    });
  }
  return reviews.sort((a, b) => a.at - b.at).map(({ row }, index) => [index + 1, ...row]);
}
