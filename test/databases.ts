// Real databases for the tests, created with random names and dropped afterwards. SQLite is
// always available. MariaDB and PostgreSQL are used if TEST_MYSQL_URL or TEST_POSTGRES_URL
// is set or a server answers on the default local port. A missing server prints a warning,
// and fails with CI=true. TEST_DATABASES=sqlite,... restricts the tests to these databases.
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
  /** In the format of `portico start --database`. */
  readonly url: string;
  /** `forGood`: the database no longer accepts connections. Otherwise it may be emptied and reused by another test. */
  drop(forGood?: boolean): Promise<void>;
}

export interface TestServer {
  readonly dialect: Dialect;
  create(): Promise<TestDatabase>;
}

interface UsualServer extends TestServer {
  /** Drops all databases of a run, by the prefix of their names. */
  dropAll(prefix: string): Promise<void>;
}

/** All databases of a run have the same prefix, so shared ones can be dropped with the run (run.ts). */
const name = (): string => (process.env.TEST_RUN ?? 'portico_test_') + randomBytes(6).toString('hex');

const sqlite: UsualServer = {
  dialect: 'sqlite',
  async create() {
    const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
    return {
      dialect: 'sqlite',
      url: `sqlite:${join(folder, 'data.sqlite')}`,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
  dropAll: async () => {},
};

function mariadb(server: string): UsualServer {
  const run = async (sql: string) => {
    const connection = await mysql.createConnection(server);
    try {
      return (await connection.query(sql))[0];
    } finally {
      await connection.end();
    }
  };
  return {
    dialect: 'mariadb',
    async create() {
      const database = name();
      await run(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
      const url = new URL(server);
      url.pathname = `/${database}`;
      return {
        dialect: 'mariadb',
        url: url.href,
        drop: async () => void (await run(`DROP DATABASE IF EXISTS ${database}`)),
      };
    },
    async dropAll(prefix) {
      const like = prefix.replaceAll('_', '\\_');
      const found = (await run(
        `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE '${like}%'`,
      )) as { name: string }[];
      for (const { name } of found) await run(`DROP DATABASE IF EXISTS ${name}`);
    },
  };
}

/** Run in the database: drops everything in it, except the objects that `leftInPostgres` finds. */
const emptyPostgres = `
  SET lock_timeout = '1s';
  SET client_min_messages = 'warning';
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname <> 'information_schema' AND nspname !~ '^pg_' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
    CREATE SCHEMA public AUTHORIZATION pg_database_owner;
    GRANT USAGE ON SCHEMA public TO PUBLIC;
  END $$`;
const leftInPostgres = `
  SELECT oid FROM pg_extension WHERE extname <> 'plpgsql'
  UNION ALL SELECT oid FROM pg_event_trigger
  UNION ALL SELECT oid FROM pg_publication
  UNION ALL SELECT oid FROM pg_largeobject_metadata
  UNION ALL SELECT setdatabase FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
  UNION ALL SELECT oid FROM pg_namespace WHERE current_setting('server_version_num')::int < 150000`;

/** The maximum number of uses, because the system catalogs grow with each. */
const USES = 40;

function postgres(server: string): UsualServer {
  const run = async (sql: string, url = server) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  /** Creating and dropping a database takes a tenth of a second of CPU time; emptying takes a tenth of that. */
  const kept: { readonly database: string; readonly uses: number }[] = [];
  return {
    dialect: 'postgres',
    async create() {
      const { database, uses } = kept.pop() ?? { database: name(), uses: 0 };
      if (uses === 0) await run(`CREATE DATABASE ${database}`);
      const url = new URL(server);
      url.pathname = `/${database}`;
      let isGone = false;
      const empty = async (): Promise<boolean> => {
        await run(emptyPostgres, url.href);
        return (await run(leftInPostgres, url.href)).length === 0;
      };
      return {
        dialect: 'postgres',
        url: url.href,
        async drop(forGood) {
          if (isGone) return;
          // Kept databases are dropped with the run.
          const mayBeKept = process.env.TEST_RUN !== undefined && uses < USES && forGood !== true;
          const isKept = mayBeKept && (await empty().catch(() => false));
          if (isKept) kept.push({ database, uses: uses + 1 });
          else await run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
          isGone = true;
        },
      };
    },
    async dropAll(prefix) {
      const like = prefix.replaceAll('_', '\\_');
      const found: { name: string }[] = await run(
        `SELECT datname AS name FROM pg_database WHERE datname LIKE '${like}%'`,
      );
      for (const { name } of found) await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
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
  make: (url: string) => UsualServer,
): Promise<UsualServer[]> {
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

/** All available servers, SQLite first. */
export const servers: readonly UsualServer[] = [
  sqlite,
  ...(await find('mariadb', 'TEST_MYSQL_URL', 3306, 'mysql://root@127.0.0.1:3306/', mariadb)),
  ...(await find('postgres', 'TEST_POSTGRES_URL', 5432, 'postgres://postgres@127.0.0.1:5432/postgres', postgres)),
];

/** The databases that run in another process. */
export const remoteServers: readonly TestServer[] = servers.filter(({ dialect }) => dialect !== 'sqlite');
