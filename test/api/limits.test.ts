// The rate limit headers of every response. A client that follows them never gets 429 twice in a row.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openShop, type Shop } from '../app/shop.ts';
import { redisUrl } from '../redis.ts';

const limits = { minute: 5, hour: 12, day: 30 };
const env = {
  SERVICE_API_PER_MINUTE: `${limits.minute}`,
  SERVICE_API_PER_HOUR: `${limits.hour}`,
  SERVICE_API_PER_DAY: `${limits.day}`,
};

let late = 0;
let made = 0;
const clock = { ...systemClock, now: () => Date.now() + late };
const project = '/v1/project/My%20project';

async function make({ store, account }: Shop, scopes: readonly string[]): Promise<string> {
  const user = (await store.identity.findUserByEmail(account.email))!;
  return (await store.tokens.create({ userId: user.id, name: `limited ${++made}`, scopes })).secret;
}

const ways = ['storage', ...(redisUrl === undefined ? [] : ['redis'])];

for (const way of ways) {
  let shop: Shop;
  const describeWay = `counted in ${way}`;
  beforeAll(async () => {
    shop = await openShop({
      env: { ...env, ...(way === 'redis' && { SERVICE_REDIS_URL: redisUrl! }) },
      app: { clock },
    });
  });
  afterAll(() => shop?.stop());

  const ask = (path: string, secret: string, init: RequestInit = {}) =>
    fetch(`${shop.address}${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${secret}` } });

  test(`${describeWay}: a sequential client that waits as the headers say is never refused twice in a row`, {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20_000), { minLength: 45, maxLength: 45 }), async (pauses) => {
        const secret = await make(shop, ['notes:read']);
        let refusals = 0;
        for (const pause of pauses) {
          late += pause;
          const answer = await ask('/v1/token', secret);
          if (answer.status === 200) continue;
          refusals++;
          expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
          const wait = Number(answer.headers.get('retry-after'));
          // `x-ratelimit-reset` and `retry-after` agree to within two seconds.
          const reset = Number(answer.headers.get('x-ratelimit-reset')) * 1000 - clock.now();
          expect([reset >= (wait - 2) * 1000, reset <= (wait + 2) * 1000]).toEqual([true, true]);
          late += wait * 1000;
          expect((await ask('/v1/token', secret)).status).toBe(200);
        }
        expect(refusals).toBeGreaterThan(1);
      }),
      { numRuns: 3 },
    );
  });

  test(`${describeWay}: a client that pauses at 0 remaining calls until X-RateLimit-Reset is never refused`, async () => {
    const secret = await make(shop, ['notes:read']);
    const statuses = [];
    for (let call = 0; call < 40; call++) {
      const { status, headers } = await ask('/v1/token', secret);
      statuses.push(status);
      const left = Number(headers.get('x-ratelimit-remaining'));
      if (left === 0) late += Number(headers.get('x-ratelimit-reset')) * 1000 - clock.now();
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test(`${describeWay}: error responses count and have the headers too; responses to an unknown token have none`, async () => {
    const secret = await make(shop, ['notes:read']);
    const answers = [
      await ask('/v1/nothing', secret),
      await ask(`${project}/tokens`, secret),
      await ask('/v1/token', secret, { method: 'POST' }),
      await ask('/v1/token?unknown=1', secret),
      await ask('/v1/token', secret, { method: 'HEAD' }),
      await ask('/v1/token', secret),
    ];
    const told = answers.map(({ status, headers }) => [
      status,
      headers.get('x-ratelimit-limit'),
      headers.get('x-ratelimit-remaining'),
      headers.has('x-ratelimit-reset'),
      headers.has('retry-after'),
    ]);
    expect(told).toEqual([
      [404, '5', '4', true, false],
      [403, '5', '3', true, false],
      [405, '5', '2', true, false],
      [400, '5', '1', true, false],
      [200, '5', '0', true, false],
      [429, '5', '0', true, true],
    ]);
    const unknown = await ask('/v1/token', `svc_${'x'.repeat(43)}`);
    expect([unknown.status, unknown.headers.has('x-ratelimit-limit')]).toEqual([401, false]);
  });
}
