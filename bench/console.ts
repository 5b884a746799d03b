// Time and size of every page of the console over 300 tables, one of them with a million rows, a thousand users, and a
// log of 200,000 entries. The time is that of the whole request, by a client in the same process, so it is an upper
// limit of the server time. Prints Markdown tables for RESULTS.md, and fails if a page misses its target, or if the
// console has a page that is neither measured nor left out below.
//
//   npx tsx bench/console.ts [address ...] [--on sqlite,mariadb,postgres] [--rounds 40] [--quick]
//
// An address is a part of one, such as /data. The rounds visit all pages in turn, so that a disturbance of the machine is
// spread over the pages.
import { parseArgs } from 'node:util';
import { routes } from '../src/console/routes.ts';
import { createBrowser } from '../test/oauth/flow.ts';
import { startServer } from '../test/server.ts';
import { customize, fillStorage, makeTables, servers, type TestServer } from './console/data.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '40' },
    quick: { type: 'boolean', default: false },
  },
});
const rounds = values.quick ? 2 : Number(values.rounds);
const size = values.quick ? 0.01 : 1;
const TARGET_MS = 300;
const TARGET_BYTES = 150_000;

/** Files, and a redirect that counts once. */
const leftOut = new Set([
  '/approvals/:id/files/:number',
  '/activity/export',
  '/admin-log/export',
  '/remotes/:id/callback',
  '/rights/file',
  '/runs/:id/files/:number',
]);

const filtered = (collection: string, filter: object): string =>
  `/data/${collection}?${new URLSearchParams({ filter: JSON.stringify(filter) })}`;
const customerIsNot = (id: number) => ({ field: 'customer:name', operator: 'NotEqual', value: `Customer ${id}` });

/** More ways to open a page: what people filter and sort by, and a long form. */
const variants: readonly string[] = [
  '/data/orders?sort=-id',
  filtered('orders', { field: 'customer_id', operator: 'Equal', value: 77 }),
  filtered('orders', { aggregator: 'And', conditions: [1, 2, 3, 4, 5].map(customerIsNot) }),
  '/data/customers',
  '/data/customers/7',
  '/data/orders?of=customers&record=7&relation=orders',
  '/data/thing_7',
  '/data?name=thing_2',
  '/activity?collection=orders&type=write',
  '/activity?outcome=failed',
  '/playground/aggregate',
  '/settings?shown=set',
];

/**
 * Questions that no index of the database answers: it reads a million rows, which takes as long as it takes. They have
 * a limit of size only.
 */
const scans: readonly string[] = [
  '/data/orders?sort=total',
  '/data/orders?search=2026-77777',
  '/data/orders?search=absent',
  filtered('orders', { field: 'status', operator: 'Equal', value: 'open' }),
  filtered('orders', { field: 'customer:name', operator: 'Equal', value: 'Customer 77' }),
];

interface Figures {
  readonly address: string;
  readonly times: number[];
  /** Processor time of this process, with that of the client. */
  readonly cpu: number[];
  bytes: number;
}

const missed: string[] = [];
for (const name of values.on.split(',')) {
  const server = servers.find(({ dialect }) => dialect === name);
  if (!server) throw new Error(`no database '${name}'; there are ${servers.map(({ dialect }) => dialect).join(', ')}`);
  await measure(server);
}
if (missed.length > 0 && !values.quick) process.exitCode = 1;

async function measure({ dialect, create }: TestServer): Promise<void> {
  const database = await create();
  try {
    await makeTables(database, size);
    const server = await startServer({ database: database.url, app: { customize } });
    try {
      const pages = addresses(await fillStorage(server, size));
      const browser = createBrowser();
      await browser.press(await browser.open(server.consoleUrl), 'sign-in', { ...server.account });
      const all = pages.map((address): Figures => ({ address, times: [], cpu: [], bytes: 0 }));
      // The first visit of a page compiles its code and statements, and is no figure.
      for (let round = -1; round < rounds; round += 1)
        for (const each of all) {
          const [from, used] = [performance.now(), process.cpuUsage()];
          const answer = await browser.open(server.consoleUrl + each.address);
          if (round >= 0) {
            const { user, system } = process.cpuUsage(used);
            each.times.push(performance.now() - from);
            each.cpu.push((user + system) / 1000);
          }
          if (answer.status !== 200) throw new Error(`${each.address} answers ${answer.status}: ${answer.html}`);
          each.bytes = Buffer.byteLength(answer.html);
        }
      report(dialect, all);
    } finally {
      await server.stop();
    }
  } finally {
    await database.drop(true);
  }
}

/** Throws for a page of the console that is not known here. */
function addresses(parameters: Readonly<Record<string, string>>): readonly string[] {
  const pages = routes.flatMap((route) => {
    if (route.open || !route.get || leftOut.has(route.page)) return [];
    const address = parameters[route.page] ?? route.page;
    if (address.includes(':')) throw new Error(`no address for the page ${route.page}: add it to console/data.ts`);
    return [address];
  });
  return [...pages, ...variants, ...scans].filter(
    (page) => !positionals.length || positionals.some((part) => page.includes(part)),
  );
}

function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

function report(dialect: string, all: readonly Figures[]): void {
  console.log(
    `\n### ${dialect}\n\n| Page | Least ms | Median ms | 95th percentile ms | Processor ms, median | kB |\n| --- | --- | --- | --- | --- | --- |`,
  );
  const over: string[] = [];
  for (const { address, times, cpu, bytes } of all) {
    const slow = quantile(times, 0.95);
    const isScan = scans.includes(address);
    if ((slow > TARGET_MS && !isScan) || bytes > TARGET_BYTES) over.push(address);
    const ms = [quantile(times, 0), quantile(times, 0.5), slow, quantile(cpu, 0.5)]
      .map((figure) => figure.toFixed(1))
      .join(' | ');
    console.log(
      `| ${decodeURIComponent(address) || '/'}${isScan ? ' (reads the table)' : ''} | ${ms} | ${(bytes / 1000).toFixed(1)} |`,
    );
  }
  missed.push(...over);
  const targets = `${TARGET_MS} ms at the 95th percentile and ${TARGET_BYTES / 1000} kB`;
  console.log(`\n${all.length} pages, ${rounds} requests each. Above ${targets}: ${over.join(', ') || 'none'}.`);
}
