// `portico cloud`: creates, types, compiles and runs a folder. Its errors say what to do.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { freePort } from '../ports.ts';
import { type CloudPlace, openCloud, runSigningIn } from './cloud-server.ts';
import { compileFolder, linkModules, portico } from './command.ts';

let cloud: CloudPlace;
beforeAll(async () => {
  cloud = await openCloud();
}, 60_000);
afterAll(() => cloud?.stop());

type Work = ReturnType<CloudPlace['work']>;
const bootstrapArgs = (...more: string[]) => [
  'cloud',
  'bootstrap',
  '--env-secret',
  cloud.secret,
  '--server',
  cloud.origin,
  ...more,
];
const bootstrap = (work: Work, ...more: string[]) =>
  runSigningIn({ args: bootstrapArgs(...more), ...work, account: cloud.account });
const customization = (body: string) =>
  `import type { Agent } from 'portico/cloud';\nimport type { Schema } from '../typings.js';\n\nexport function customizeAgent(agent: Agent<Schema>): void {\n${body}\n}\n`;
const shout = `  agent.customizeCollection('customers', (customers) =>
    customers.addField('shout', {
      columnType: 'String',
      dependencies: ['last_name'],
      getValues: (records) => records.map((record) => \`\${record.last_name}!\`),
    }),
  );`;

