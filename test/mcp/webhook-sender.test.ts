// The sender of webhooks that actions return: what it sends, and when it gives up.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Stop } from '../../src/core/clock/stop.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createWebhookSender } from '../../src/mcp/webhook.ts';

let outside: Server;
let address: string;
let isSilent: boolean;
let got: unknown[];
let warned: unknown[];

beforeEach(async () => {
  [isSilent, got, warned] = [false, [], []];
  outside = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => {
      body += chunk;
    });
    req.on('end', () => {
      const { host, te, expect: expectation, 'content-type': type, 'x-key': key } = req.headers;
      got.push({ method: req.method, host, type, key, body, connection: [te, expectation] });
      if (!isSilent) res.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(outside.address() as AddressInfo).port}`;
});
afterEach(() => {
  outside.closeAllConnections();
  return new Promise((resolve) => outside.close(resolve));
});

const open = (clock: Clock = systemClock, webhookHosts = ['127.0.0.1']) =>
  createWebhookSender({ config: { webhookHosts }, clock, observe: (event) => warned.push(event) });
const webhook = (method: string, headers: Record<string, string> = {}, body: unknown = { a: 1 }) =>
  ({ type: 'webhook', responseHeaders: {}, url: `http://${address}/secret`, method, headers, body }) as const;
const connection = [undefined, undefined];

test('objects are sent as JSON, and strings as they are, with the content type of the action', async () => {
  const send = open();
  const statuses = [
    await send(webhook('POST', { 'X-Key': 'k' }), new Stop()),
    await send(webhook('PUT', { 'CONTENT-TYPE': 'text/plain' }, 'plain words'), new Stop()),
  ];
  expect([statuses, got]).toEqual([
    [202, 202],
    [
      { method: 'POST', host: address, type: 'application/json', key: 'k', body: '{"a":1}', connection },
      { method: 'PUT', host: address, type: 'text/plain', key: undefined, body: 'plain words', connection },
    ],
  ]);
});

test.each(['GET', 'HEAD'])('%s has neither body nor content type', async (method) => {
  expect([await open()(webhook(method), new Stop()), got]).toEqual([
    202,
    [{ method, host: address, type: undefined, key: undefined, body: '', connection }],
  ]);
});

test('headers of the connection are not those of the action', async () => {
  const headers = { Host: 'evil.example', TE: 'trailers', 'Content-Length': '1', Expect: '100-continue', 'X-Key': 'k' };
  expect([await open()(webhook('POST', headers), new Stop()), got]).toEqual([
    202,
    [{ method: 'POST', host: address, type: 'application/json', key: 'k', body: '{"a":1}', connection }],
  ]);
});

test.each(['GET', 'POST'])(
  '%s reaches no private address that is not allowed, and the log omits the path',
  async (method) => {
    expect([await open(systemClock, [])(webhook(method), new Stop()), got, warned]).toEqual([
      undefined,
      [],
      [
        {
          type: 'warning',
          message: 'Failed to call the webhook of an action at 127.0.0.1.',
          cause: expect.anything(),
        },
      ],
    ]);
  },
);

test('a host that does not respond is given up after ten seconds, or when the call ends', async () => {
  isSilent = true;
  const timers: [number, () => void][] = [];
  const after: Clock['after'] = (ms, run) => {
    timers.push([ms, run]);
    return () => undefined;
  };
  const send = open({ ...systemClock, after });
  const [other, call] = [new Stop(), new Stop()];
  const sent = [send(webhook('POST'), other), send(webhook('POST'), call)];
  timers[0]![1]();
  call.abort();
  expect([await Promise.all(sent), timers.map(([ms]) => ms)]).toEqual([
    [undefined, undefined],
    [10_000, 10_000],
  ]);
}, 5000);
