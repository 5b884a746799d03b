// The activity log of 100,000 entries as a file over HTTP: every entry once, and constant memory even if the client
// stops reading for a while.
import { request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openShop } from '../app/shop.ts';
import { servers } from '../databases.ts';

const ENTRIES = 100_000;
/** Out of 25 MB and more; several steps of the walk are in flight at once. */
const GROWTH_BYTES = 20_000_000;
/** Long enough to read the whole log if the server ignored backpressure. */
const STILL_MS = 4000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
function memory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface Seen {
  readonly ids: readonly number[];
  readonly bytes: number;
  /** Memory growth since before the request. */
  readonly growth: number;
}

/** `stillMs`: the pause in reading after the first chunk. */
function readSlowly(url: string, secret: string, stillMs: number): Promise<Seen> {
  const before = memory();
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { authorization: `Bearer ${secret}` } }, (res) => {
      const ids: number[] = [];
      const isCsv = url.includes('csv');
      const take = (line: string) => {
        const id = Number(isCsv ? /^"?(\d+)/.exec(line)?.[1] : (JSON.parse(line) as { id: string }).id);
        if (Number.isInteger(id)) ids.push(id);
      };
      let [rest, bytes, parts, most] = ['', 0, 0, 0];
      const measure = () => {
        most = Math.max(most, memory());
      };
      res.setEncoding('utf8');
      res.on('data', (text: string) => {
        bytes += text.length;
        const lines = (rest + text).split(/\r?\n/);
        rest = lines.pop()!;
        for (const line of lines) take(line);
        // The growth includes the ids that this test keeps, a few bytes each.
        if (parts++ % 50 === 0) measure();
        if (parts === 1 && stillMs > 0) {
          res.pause();
          void systemClock.sleep(stillMs).then(() => {
            measure();
            res.resume();
          });
        }
      });
      res.on('end', () => resolve({ ids, bytes, growth: most - before }));
      res.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test.each(servers.map((server) => [server.dialect, server] as const))(
  'exports 100,000 entries once each in constant memory (%s)',
  { timeout: 300_000 },
  async (_, server) => {
    const database = await server.create();
    const shop = await openShop({ env: { SERVICE_STORAGE_URL: database.url } });
    const { store, account } = shop;
    const { id: userId } = (await store.identity.findUserByEmail(account.email))!;
    const { renderingId } = (await store.permissions.caller(userId))!;
    for (let n = 0; n < ENTRIES; n++) {
      store.activity.record({
        ...{ userId, renderingId, clientId: 'c', clientName: 'Claude', action: 'list', type: 'read', durationMs: 1 },
        ...{
          collection: `orders ${n % 40} ${'x'.repeat(150)}`,
          outcome: 'completed',
          startedAt: 1_700_000_000_000 + n,
        },
      });
      if (n % 5000 === 4999) await store.activity.flush();
    }
    const { secret } = await store.tokens.create({ userId, name: 'SIEM', scopes: ['activity_logs:read'] });
    const { project, environment } = await store.identity.place();
    const at = (format: string) =>
      `${shop.address}/v1/project/${encodeURIComponent(project)}/environment/${environment}/activity-logs/export?format=${format}`;
    // The first call compiles code and fills caches; that is not growth.
    await readSlowly(`${at('ndjson')}&since=${ENTRIES - 3000}`, secret, 0);

    const seen: Record<string, Seen> = {};
    for (const format of ['ndjson', 'csv']) {
      seen[format] = await readSlowly(at(format), secret, 0);
      seen[`${format}, read late`] = await readSlowly(at(format), secret, STILL_MS);
    }
    await shop.stop();
    await database.drop();

    const growths = Object.entries(seen).map(([name, { bytes, growth }]) => [name, bytes, growth] as const);
    console.log(server.dialect, JSON.stringify(growths));
    for (const { ids } of Object.values(seen)) {
      expect(ids.length).toBe(ENTRIES);
      expect(ids.every((id, n) => n === 0 || id > ids[n - 1]!)).toBe(true);
    }
    expect(growths.filter(([, bytes, growth]) => bytes < 1.25 * GROWTH_BYTES || growth > GROWTH_BYTES)).toEqual([]);
  },
);
