// Calls of remote tools: the checks before a request, the errors for servers that fail in different ways, and that only
// allowed addresses are reached.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Stop } from '../../../src/core/clock/stop.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { createRemoteFetch } from '../../../src/server/workflows/remotes.ts';
import { type OpenedStore, openStore } from '../../../src/store/open.ts';
import {
  createRemoteServers,
  type RemoteServers,
  TOOL_LIST_TTL_MS,
} from '../../../src/workflows/remote-mcp/remote-servers.ts';
import { type HeldClock, holdClock, openRemote, type RemoteFixture, until } from './server.ts';

let remote: RemoteFixture;
let store: OpenedStore;
let clock: HeldClock;
let room: RemoteServers;
let by: number;
let made = 0;
const observed: unknown[] = [];

const hosts = ['127.0.0.1'];
const roomOf = (fetch = createRemoteFetch(hosts), allowed: readonly string[] = hosts): RemoteServers =>
  createRemoteServers({
    store,
    clock,
    observe: (one) => observed.push(one),
    fetch,
    hosts: allowed,
    version: '1',
    addresses: { callback: (id) => `http://127.0.0.1/cb/${id}`, document: () => undefined },
  });

beforeAll(async () => {
  remote = await openRemote();
  clock = holdClock();
  const config = loadConfig({ env: { SERVICE_STORAGE_URL: 'sqlite::memory:' } });
  store = await openStore({ config, observe: () => undefined, clock });
  by = (await store.identity.addUser({ email: 'ada@b.example' })).id;
});
afterAll(async () => {
  await store.close();
  await remote.stop();
});
beforeEach(() => {
  room = roomOf();
  remote.before = () => false;
  remote.amount = z.number();
  remote.tools.add('charge');
  remote.charged.length = 0;
  remote.authorizations.length = 0;
});

async function add(more: { signIn?: 'bearer'; secret?: string; url?: string } = {}): Promise<string> {
  const { name } = await room.add({ name: `server ${++made}`, url: remote.url, signIn: 'none', addedBy: by, ...more });
  return name;
}
const call = (server: string, values: object = { amount: 5 }, tool = 'charge') =>
  room.prepare({ server, tool, values: { ...values }, userId: by }).then(({ execute: make }) => make(new Stop()));
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  );

test('a tool is called once, with its arguments, and its result is text and values', async () => {
  const server = await add();
  const answer = await call(server);
  expect([answer, remote.charged]).toEqual([
    { text: 'charged 5', result: { id: 'ch_1', amount: 5 }, isError: false },
    [{ amount: 5 }],
  ]);
  expect(new Set(remote.authorizations)).toEqual(new Set(['']));
});

test('the secret of a server is sent to it, and the error of a refused secret does not contain it', async () => {
  const server = await add({ signIn: 'bearer', secret: 'abc.DEF' });
  await call(server);
  expect(new Set(remote.authorizations)).toEqual(new Set(['Bearer abc.DEF']));
  remote.before = (_, res) => {
    res.writeHead(401).end();
    return true;
  };
  clock.pass(TOOL_LIST_TTL_MS);
  const told = await codeOf(call(server));
  expect([told.startsWith('REMOTE_REFUSED'), told.includes('abc.DEF')]).toEqual([true, false]);
});

test('wrong names and arguments are refused before anything is sent, without their values', async () => {
  const server = await add();
  await call(server);
  const prepare = (values: object, tool = 'charge', name = server) =>
    codeOf(room.prepare({ server: name, tool, values: { ...values }, userId: by }));
  remote.charged.length = 0;
  expect(await prepare({ amount: 'a-secret' })).toBe(
    "INVALID_ARGUMENT: arguments: 'charge' does not accept them: data/amount must be number.",
  );
  expect(await prepare({}, 'chargee')).toContain("has no tool 'chargee'. Near: charge.");
  expect(await prepare({}, 'charge', `${server}1`)).toContain(`Near: ${server}`);
  expect(remote.charged).toEqual([]);
});

test('the tool list is cached for five minutes, and read again before it refuses a call', async () => {
  const server = await add();
  await call(server);
  const requests = () => remote.authorizations.length;
  const before = requests();
  await room.prepare({ server, tool: 'charge', values: { amount: 1 }, userId: by });
  expect(requests()).toBe(before);
  remote.amount = z.string();
  expect(await call(server, { amount: '7' })).toMatchObject({ text: 'charged 7' });
  remote.tools.delete('charge');
  clock.pass(TOOL_LIST_TTL_MS);
  expect(await codeOf(call(server, { amount: '7' }))).toContain('UNKNOWN_REMOTE_TOOL');
});

test('a tool that changed in the meantime refuses the call, and nothing was executed', async () => {
  const server = await add();
  await call(server);
  remote.charged.length = 0;
  remote.tools.delete('charge');
  expect(await codeOf(call(server))).toMatch(/^REMOTE_REFUSED: .*The call was not executed\.$/);
  expect(await codeOf(call(server))).toContain('UNKNOWN_REMOTE_TOOL');
  expect(remote.charged).toEqual([]);
});

test('an error result of a tool is returned as an error', async () => {
  expect(await call(await add(), {}, 'fail')).toEqual({ text: 'no such card 4242', result: {}, isError: true });
});

