// The compose file, checked without a container engine: its paths exist, its variables are settings, and it holds no
// secret. A real MariaDB runs its SQL for an empty database, and the config serves that.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { settings } from '../../src/core/config.ts';
import { servers } from '../databases.ts';

const folder = 'deploy/compose';

interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const { services, secrets, volumes } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
  readonly services: Readonly<Record<'portico' | 'mariadb' | 'redis', Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const all = Object.values(services);
const portico = services.portico;

test('every variable that it sets is a setting, with a valid value', () => {
  const rows = Object.values(settings);
  for (const [name, value] of Object.entries(portico.environment ?? {})) {
    const row = rows.find(({ env }) => env === name.replace(/_FILE$/, ''));
    expect([name, row?.env]).toEqual([name, name.replace(/_FILE$/, '')]);
    if (!name.endsWith('_FILE')) expect(() => row!.read(value)).not.toThrow();
    // Secret settings, and only these, come from files.
    expect([name, name.endsWith('_FILE')]).toEqual([name, row && 'secret' in row && row.secret === true]);
  }
});

test('secrets are files: used, declared and read are the same ones', () => {
  const used = all.flatMap((service) => service.secrets ?? []);
  expect([...new Set(used)].sort()).toEqual(Object.keys(secrets).sort());
  for (const service of all)
    for (const [name, value] of Object.entries(service.environment ?? {}))
      if (name.endsWith('_FILE')) expect(used).toContain(value.replace('/run/secrets/', ''));
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const made: readonly string[] = readme.replaceAll('$name', 'root').match(/secrets\/[\w-]+/g) ?? [];
  const missing = Object.values(secrets).filter(
    ({ file }) => !made.includes(file) && !/(shop|portico|admin)-pass/.test(file),
  );
  expect(missing).toEqual([]);
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toContain('secrets/');
});

test('the services are MariaDB, Redis and Portico, with their dependencies, on localhost only', () => {
  expect(Object.keys(services)).toEqual(['portico', 'mariadb', 'redis']);
  for (const service of all) {
    // The image of Portico has its own.
    if (service.build === undefined) expect(service.healthcheck?.test[0]).toBe('CMD');
    else expect(existsSync(join(folder, service.build, 'Dockerfile'))).toBe(true);
    for (const volume of service.volumes ?? []) {
      const [from = ''] = volume.split(':');
      expect([from, from.startsWith('.') ? existsSync(join(folder, from)) : from in volumes]).toEqual([from, true]);
    }
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
  const condition = 'service_healthy';
  expect(portico.depends_on).toEqual({ mariadb: { condition }, redis: { condition } });
  const { MCP_SERVER_PORT: port, SERVICE_PUBLIC_URL: url } = portico.environment!;
  expect([portico.ports, url]).toEqual([[`127.0.0.1:${port}:${port}`], `http://localhost:${port}`]);
});

describe.each(servers.filter(({ dialect }) => dialect === 'mariadb'))('on $dialect', ({ create }) => {
  test('an empty server is set up and served as the config says', async () => {
    const database = await create();
    onTestFinished(() => database.drop());
    const connection = await mysql.createConnection({ uri: database.url, multipleStatements: true });
    await connection.query(readFileSync(join(folder, 'mariadb/2-shop.sql'), 'utf8').replace('USE shop;', ''));
    await connection.end();
    const { customize } = await import('../../deploy/compose/portico.config.mjs' as string);
    const agent = createHeadlessAgent().addDataSource(createSqlDataSource(database.url));
    customize(agent);
    const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
    const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
    onTestFinished(() => engine.close());
    const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
    const waiting = async () => {
      const fields = ['frame_number', 'what'];
      const { rows } = await engine.list(access, { collection: 'repairs', segment: 'Waiting', fields, limit: 9 });
      return rows;
    };
    const before = await waiting();
    const handed = await engine.actions.execute(access, {
      collection: 'repairs',
      action: 'Hand over',
      recordIds: [2],
      values: { Price: 26 },
    });
    expect([before, handed.type, await waiting()]).toEqual([
      [
        ['TR-77013', 'true the back wheel'],
        ['TR-77020', 'look why it clicks'],
      ],
      'success',
      [['TR-77020', 'look why it clicks']],
    ]);
  });
});
