// `portico roles` beside a running server: a push applies to the next call of every signed-in user, for reads, writes,
// actions and row scopes. A file with problems changes nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { demoPath } from '../../src/cli/parts.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { openStore } from '../../src/store/open.ts';
import { callTool } from '../app/call.ts';
import { redirectUri } from '../app/shop.ts';
import { connect, register } from '../oauth/client.ts';
import { askSql } from '../sql/schemas.ts';
import { buildOnce, makePlace, type Place, portico, startServer } from './command.ts';
import { addPerson, makeToken } from './prepared.ts';

let place: Place;
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const fileOf = (clerk: string, teams = '{}') => `organization: Acme
project: Shop
environments: [Production]
teams:
  Operations: {}
  South: ${teams}
roles:
  Administrator:
    Production:
      "*": { may: everything }
  Member: {}
  Clerk:
    Production:
      ${clerk}
`;
const write = (text: string, name = 'roles.yaml') => {
  writeFileSync(join(place.folder, name), text);
  return name;
};
const addClerk = (email: string) =>
  addPerson(place, { email, role: 'Clerk', team: 'South', password: 'correct horse battery' });

async function adminLog(): Promise<string[]> {
  const config = loadConfig({ env: { SERVICE_DATA_DIR: join(place.folder, '.portico') } });
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  await store.close();
  const url = `sqlite:${join(place.folder, '.portico', 'portico.sqlite')}`;
  const rows = await askSql(
    { dialect: 'sqlite', url, drop: async () => {} },
    "SELECT action, subject FROM admin_logs WHERE type <> 'initial' ORDER BY id",
  );
  return rows.map(({ action, subject }) => `${action} ${subject}`);
}

