// Assistants refresh concurrently from several windows, processes and IP addresses, and lose responses. Every storage
// tolerates that during a grace period, also across processes. A reuse after that ends the token family.
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { callMcp, connect, register, type Session } from './client.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://assistant.example/callback';
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

let late = 0;
let frozen: number | undefined;
const clock = { ...systemClock, now: () => (frozen ?? systemClock.now()) + late };

/** Two servers on one storage. SQLite has a single writer process, so there both are the same server. */
async function openPair(server: (typeof servers)[number]): Promise<readonly [OAuthTestServer, OAuthTestServer]> {
  [late, frozen] = [0, undefined];
  const database = await createStorage(server);
  undo.push(() => database.drop());
  // A trusted proxy lets a request come from any IP address.
  const env = { SERVICE_TRUSTED_PROXIES: 'loopback' };
  const one = await startServer({ storageUrl: database.url, clock, env });
  undo.push(() => one.stop());
  if (server.dialect === 'sqlite') return [one, one];
  const two = await startServer({ storageUrl: database.url, clock, env, beside: one });
  undo.push(() => two.stop());
  return [one, two];
}

async function signedIn(testServer: OAuthTestServer): Promise<Session> {
  const registered = await register(testServer.paths.issuer, {
    client_name: 'Assistant',
    redirect_uris: [redirectUri],
  });
  return connect(registered, testServer.account, { redirectUri, scope: 'mcp:read' });
}

interface Refreshed {
  readonly status: number;
  readonly error?: string;
  readonly access_token: string;
  readonly refresh_token: string;
}

async function refreshAt(
  { local }: OAuthTestServer,
  { client }: Session,
  token: string,
  from: string,
): Promise<Refreshed> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token, client_id: client.client_id });
  const headers = { 'x-forwarded-for': from };
  const response = await fetch(`${local}/oauth/token`, { method: 'POST', body, headers });
  return { status: response.status, ...((await response.json()) as Omit<Refreshed, 'status'>) };
}

const opens = async ({ local }: OAuthTestServer, token: string) => (await callMcp(`${local}/mcp`, token)).status;

describe.each(servers.map((server) => [server.dialect, server] as const))('on %s', (_dialect, server) => {
  test('five concurrent refreshes, from several addresses at two servers, succeed, and so do their tokens', async () => {
    const [one, two] = await openPair(server);
    const session = await signedIn(one);
    const token = `${session.tokens.refresh_token}`;
    const answers = await Promise.all(
      [0, 1, 2, 3, 4].map((n) => refreshAt(n % 2 ? one : two, session, token, `203.0.113.${n}`)),
    );
    const opened = await Promise.all(answers.map(({ access_token }, n) => opens(n % 2 ? two : one, access_token)));
    const next = await refreshAt(two, session, `${answers[3]?.refresh_token}`, '203.0.113.9');
    expect([answers.map(({ status }) => status), opened, next.status]).toEqual([
      [200, 200, 200, 200, 200],
      [200, 200, 200, 200, 200],
      200,
    ]);
  });

  test('reuse within the grace period after a successor was used revokes the whole family, everywhere', async () => {
    const [one, two] = await openPair(server);
    const session = await signedIn(one);
    const token = `${session.tokens.refresh_token}`;
    const first = await refreshAt(one, session, token, '203.0.113.1');
    const second = await refreshAt(two, session, first.refresh_token, '203.0.113.1');
    const before = [await opens(one, second.access_token), await opens(two, second.access_token)];
    const copied = await refreshAt(two, session, token, '198.51.100.66');
    const after = [await opens(one, second.access_token), await opens(two, second.access_token)];
    const ended = await refreshAt(one, session, second.refresh_token, '203.0.113.1');
    expect([before, copied.error, after, ended.error]).toEqual([
      [200, 200],
      'invalid_grant',
      [401, 401],
      'invalid_grant',
    ]);
  });

  // RFC 9700 section 4.14.2: if two successors of one token are both used, one of them is stolen.
  test('reuse within the grace period, if both copies continue: the second one revokes the family', async () => {
    const [one, two] = await openPair(server);
    const session = await signedIn(one);
    const token = `${session.tokens.refresh_token}`;
    const owner = await refreshAt(one, session, token, '203.0.113.1');
    const thief = await refreshAt(two, session, token, '198.51.100.66');
    const next = await refreshAt(one, session, owner.refresh_token, '203.0.113.1');
    const ended = await refreshAt(two, session, thief.refresh_token, '198.51.100.66');
    const opened = await Promise.all([owner, thief, next].map(({ access_token }) => opens(one, access_token)));
    const last = await refreshAt(one, session, next.refresh_token, '203.0.113.1');
    expect([next.status, ended.error, opened, last.error]).toEqual([
      200,
      'invalid_grant',
      [401, 401, 401],
      'invalid_grant',
    ]);
  });

  test('reuse after the grace period revokes the family, even if no successor was used', async () => {
    const [one, two] = await openPair(server);
    const session = await signedIn(one);
    const token = `${session.tokens.refresh_token}`;
    const first = await refreshAt(one, session, token, '203.0.113.1');
    late = 61_000;
    const copied = await refreshAt(two, session, token, '203.0.113.1');
    expect([copied.error, await opens(one, first.access_token), await opens(two, first.access_token)]).toEqual([
      'invalid_grant',
      401,
      401,
    ]);
  });
});

test('the grace period ends exactly 60 seconds after the first use', async () => {
  const [server] = await openPair(servers.find(({ dialect }) => dialect === 'sqlite')!);
  frozen = Math.floor(systemClock.now() / 1000) * 1000;
  const sessions = [await signedIn(server), await signedIn(server)] as const;
  const refresh = async (session: Session) => {
    const { status, error } = await refreshAt(server, session, `${session.tokens.refresh_token}`, '203.0.113.1');
    return [status, error];
  };
  const first = [await refresh(sessions[0]), await refresh(sessions[1])];
  late = 59_999;
  const within = await refresh(sessions[0]);
  late = 60_000;
  const outside = await refresh(sessions[1]);
  expect([first, within, outside]).toEqual([Array(2).fill([200, undefined]), [200, undefined], [400, 'invalid_grant']]);
});
