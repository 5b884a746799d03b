// Real databases for the tests: each one made with a random name and dropped after. SQLite is always there; MariaDB and
// PostgreSQL are used when TEST_MYSQL_URL or TEST_POSTGRES_URL is set or a server answers on its usual local port.
// A missing server is said loudly, and is a failure with CI=true. TEST_DATABASES=sqlite,... leaves the others out.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';

export type Dialect = 'sqlite' | 'mariadb' | 'postgres';

export interface TestDatabase {
  readonly dialect: Dialect;
  /** As `portico start --database` takes it. */
  readonly url: string;
  drop(): Promise<void>;
}

export interface TestServer {
  readonly dialect: Dialect;
  create(): Promise<TestDatabase>;
}

const name = (): string => `portico_test_${randomBytes(6).toString('hex')}`;

const sqlite: TestServer = {
  dialect: 'sqlite',
  async create() {
    const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
    return {
      dialect: 'sqlite',
      url: `sqlite:${join(folder, 'data.sqlite')}`,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

function mariadb(server: string): TestServer {
  return {
    dialect: 'mariadb',
    async create() {
      const database = name();
      const run = async (sql: string) => {
        const connection = await mysql.createConnection(server);
        await connection.query(sql);
        await connection.end();
      };
      await run(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
      const url = new URL(server);
      url.pathname = `/${database}`;
      return { dialect: 'mariadb', url: url.href, drop: () => run(`DROP DATABASE IF EXISTS ${database}`) };
    },
  };
}

function postgres(server: string): TestServer {
  return {
    dialect: 'postgres',
    async create() {
      const database = name();
      const run = async (sql: string) => {
        const client = new pg.Client({ connectionString: server });
        await client.connect();
        await client.query(sql);
        await client.end();
      };
      await run(`CREATE DATABASE ${database}`);
      const url = new URL(server);
      url.pathname = `/${database}`;
      return {
        dialect: 'postgres',
        url: url.href,
        drop: () => run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
      };
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function find(
  dialect: Dialect,
  variable: string,
  port: number,
  local: string,
  make: (url: string) => TestServer,
): Promise<TestServer[]> {
  const { TEST_DATABASES: wanted } = process.env;
  if (wanted !== undefined && !wanted.split(',').includes(dialect)) {
    console.warn(`\n*** NO ${dialect.toUpperCase()}: its tests do not run, since TEST_DATABASES is ${wanted}.\n`);
    return [];
  }
  const url = process.env[variable] ?? ((await answers(port)) ? local : undefined);
  if (url) return [make(url)];
  const message = `NO ${dialect.toUpperCase()} SERVER: its tests do not run. Start one on port ${port} or set ${variable}.`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
  return [];
}

/** Every server that the tests can use, SQLite first. */
export const servers: readonly TestServer[] = [
  sqlite,
  ...(await find('mariadb', 'TEST_MYSQL_URL', 3306, 'mysql://root@127.0.0.1:3306/', mariadb)),
  ...(await find('postgres', 'TEST_POSTGRES_URL', 5432, 'postgres://postgres@127.0.0.1:5432/postgres', postgres)),
];

/** Those that are another process. */
export const remoteServers: readonly TestServer[] = servers.filter(({ dialect }) => dialect !== 'sqlite');