test('bootstrap creates a folder that compiles, and update-typings follows the code and the database', {
  timeout: 120_000,
}, async () => {
  const work = cloud.work();
  const made = await bootstrap(work);
  const folder = join(work.folder, 'cloud-customizer');
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  expect([made.code, made.stderr, readdirSync(folder).sort(), readdirSync(work.folder).sort()]).toEqual([
    0,
    '',
    ['.env', '.gitignore', 'README.md', 'package.json', 'renames.json', 'src', 'tsconfig.json', 'typings.d.ts'],
    ['cloud-customizer', 'tokens'],
  ]);
  expect([
    made.stdout.includes(cloud.secret),
    statSync(join(folder, '.env')).mode & 0o777,
    readdirSync(join(work.folder, 'tokens')).map((name) => statSync(join(work.folder, 'tokens', name)).mode & 0o777),
    read('.env').includes(`SERVICE_ENV_SECRET=${cloud.secret}`),
    read('.gitignore').includes('.env'),
    /customers: \{[\s\S]*last_name: "String"/.test(read('typings.d.ts')),
  ]).toEqual([false, 0o600, [0o600], true, true, true]);

  linkModules(folder);
  const compiled = await compileFolder(folder);
  expect([compiled.code, compiled.stdout]).toEqual([0, '']);

  const env = work.env;
  const run = (...args: string[]) => portico(['cloud', ...args], { folder, env });
  writeFileSync(join(folder, 'src/index.ts'), customization(shout));
  const typed = await run('update-typings');
  expect([typed.code, typed.stdout, typed.stderr]).toEqual([0, 'typings.d.ts is updated.\n', '']);
  expect(read('typings.d.ts')).toContain('shout: "String" | null;');
  const again = await run('update-typings');
  expect(again.stdout).toBe('typings.d.ts is unchanged.\n');

  // Typings include tables created while the server runs, without a restart.
  const { driver } = loadSqliteDriver();
  const change = (sql: string) => {
    const database = new driver(join(cloud.folder, '.portico', 'demo.sqlite'));
    database.prepare(sql).run();
    database.close();
  };
  change('create table parcels (id integer primary key, label text not null)');
  const later = await run('update-typings');
  change('drop table parcels');
  expect([later.code, later.stdout]).toEqual([0, 'typings.d.ts is updated.\n']);
  expect(read('typings.d.ts')).toMatch(/parcels: \{/);
});

describe('errors', { timeout: 120_000 }, () => {
  let work: Work;
  beforeAll(() => {
    work = cloud.work();
  });
  const run = (...args: string[]) => portico(['cloud', ...args], work);
  const left = () => readdirSync(work.folder).filter((name) => name !== 'tokens');

  test('a missing secret, an unknown option and an invalid name are reported', async () => {
    const [none, unknown, name] = await Promise.all([
      run('bootstrap', '--server', cloud.origin),
      run('bootstrap', '--secret', 'x'),
      run('bootstrap', '../elsewhere', '-e', 'x'),
    ]);
    expect([[none.code, none.stderr], unknown.code, [name.code, name.stderr]]).toEqual([
      [
        1,
        'portico: The secret of the environment is missing: set --env-secret, or SERVICE_ENV_SECRET. On the server, portico cloud secret prints it.\n',
      ],
      2,
      [1, "portico: name: expected a name of letters, digits, dots and dashes, got '../elsewhere'.\n"],
    ]);
  });

  test('a server that is down, is not Portico, lacks https or has another URL is reported', async () => {
    const port = await freePort();
    const other = createServer((_req, res) => res.end('<h1>Welcome</h1>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      const answers = await Promise.all(
        [
          `http://127.0.0.1:${port}`,
          origin,
          'http://data.example.com',
          cloud.origin.replace('127.0.0.1', 'localhost'),
          'nonsense',
        ].map((server) => run('login', '--server', server)),
      );
      expect(answers.map(({ code, stderr }) => [code, stderr.replace(/^portico: |\n$/g, '')])).toEqual([
        [1, `No server answers at http://127.0.0.1:${port} (ECONNREFUSED). Start it, or set another with --server.`],
        [
          1,
          `The server at ${origin} is not a Portico server. Set another with --server: the URL of its /mcp, without /mcp.`,
        ],
        [1, '--server: http://data.example.com is not https. Only a server on this machine may use http.'],
        [
          1,
          `The server at ${cloud.origin.replace('127.0.0.1', 'localhost')} has the URL ${cloud.origin}. If you want to use it: --server ${cloud.origin}`,
        ],
        [1, "--server: expected an address such as https://data.example.com, got 'nonsense'."],
      ]);
    } finally {
      other.close();
    }
  });

  test('a sign-in denied in the browser changes nothing', async () => {
    const { code, stderr } = await runSigningIn({
      args: bootstrapArgs(),
      ...work,
      account: cloud.account,
      button: 'deny',
    });
    expect([code, stderr, left()]).toEqual([
      1,
      'portico: The sign-in was cancelled in the browser. No changes were made.\n',
      [],
    ]);
  });

  test('a wrong secret leaves no folder but keeps the sign-in; an existing folder is not changed', async () => {
    const wrong = await runSigningIn({
      args: ['cloud', 'bootstrap', '-e', 'another', '-s', cloud.origin],
      ...work,
      account: cloud.account,
    });
    const nothing = left();
    const right = await run('bootstrap', 'mine', '-e', cloud.secret, '-s', cloud.origin);
    writeFileSync(join(work.folder, 'mine', '.env'), 'KEPT=yes\n');
    const again = await run('bootstrap', 'mine', '-e', cloud.secret, '-s', cloud.origin);
    expect([
      [wrong.code, wrong.stderr, nothing],
      [right.code, left()],
      [again.code, again.stderr, readFileSync(join(work.folder, 'mine', '.env'), 'utf8')],
    ]).toEqual([
      [
        1,
        `portico: ${cloud.origin} did not return its structure: The environment secret does not match this environment. On the server, \`portico cloud secret\` shows it, or the application sets it as envSecret. (403)\n`,
        [],
      ],
      [0, ['mine']],
      [
        1,
        "portico: The folder 'mine' already exists. Choose another name: portico cloud bootstrap <name>. No changes were made.\n",
        'KEPT=yes\n',
      ],
    ]);
  });

  test('a revoked sign-in is reported, and login signs in again', async () => {
    const env = { ...work.env, SERVICE_CLOUD_SERVER: cloud.origin, SERVICE_ENV_SECRET: cloud.secret };
    const folder = join(work.folder, 'mine');
    linkModules(folder);
    const update = () => portico(['cloud', 'update-typings'], { folder, env });
    const renewed = await portico(['cloud', 'login'], { folder, env });
    const good = await update();
    const list = await portico(['apps', 'list'], { folder: cloud.folder });
    const ids = [...list.stdout.matchAll(/^(\S+) .*Portico command line/gm)].map(([, id]) => id!);
    for (const id of ids) await portico(['apps', 'revoke', id], { folder: cloud.folder });
    const gone = await update();
    const again = await runSigningIn({ args: ['cloud', 'login'], folder, env, account: cloud.account });
    const after = await update();
    expect([
      [renewed.code, renewed.stdout],
      good.code,
      ids.length > 0,
      [gone.code, gone.stderr],
      [again.code, again.stdout.endsWith('Signed in.\n')],
      after.code,
    ]).toEqual([
      [0, `The sign-in to ${cloud.origin} is renewed.\n`],
      0,
      true,
      [1, `portico: You are not signed in to ${cloud.origin}, or the sign-in has expired. Run: portico cloud login\n`],
      [0, true],
      0,
    ]);
  });

  test('a second sign-in replaces and ends the first', async () => {
    const env = { ...work.env, SERVICE_CLOUD_SERVER: cloud.origin };
    const [file] = readdirSync(join(work.folder, 'tokens'));
    const path = join(work.folder, 'tokens', file!);
    const first = readFileSync(path, 'utf8');
    const second = await runSigningIn({
      args: ['cloud', 'login', '--again'],
      folder: work.folder,
      env,
      account: cloud.account,
    });
    const now = readFileSync(path, 'utf8');
    writeFileSync(path, first);
    const old = await portico(['cloud', 'update-typings', '-e', cloud.secret], {
      folder: join(work.folder, 'mine'),
      env,
    });
    expect([second.code, first !== now, old.code, /portico cloud login/.test(old.stderr), existsSync(path)]).toEqual([
      0,
      true,
      1,
      true,
      false,
    ]);
    writeFileSync(path, now);
  });

  test('a user who is no longer a developer is refused', async () => {
    const { folder } = cloud;
    const env = { ...work.env, SERVICE_CLOUD_SERVER: cloud.origin, SERVICE_ENV_SECRET: cloud.secret };
    await portico(['user', 'set', cloud.account.email, '--level', 'editor'], { folder });
    const refused = await portico(['cloud', 'update-typings'], { folder: join(work.folder, 'mine'), env });
    await portico(['user', 'set', cloud.account.email, '--level', 'admin'], { folder });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `portico: ${cloud.origin} did not return its structure: Only admins and developers can read the structure, and your level is editor. Ask an administrator to change it. (403)\n`,
    ]);
  });

  test('code that throws, does not parse or names unknown collections or fields is reported with its line', async () => {
    const env = { ...work.env, SERVICE_CLOUD_SERVER: cloud.origin, SERVICE_ENV_SECRET: cloud.secret };
    const folder = join(work.folder, 'mine');
    const told: (readonly [number | null, string])[] = [];
    for (const body of [
      "  void agent;\n  throw new Error('not today');",
      "  agent.customizeCollection('customers', () => {\n    throw new Error('not now');\n  });",
      "  agent.customizeCollection('costumers', () => {});",
      "  agent.customizeCollection('customers', (customers) => customers.removeField('lastname'));",
      '  agent.(',
    ]) {
      writeFileSync(join(folder, 'src/index.ts'), customization(body));
      const { code, stderr } = await portico(['cloud', 'update-typings'], { folder, env });
      told.push([code, stderr.replaceAll(`${folder}/`, '')]);
    }
    expect(told).toEqual([
      [1, 'portico: customizeAgent failed at src/index.ts:6: not today\n'],
      [1, expect.stringMatching(/customizeCollection\('customers'\).*not now.*src\/index\.ts:5/s)],
      [1, "portico: There is no collection 'costumers'. Near: customers. (src/index.ts:5)\n"],
      [1, expect.stringMatching(/lastname.*src\/index\.ts:5/s)],
      [1, expect.stringMatching(/^portico: The code does not compile:\nsrc\/index\.ts\(5,/)],
    ]);
    writeFileSync(join(folder, 'src/index.ts'), customization("  agent.customizeCollection('costumers', () => {});"));
    const start = await portico(['cloud', 'start', '--port', '0'], { folder, env });
    expect([start.code, start.stderr]).toEqual([
      1,
      expect.stringMatching(/does not compile:\nsrc\/index\.ts\(5,.*costumers/s),
    ]);
  });

  test('a folder without a customization is refused', async () => {
    const { code, stderr } = await run('update-typings', '-e', 'x');
    expect([code, stderr]).toEqual([
      1,
      `portico: ${work.folder} is not a folder of customizations: it has no src/index.ts with a tsconfig.json. Run this in the folder that portico cloud bootstrap created.\n`,
    ]);
  });
});

test('with SERVICE_CLOUD=false sign-in is refused', { timeout: 60_000 }, async () => {
  const own = await openCloud({ SERVICE_CLOUD: 'false', SERVICE_ENV_SECRET: 'of the operator' });
  try {
    const { code, stderr } = await portico(['cloud', 'login', '--server', own.origin], own.work());
    expect([own.secret, code, stderr]).toEqual([
      'of the operator',
      1,
      `portico: ${own.origin} does not allow sign-in with portico cloud: it is another kind of server, or has SERVICE_CLOUD=false.\n`,
    ]);
  } finally {
    await own.stop();
  }
});