describe('the command', () => {
  test('a pulled file is no change; a changed file is shown, applied once and logged', async () => {
    await addClerk('kim@example.com');
    const pulled = await portico(['roles', 'pull', 'roles.yaml'], place);
    const same = await portico(['roles', 'push', 'roles.yaml'], place);
    expect([pulled.code, same.code, same.stdout]).toEqual([
      0,
      0,
      'No changes: the permissions already match the file.\n',
    ]);

    const file = write(fileOf('orders: { may: [browse, read], fields: { total: hidden } }'));
    // Without a database, the command cannot check names.
    const unread = await portico(['roles', 'push', file, '--yes'], place);
    expect([unread.code, unread.stderr]).toEqual([
      1,
      `No database is set (SERVICE_DATABASE_URL): the names of collections and fields were not checked. Set the database (--database) or the module that exports the agent (--agent), or use --allow-unknown.\nportico: No changes were made.\n`,
    ]);
    const push = (...more: string[]) => portico(['roles', 'push', file, '--allow-unknown', ...more], place);
    const looked = await push('--check');
    const unasked = await push();
    expect([looked.code, looked.stdout]).toEqual([
      1,
      `  ~ the organization is renamed to 'Acme' (was: 'My organization')
  ~ the project is renamed to 'Shop' (was: 'My project')
  + role 'Clerk' in Production, orders: may browse, read
  + role 'Clerk' in Production, orders: field total is hidden (was: written)
Affected: 1 person of role 'Clerk'.
This was only a check: no changes were made.
`,
    ]);
    expect([unasked.code, unasked.stderr]).toEqual([
      1,
      expect.stringContaining(
        '--yes: there is no terminal for the confirmation. Use --yes to make these changes, or --check to only show them.',
      ),
    ]);
    const before = await adminLog();
    const made = await push('--yes');
    expect([made.code, made.stdout.split('\n').at(-2)]).toEqual([
      0,
      'Done. The changes apply from the next call on, in every process.',
    ]);
    expect((await adminLog()).slice(before.length)).toEqual([
      'organization.change ',
      'project.change ',
      'permission.add Clerk/Production/orders',
    ]);
    expect((await push('--check')).code).toBe(0);
    const again = await portico(['roles', 'pull'], place);
    expect(again.stdout).toContain('        may: [ browse, read ]\n        fields:\n          total: hidden\n');
  });

  test('a file with problems, or one that removes a team with members, changes nothing', async () => {
    await addClerk('kim@example.com');
    const bad = await portico(['roles', 'push', write(fileOf('orders: { may: [reed] }')), '--yes'], place);
    expect(bad).toEqual({
      code: 1,
      stdout: '',
      stderr: `roles.yaml:14:23: roles.Clerk.Production.orders.may[0]: there is no verb 'reed'. Near: read.
portico: 1 problem in roles.yaml. No changes were made.
`,
    });
    const without = write(fileOf('{}').replace('  South: {}\n', ''));
    const refused = await portico(['roles', 'push', without, '--yes'], place);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("team 'South' has members (kim@example.com)"),
    ]);
    const lost = await portico(['roles', 'push', 'none.yaml'], place);
    expect(lost.stderr).toBe("portico: file: 'none.yaml' cannot be read. 'portico roles pull none.yaml' writes one.\n");
    expect(await adminLog()).toEqual(['user.add kim@example.com']);
  });

  test('names are checked against the module that exports an embedded agent', async () => {
    const database = new (loadSqliteDriver().driver)(join(place.folder, 'shop.sqlite'));
    database.exec('CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)');
    database.close();
    write(
      `import { createAgent, createSqlDataSource } from '${pathToFileURL(resolve('dist/index.js')).href}';
export const agent = createAgent({ authSecret: 'a', envSecret: 'b', isProduction: true })
  .addDataSource(createSqlDataSource('sqlite:shop.sqlite'));
`,
      'agent.mjs',
    );
    const push = (collection: string, field: string) =>
      portico(
        [
          ...['roles', 'push', '--yes', '--agent', 'agent.mjs'],
          write(fileOf('{}', `{ Production: { ${collection}: { field: ${field}, operator: Equal, value: a } } }`)),
        ],
        place,
      );
    const pushed = [await push('custmers', 'name'), await push('customers', 'nmae'), await push('customers', 'name')];
    expect(pushed.map(({ code, stderr }) => [code, stderr.split('\n')[0]])).toEqual([
      [1, "roles.yaml:6: there is no collection 'custmers'. Near: customers."],
      [1, "roles.yaml:6: 'customers': there is no field 'nmae'. Near: name."],
      [0, ''],
    ]);
  });

  test('unknown names are refused with the line, and saved with --allow-unknown', async () => {
    const server = await startServer([], place);
    server.signal('SIGTERM');
    await server.ended;
    await addClerk('kim@example.com');
    const file = write(
      fileOf(
        `orders: { may: [browse], fields: { totl: hidden }, actions: { Shipp: never, Ship: { trigger: { when: { field: "customer:citty", operator: Present } } } } }
      ordres: { may: [browse] }
      customers: { may: [browse], fields: { email: read } }`,
        '{ Production: { orders: { field: "customer:country", operator: Equal, value: NO }, reviews: { field: strs, operator: Present } } }',
      ),
    );
    // A misspelled name would leave open what it should close.
    const misspelt = await portico(['roles', 'push', file, '--yes'], place);
    expect([misspelt.code, misspelt.stderr]).toEqual([
      1,
      `roles.yaml:6: 'reviews': there is no field 'strs'.
roles.yaml:14: 'orders': there is no field 'totl'. Near: total, note.
roles.yaml:14: 'orders': there is no action 'Shipp'. Near: Ship.
roles.yaml:14: 'customers': there is no field 'citty'. Near: city.
roles.yaml:15: there is no collection 'ordres'. Near: orders.
A misspelt name restricts no access. Correct it, or use --allow-unknown for names of a later release.
portico: No changes were made.
`,
    ]);
    const { code, stderr } = await portico(['roles', 'push', file, '--yes', '--allow-unknown'], place);
    expect([code, stderr]).toEqual([
      0,
      `warning: roles.yaml:6: 'reviews': there is no field 'strs'.
warning: roles.yaml:14: 'orders': there is no field 'totl'. Near: total, note.
warning: roles.yaml:14: 'orders': there is no action 'Shipp'. Near: Ship.
warning: roles.yaml:14: 'customers': there is no field 'citty'. Near: city.
warning: roles.yaml:15: there is no collection 'ordres'. Near: orders.
`,
    ]);
    // An ambiguous filter is refused. Its explicit form is saved.
    const clerk = 'orders: { may: [browse] }';
    const old = '{ Production: { customers: { field: "orders:status", operator: NotEqual, value: paid } } }';
    const refused = await portico(['roles', 'push', write(fileOf(clerk, old)), '--yes'], place);
    const clear =
      '{ Production: { customers: { none: orders, where: { field: status, operator: Equal, value: paid } } } }';
    const saved = await portico(['roles', 'push', write(fileOf(clerk, clear)), '--yes'], place);
    expect([refused.code, refused.stderr, saved.code, saved.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^roles\.yaml:6: the row scope of team 'South' on 'customers': .*\{"none":"orders","where":.*No changes were made\.\n$/s,
      ),
      0,
      '',
    ]);
  });
});

