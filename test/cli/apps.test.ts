// `portico apps` and `portico keys`, as administrators run them beside a server on the same data.
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { redirectUri } from '../app/shop.ts';
import { connect, refresh, register } from '../oauth/client.ts';
import { createBrowser } from '../oauth/flow.ts';
import { freePort } from '../ports.ts';
import { buildOnce, makePlace, type Place, portico, startServer } from './command.ts';

let place: Place;
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const cells = (text: string): string[][] => text.split('\n').map((line) => line.split(/ {2,}/));

test('apps are listed, revoked and blocked, and keys rotated and retired, while the server runs', async () => {
  const server = await startServer(['--email', 'ada@example.com'], place);
  try {
    const { stdout } = await portico(['user', 'password', 'ada@example.com'], place);
    const account = { email: 'ada@example.com', password: `${/Password: (\S+)/.exec(stdout)?.[1]}` };
    const issuer = server.mcpUrl.replace(/\/mcp$/, '');
    const metadata = { client_name: 'Note\u001b[2J\u3164\u202ebook', redirect_uris: [redirectUri] };
    const browser = createBrowser();
    const [first, second] = [
      await connect(await register(issuer, metadata), account, { redirectUri, browser }),
      await connect(await register(issuer, metadata), account, { redirectUri, browser }),
    ];
    const status = async ({ tokens }: typeof first) =>
      (await fetch(server.mcpUrl, { method: 'POST', headers: { authorization: `Bearer ${tokens.access_token}` } }))
        .status;
    const open = await status(first);

    const listed = cells((await portico(['apps', 'list', '--user', 'ada@example.com'], place)).stdout);
    const idOf = (client: string) => `${listed.find((row) => row[2] === client)?.[0]}`;
    const revoked = await portico(['apps', 'revoke', idOf(first.client.client_id)], place);
    const again = await portico(['apps', 'revoke', idOf(first.client.client_id)], place);
    const statuses = [await status(first), await status(second)];
    expect([listed[0], listed.length, open]).toEqual([
      ['ID', 'APP', 'CLIENT', 'USER', 'SCOPES', 'LIMITS', 'SINCE', 'LAST USED', 'ENDS'],
      4,
      415,
    ]);
    expect(listed[1]!.slice(1, 2)).toEqual(['Note[2Jbook']);
    expect([revoked.stdout, again.code, again.stderr, statuses]).toEqual([
      'Note[2Jbook of ada@example.com is disconnected: its access ends immediately.\n',
      1,
      expect.stringMatching(/^portico: id: there is no connection '.*'\. 'portico apps list' shows the ids\.\n$/),
      [401, 415],
    ]);

    const rotated = await portico(['keys', 'rotate', 'oauth-signing'], place);
    const keys = ((await (await fetch(`${issuer}/oauth/jwks`)).json()) as { keys: unknown[] }).keys.length;
    const retired = await portico(['keys', 'retire', '--after', '0h'], place);
    const left = ((await (await fetch(`${issuer}/oauth/jwks`)).json()) as { keys: unknown[] }).keys.length;
    const table = cells((await portico(['keys', 'list'], place)).stdout);
    const wrong = [
      await portico(['keys', 'rotate', 'cookie'], place),
      await portico(['keys', 'retire', '--after', 'soon'], place),
    ];
    expect([rotated.stdout, keys, retired.stdout, left]).toEqual([
      "Generation 2 of 'oauth-signing' signs from now on; existing signatures stay valid.\n",
      2,
      "Generation 1 of 'oauth-signing' is retired: its signatures are no longer valid.\n",
      1,
    ]);
    expect(table.find(([purpose]) => purpose === 'oauth-signing')?.slice(1, 2)).toEqual(['2']);
    expect(wrong.map(({ code, stderr }) => [code, stderr])).toEqual([
      [1, expect.stringMatching(/^portico: purpose: 'cookie' has no key; purposes with a key: .*oauth-cookies/)],
      [1, "portico: --after: expected days as 30d or hours as 12h, got 'soon'.\n"],
    ]);

    const clientId = second.client.client_id;
    const blocked = await portico(['apps', 'block', clientId], place);
    const refused = await refresh(second, `${second.tokens.refresh_token}`).catch(
      (error: { error: string }) => error.error,
    );
    const withBlocked = (await portico(['apps', 'list'], place)).stdout;
    const unblocked = [
      await portico(['apps', 'unblock', clientId], place),
      await portico(['apps', 'unblock', clientId], place),
    ];
    expect([
      blocked.stdout,
      await status(second),
      refused,
      withBlocked.includes(`BLOCKED`),
      withBlocked.includes(clientId),
    ]).toEqual([
      `${clientId} is blocked: new sign-ins are rejected, and 1 connection ended.\n`,
      401,
      'unauthorized_client',
      true,
      true,
    ]);
    expect(unblocked.map(({ code }) => code)).toEqual([0, 1]);
  } finally {
    server.signal('SIGTERM');
    await server.ended;
  }
});

test('lists say so if there is no app or key yet', async () => {
  const said = await Promise.all(
    [
      ['apps', 'list'],
      ['keys', 'list'],
    ].map((words) => portico(words, place)),
  );
  expect(said.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, 'No app is connected.\n'],
    [0, 'There is no key yet: each is created when it is first needed.\n'],
  ]);
});

test.each(['-', '--', '-a-', '--A'])('an id that begins with %s is not read as an option', async (start) => {
  const id = start.padEnd(43, 'aB3_');
  const { code, stderr } = await portico(['apps', 'revoke', id], place);
  expect([code, stderr]).toEqual([
    1,
    `portico: id: there is no connection '${id}'. 'portico apps list' shows the ids.\n`,
  ]);
});

test('a secret that begins with a dash is the value of its option', async () => {
  const server = `http://127.0.0.1:${await freePort()}`;
  const secret = `-${'a'.repeat(42)}`;
  const said = [];
  for (const option of ['--env-secret', '-e'])
    said.push(await portico(['cloud', 'bootstrap', option, secret, '--server', server], place));
  expect(said.map(({ code, stderr }) => [code, stderr])).toEqual(
    Array(2).fill([1, expect.stringContaining(`No server answers at ${server}`)]),
  );
});
