// What every API sends and logs for an error, whatever the format of its body.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import type { Observation } from '../../src/core/observe.ts';
import { bearerChallenge, errorReply } from '../../src/http/error-reply.ts';

/** The response to a request for which `thrown` was thrown, and what was observed. */
async function replyTo(
  thrown: unknown,
  { headers = {}, begun = false }: { headers?: Record<string, string>; begun?: boolean } = {},
) {
  const seen: Observation[] = [];
  const reply = errorReply({
    observe: (one) => seen.push(one),
    where: (req) => `api ${req.method}`,
    readAddress: () => '192.0.2.7',
    events: { name: 'api', codes: new Set(['FORBIDDEN']) },
    requestId: () => 'request-1',
    challenge: ({ status }, authorization) => (status === 401 ? bearerChallenge('api', authorization) : undefined),
    send: (_req, res, { status, code }) => res.writeHead(status).end(code),
  });
  const server = createServer((req, res) => {
    if (begun) res.write('half');
    reply(thrown, req as never, res as never, () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const response = await fetch(url, { method: 'POST', body: 'x', headers });
    const text = await response.text();
    const told = ['allow', 'retry-after', 'www-authenticate', 'connection'].map((name) => response.headers.get(name));
    return { status: response.status, text, headers: told, seen };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const none = [null, null, null, 'keep-alive'];
const authorization = 'Bearer hunter2';

test('a method that is not allowed gets the methods that are', async () => {
  const reply = await replyTo(new AppError('METHOD_NOT_ALLOWED', { method: 'POST', allow: ['GET', 'HEAD'] }));
  expect(reply).toEqual({
    status: 405,
    text: 'METHOD_NOT_ALLOWED',
    headers: ['GET, HEAD', null, null, 'keep-alive'],
    seen: [],
  });
});

test('a limit says when to come back', async () => {
  const { status, headers } = await replyTo(new AppError('RATE_LIMITED', { retryAfterSeconds: 7 }));
  expect([status, headers]).toEqual([429, [null, '7', null, 'keep-alive']]);
});

test('after a body that is too large the connection ends', async () => {
  const { status, headers } = await replyTo(new AppError('BODY_TOO_LARGE', { limitBytes: 1 }));
  expect([status, headers]).toEqual([413, [null, null, null, 'close']]);
});

test('without credentials the challenge has no error code, and nothing is reported', async () => {
  const { status, headers, seen } = await replyTo(new AppError('UNAUTHENTICATED', { problem: 'no token' }));
  expect([status, headers, seen]).toEqual([401, [null, null, 'Bearer realm="api"', 'keep-alive'], []]);
});

test('an invalid token is told and reported, without the token', async () => {
  const error = new AppError('UNAUTHENTICATED', { problem: 'expired' });
  const { status, headers, seen } = await replyTo(error, { headers: { authorization } });
  expect([status, headers[2], seen]).toEqual([
    401,
    'Bearer realm="api", error="invalid_token"',
    [{ type: 'security', event: 'api.token-refused', address: '192.0.2.7', detail: error.message }],
  ]);
  expect(JSON.stringify(seen)).not.toContain('hunter2');
});

test('a refusal of the listed codes is reported; others are not', async () => {
  const refused = await replyTo(new AppError('FORBIDDEN', { verb: 'edit', collection: 'orders' }));
  const other = await replyTo(new AppError('NOT_FOUND', { path: '/x' }));
  expect([refused.status, refused.headers, refused.seen, other.status, other.seen]).toEqual([
    403,
    none,
    [{ type: 'security', event: 'api.refused', address: '192.0.2.7', detail: 'FORBIDDEN' }],
    404,
    [],
  ]);
});

test('an error of code gets 500, and the log the cause and the id of the request', async () => {
  const cause = new Error('broken');
  const { status, text, seen } = await replyTo(cause);
  expect([status, text, seen]).toEqual([
    500,
    'INTERNAL',
    [{ type: 'failure', where: 'api POST', requestId: 'request-1', cause }],
  ]);
});

test('a path that cannot be decoded is a fault of the caller', async () => {
  const { status, seen } = await replyTo(new URIError('URI malformed'));
  expect([status, seen]).toEqual([400, []]);
});

test('an error after the first bytes cuts the response off, so that it does not look complete', async () => {
  await expect(replyTo(new Error('late'), { begun: true })).rejects.toThrow(TypeError);
});