describe('beside a running server', () => {
  const everything = `customers: { may: [browse, read, edit] }
      orders: { may: [browse, read, edit], actions: { Ship: always } }
      reviews: { may: [browse, read] }`;
  const conditioned = `customers: { may: [browse, read] }
      orders: { may: [browse, read], actions: { Ship: { trigger: { when: { field: status, operator: Equal, value: lost } } } } }`;
  const seeing = '{ Production: { orders: { field: id, operator: Equal, value: -1 } } }';

  /** Whether a call used access that the second file removes. */
  const uses: Readonly<Record<string, readonly [tool: string, args: object, used: (text: string) => boolean]>> = {
    read: [
      'list',
      { collectionName: 'reviews', fields: ['id'], pagination: { size: 1 } },
      (text) => text.includes('"rows"'),
    ],
    write: [
      'update',
      { collectionName: 'customers', recordId: 1, attributes: { city: 'Bergen' } },
      (text) => !text.includes('FORBIDDEN'),
    ],
    // The action runs, and reports that the order cannot be shipped again.
    action: [
      'executeAction',
      {
        collectionName: 'orders',
        actionName: 'Ship',
        recordIds: [1],
        values: { carrier: 'Northern Post', tracking_number: 'x' },
      },
      (text) => !/FORBIDDEN|RECORD_NOT_FOUND/.test(text),
    ],
    scope: [
      'list',
      { collectionName: 'orders', fields: ['id'], pagination: { size: 1 } },
      (text) => /"rows":\[\[/.test(text),
    ],
  };

  test('a push applies to every call that begins after it, and to none that ended before', async () => {
    const open = write(fileOf(everything), 'open.yaml');
    const closed = write(fileOf(conditioned, seeing), 'closed.yaml');
    const server = await startServer([], place);
    try {
      const users = ['kim', 'bo', 'cy'].map((name) => `${name}@example.com`);
      for (const email of users) await addClerk(email);
      expect((await portico(['roles', 'push', open, '--yes'], place)).code).toBe(0);
      const tokens: string[] = [];
      for (const email of users) {
        const client = await register(server.mcpUrl.replace(/\/mcp$/, ''), {
          client_name: email,
          redirect_uris: [redirectUri],
        });
        const scope = 'mcp:read mcp:write mcp:action';
        const asked = { redirectUri, resource: server.mcpUrl, scope };
        tokens.push((await connect(client, { email, password: 'correct horse battery' }, asked)).tokens.access_token);
      }

      const calls: {
        readonly kind: string;
        readonly began: number;
        readonly ended: number;
        readonly used: boolean;
        readonly text: string;
      }[] = [];
      let isOver = false;
      const loops = tokens.flatMap((token) =>
        Object.entries(uses).map(async ([kind, [tool, args, used]]) => {
          while (!isOver) {
            const began = performance.now();
            const text = JSON.stringify(
              await callTool(server.mcpUrl, token, tool, args as Record<string, unknown>),
            ).replaceAll('\\"', '"');
            calls.push({ kind, began, ended: performance.now(), used: used(text), text });
          }
        }),
      );
      /** Waits for five calls of each kind that start after now; on a busy machine that takes a while. */
      const enough = async () => {
        const from = performance.now();
        const count = (kind: string) => calls.filter((each) => each.kind === kind && each.began >= from).length;
        while (!Object.keys(uses).every((kind) => count(kind) >= 5))
          await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const pushes: { readonly takes: boolean; readonly began: number; readonly ended: number }[] = [];
      for (const file of [closed, open, closed, open, closed]) {
        await enough();
        const began = performance.now();
        const { code, stderr } = await portico(['roles', 'push', file, '--yes'], place);
        pushes.push({ takes: file === closed, began, ended: performance.now() });
        expect([code, stderr]).toEqual([0, '']);
      }
      await enough();
      isOver = true;
      await Promise.all(loops);

      const wrong: string[] = [];
      const judged: Record<string, number> = {};
      for (const [index, { takes, ended }] of pushes.entries()) {
        const until = pushes[index + 1]?.began ?? Number.POSITIVE_INFINITY;
        // Only the previous push decides the outcome of calls that are completely between two pushes.
        for (const call of calls.filter((each) => each.began >= ended && each.ended <= until)) {
          judged[`${call.kind} ${takes}`] = (judged[`${call.kind} ${takes}`] ?? 0) + 1;
          if (call.used === takes) wrong.push(`${call.kind} after push ${index}: ${call.text}`);
        }
      }
      expect(wrong).toEqual([]);
      // Each kind was called often enough, with and without access.
      expect(
        Object.entries(judged)
          .filter(([, count]) => count >= 6)
          .map(([name]) => name)
          .sort(),
      ).toEqual(
        Object.keys(uses)
          .flatMap((kind) => [`${kind} false`, `${kind} true`])
          .sort(),
      );
    } finally {
      server.signal('SIGTERM');
      await server.ended;
    }
  }, 120_000);

  test('a changed role, disabling and enabling a user apply to their next call', async () => {
    const server = await startServer([], place);
    try {
      await addClerk('kim@example.com');
      await portico(['roles', 'push', write(fileOf(everything)), '--yes'], place);
      const token = await makeToken(place, 'kim@example.com', { name: 'a', scopes: ['mcp:read'] });
      const call = async () =>
        JSON.stringify(await callTool(server.mcpUrl, token, 'list', { collectionName: 'reviews', fields: ['id'] }));
      const seen: string[] = [];
      const look = async (said: string) =>
        seen.push(
          `${said.trim()} -> ${/UNKNOWN_COLLECTION|"status":401|"rows"/.exec((await call()).replaceAll('\\"', '"'))}`,
        );
      const run = async (...args: string[]) => look((await portico(['user', ...args], place)).stdout);
      await look('as he was added');
      await run('set', 'kim@example.com', '--role', 'Member', '--tag', 'desk=4', '--tag', 'region=a=b');
      await run('set', 'kim@example.com', '--role', 'Clerk', '--unset-tag', 'desk');
      await run('disable', 'kim@example.com');
      await run('disable', 'kim@example.com');
      await run('enable', 'kim@example.com');
      expect(seen).toEqual([
        'as he was added -> "rows"',
        'kim@example.com: role Member (was: Clerk)\nkim@example.com: tags desk=4 region=a=b (was: -) -> UNKNOWN_COLLECTION',
        'kim@example.com: role Clerk (was: Member)\nkim@example.com: tags region=a=b (was: desk=4 region=a=b) -> "rows"',
        'kim@example.com is disabled from the next call on. -> "status":401',
        'No changes: kim@example.com is already disabled. -> "status":401',
        'kim@example.com is active from the next call on. -> "rows"',
      ]);
      const refused = await portico(['user', 'set', 'kim@example.com', '--tag', 'desk', '--team', 'Sout'], place);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        "portico: --tag: expected key=value, such as region=south, got 'desk'.\n",
      ]);
      expect(readFileSync(demoPath(join(place.folder, '.portico'))).length).toBeGreaterThan(0);
    } finally {
      server.signal('SIGTERM');
      await server.ended;
    }
  }, 60_000);
});
