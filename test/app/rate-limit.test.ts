// A user who sends too many requests to /mcp gets 429. The limit applies to the user, across all of their clients.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { ask } from './call.ts';
import { openShop, type Shop, signedIn } from './shop.ts';

let ahead = 0;
let shop: Shop;
let ada: string;
let sameUser: string;
let bob: string;
beforeAll(async () => {
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  shop = await openShop({ env: { SERVICE_MCP_REQUESTS_PER_MINUTE: '5' }, app: { clock } });
  ({ token: ada } = await signedIn(shop));
  ({ token: sameUser } = await signedIn(shop));
  ({ token: bob } = await signedIn(shop, await shop.addUser({ email: 'bob@example.com' })));
});
afterAll(() => shop.stop());
beforeEach(() => {
  ahead += 61_000;
});

const call = (token: string | undefined) => ask(shop.mcpUrl, token, 'tools/list', {});
const statuses = async (tokens: readonly (string | undefined)[]) => {
  const seen: number[] = [];
  for (const token of tokens) seen.push((await call(token)).status);
  return seen;
};

test('the sixth request within a minute gets 429 as a protocol error with Retry-After', async () => {
  const before = await statuses([ada, ada, ada, ada, ada]);
  const { status, headers, text } = await call(ada);
  const { error } = JSON.parse(text);
  const seconds = Number(headers.get('retry-after'));
  expect([before, status, seconds > 0 && seconds <= 60, error.data.code, error.message]).toEqual([
    [200, 200, 200, 200, 200],
    429,
    true,
    'RATE_LIMITED',
    `Too many requests. Try again in ${seconds} s.`,
  ]);
});

test('the limit covers all tokens of a user but no other user, and ends after a minute', async () => {
  const seen = await statuses([ada, ada, ada, ada, ada, ada, sameUser, bob]);
  ahead += 60_000;
  expect([seen, await statuses([ada, sameUser, bob])]).toEqual([
    [200, 200, 200, 200, 200, 429, 429, 200],
    [200, 200, 200],
  ]);
});

test('requests without a valid token do not count', async () => {
  await statuses([undefined, 'x'.repeat(43), undefined, 'x'.repeat(43), undefined, undefined]);
  expect(await statuses([ada])).toEqual([200]);
});

test('a batch counts each of its messages', async () => {
  const message = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping', params: {} });
  const post = async (messages: number) => {
    const response = await fetch(shop.mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-03-26',
      },
      body: JSON.stringify(Array.from({ length: messages }, (_, id) => message(id))),
    });
    await response.text();
    return response.status === 429;
  };
  expect([await post(4), await post(4)]).toEqual([false, true]);
});

test('a security event names the user, once a minute', async () => {
  const events = () => shop.observed.filter((one) => one.type === 'security' && one.event === 'mcp.throttled');
  const before = events().length;
  await statuses(Array(9).fill(ada));
  expect([events().length - before, events().at(-1)]).toEqual([
    1,
    { type: 'security', event: 'mcp.throttled', userId: 1 },
  ]);
});
