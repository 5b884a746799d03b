// `portico token`: creates, lists and revokes tokens beside a server on the same data.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { tokenScopes } from '../../src/store/oauth/tokens.ts';
import { list } from './asking.ts';
import { buildOnce, makePlace, type Place, portico, startServer } from './command.ts';
import { addPerson } from './prepared.ts';

let place: Place;
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const create = ['token', 'create', '--user', 'ada@example.com', '--name', 'nightly', '--scopes', 'mcp:read,mcp:write'];

test('the help describes every scope', async () => {
  const { code, stdout } = await portico(['token', 'create', '--help'], place);
  const told = [...stdout.matchAll(/^ {2}([a-z_]+:[a-z]+|all) +([A-Z].{15,})$/gm)].map(([, scope]) => scope!);
  expect([code, told.toSorted()]).toEqual([0, Object.values(tokenScopes).flat().toSorted()]);
});

test('only the token is written to standard output, and its description to standard error', async () => {
  await addPerson(place, { email: 'ada@example.com' });
  const { code, stdout, stderr } = await portico(create, place);
  const listed = await portico(['token', 'list'], place);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^svc_[\w-]{43}\n$/)]);
  expect(stderr).toMatch(
    /^Token 1, 'nightly', of ada@example.com, for mcp:read, mcp:write, until \d{4}-\d\d-\d\d \d\d:\d\d UTC. It is shown only once:\n$/,
  );
  const lines = listed.stdout.split('\n').map((line) => line.split(/ {2,}/));
  expect(lines.slice(0, 2)).toEqual([
    ['ID', 'NAME', 'USER', 'SCOPES', 'MADE', 'LAST USED', 'EXPIRES'],
    ['1', 'nightly', 'ada@example.com', 'mcp:read,mcp:write', expect.any(String), 'never', expect.any(String)],
  ]);
  expect(listed.stdout).not.toContain(stdout.trim());
  // The default is 90 days.
  expect((Date.parse(`${lines[1]![6]}`) - Date.now()) / 86_400_000).toBeCloseTo(90, 1);
});

test.each([
  [['--expires', 'soon'], /--expires: expected days as 90d, hours as 12h, or never, got 'soon'/],
  [['--user', 'nobody@example.com'], /--user: no user has the address 'nobody@example.com'/],
  [['--scopes', 'mcp:read,all'], /scopes: expected some of mcp:read.*a token has scopes of only one/],
])('%j is refused with what to send instead', async (change, problem) => {
  await addPerson(place, { email: 'ada@example.com' });
  const { code, stdout, stderr } = await portico([...create, ...change], place);
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(problem)]);
});

test('a running server refuses a token that the command revoked', async () => {
  const server = await startServer(['--email', 'ada@example.com'], place);
  try {
    const token = (await portico([...create, '--expires', 'never'], place)).stdout.trim();
    const before = await list(server.mcpUrl, token, { collectionName: 'orders', fields: ['id'] });
    const revoked = await portico(['token', 'revoke', '1'], place);
    const after = await fetch(server.mcpUrl, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    const again = await portico(['token', 'revoke', '1'], place);
    expect([before, revoked.stdout, after.status, again.code, again.stderr]).toEqual([
      expect.objectContaining({ hasMore: true }),
      "Token 1, 'nightly', of ada@example.com is revoked: its access ends immediately.\n",
      401,
      1,
      "portico: id: there is no token '1'. 'portico token list' shows the ids.\n",
    ]);
  } finally {
    server.signal('SIGTERM');
    await server.ended;
  }
});

test('the commands of docs/apis.md read and change a record of a running server', async () => {
  const docs = readFileSync('docs/apis.md', 'utf8');
  const section = docs.slice(docs.indexOf('### Records for scripts'), docs.indexOf('### Reading records'));
  const [made, calls] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  const args = /portico (token create .*)\)/.exec(made!)![1]!.split(' ');
  const server = await startServer(['--email', 'ada@example.com'], place);
  try {
    const { stdout: token } = await portico(args, place);
    const commands = calls!.replaceAll('http://localhost:3931', server.origin).replace(/^curl/gm, 'curl -sS');
    const env = { ...process.env, TOKEN: token.trim() };
    const { stdout } = await promisify(execFile)('bash', ['-c', `${commands.replace(/'\n(?=curl)/, "'\necho\n")}`], {
      env,
    });
    const [listed, changed] = stdout.split('\n').map((line) => JSON.parse(line) as { data: unknown });
    const answer = /```json\n(.*?)```/s.exec(section)![1]!;
    expect(listed).toEqual(JSON.parse(answer));
    expect(changed).toMatchObject({ data: { id: '1', attributes: { note: 'Counted' } } });
  } finally {
    server.signal('SIGTERM');
    await server.ended;
  }
});