describe('a server that', () => {
  const isCall = (body: string) => body.includes('tools/call');
  /** Replaces the response only to tool calls. */
  const atCall = (run: Parameters<typeof createServer>[1] & {}) => {
    remote.before = (req, res) => {
      const method = req.headers['mcp-method'];
      if (method !== undefined && !isCall(`${method}`)) return false;
      if (method === undefined) return false;
      run(req, res);
      return true;
    };
  };

  test('does not answer a call in a minute leaves its outcome uncertain', async () => {
    const server = await add();
    let came = false;
    atCall(() => {
      came = true;
    });
    const told = codeOf(call(server));
    await until(() => came);
    clock.pass(60_000);
    expect(await told).toBe(
      `REMOTE_UNAVAILABLE: The remote server '${server}' failed: it did not answer within 60 seconds. Try again shortly.`,
    );
  });

  test('does not answer at all times out after ten seconds', async () => {
    const server = await add();
    let came = false;
    remote.before = () => {
      came = true;
      return true;
    };
    const told = codeOf(call(server));
    await until(() => came);
    clock.pass(10_000);
    expect(await told).toContain('did not answer within 10 seconds');
  });

  test.each([
    ['as one document', 'application/json', ''],
    ['as an event stream', 'text/event-stream', 'event: message\ndata: '],
  ])('answers with too much data %s is not read to its end', async (_, type, start) => {
    const server = await add();
    let sent = 0;
    atCall((_req, res) => {
      res.writeHead(200, { 'content-type': type });
      res.write(start);
      const more = (): void => {
        if (res.destroyed || sent > 20_000_000) return void res.end();
        sent += 65_536;
        res.write('x'.repeat(65_536), () => setImmediate(more));
      };
      more();
    });
    expect(await codeOf(call(server))).toContain('its response is larger than 1 MB.');
    expect(sent).toBeLessThan(20_000_000);
  });

  test.each([
    [500, 'REMOTE_UNAVAILABLE'],
    [403, 'REMOTE_REFUSED'],
  ])('answers a call with %i', async (status, code) => {
    const server = await add();
    atCall((_req, res) => {
      res.writeHead(status).end('no');
    });
    expect(await codeOf(call(server))).toContain(code);
  });

  test('cannot be connected to was not called', async () => {
    const server = await add();
    await call(server);
    remote.before = (_req, res) => {
      res.destroy();
      return true;
    };
    expect(await codeOf(call(server))).toMatch(/^REMOTE_REFUSED/);
  });

  test('redirects is not followed', async () => {
    const asked: string[] = [];
    const other = createServer((req, res) => {
      asked.push(`${req.url}`);
      res.end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const server = await add();
    remote.before = (_req, res) => {
      res.writeHead(307, { location: `http://127.0.0.1:${port}/taken` }).end();
      return true;
    };
    const told = await codeOf(call(server));
    other.close();
    expect([told.startsWith('REMOTE_'), asked]).toEqual([true, []]);
  });
});

describe('a URL', () => {
  test.each([
    ['http://tickets.example/mcp', 'begins with https://'],
    ['file:///etc/passwd', 'begins with https://'],
    ['tickets', 'expected the URL'],
    ['https://ada:secret@tickets.example/mcp', 'leave the password out'],
    ['https://secret@tickets.example/mcp', 'leave the password out'],
    [`https://tickets.example/${'x'.repeat(1977)}`, 'expected the URL'],
  ])('%s cannot be added', async (url, text) => {
    expect(await codeOf(add({ url }))).toContain(text);
  });

  test.each([
    'https://127.0.0.1/mcp',
    'https://[::1]/mcp',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'https://localhost/mcp',
  ])('%s is not reached, since it is not public', async (url) => {
    room = roomOf(createRemoteFetch([]), []);
    expect(await codeOf(call(await add({ url })))).toContain('REMOTE_UNAVAILABLE');
  });

  const fetchOf = (named: readonly string[], url = remote.url, issuer?: string) =>
    createRemoteFetch(named)({ url, client: issuer === undefined ? null : { id: 'portico', issuer } });
  const post = { method: 'POST' };

  test('of this machine is reached only if its host is allowed', async () => {
    await expect(fetchOf([])(remote.url)).rejects.toThrow('requires https');
    await expect(fetchOf(['other.internal'])(remote.url)).rejects.toThrow('requires https');
    expect((await fetchOf(hosts)(remote.url, post)).status).toBeGreaterThan(0);
    expect((await fetchOf(['127.0.0.1.'])(remote.url, post)).status).toBeGreaterThan(0);
  });

  // CWE-918: SERVICE_REMOTE_HOSTS allows a host only for the server with that URL.
  test.each([
    ['a server on the internet', 'https://remote.example/mcp', undefined],
    ['a server at another port of that host', 'http://127.0.0.1:1/mcp', undefined],
    ['a server with an issuer elsewhere', 'https://remote.example/mcp', 'https://login.example'],
  ])('of this machine is not reached for %s, even if the host is allowed', async (_, url, issuer) => {
    await expect(fetchOf(hosts, url, issuer)(remote.url, post)).rejects.toThrow('requires https');
    await expect(fetchOf(hosts, url, issuer)(remote.url.replace('http:', 'https:'), post)).rejects.toThrow(
      'not a public address',
    );
    expect(remote.authorizations).toEqual([]);
  });

  test('of this machine is reached for a server whose issuer an administrator entered there', async () => {
    const fetch = fetchOf(hosts, 'https://remote.example/mcp', new URL(remote.url).origin);
    expect((await fetch(remote.url, post)).status).toBeGreaterThan(0);
  });
});
