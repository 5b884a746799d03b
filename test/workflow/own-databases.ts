// Database servers that a test may kill and restart on the same files: child processes on free ports,
// each with its own folder and with small buffers, so a start takes about a second. A COMMIT is flushed
// to disk before it is acknowledged. Clients connect through a proxy that can drop responses. Without
// the programs, this prints a warning, and with CI=true it fails, like the shared test databases.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { Dialect, TestServer } from '../databases.ts';
import { takePort } from '../ports.ts';
import { createMuteProxy } from './mute-proxy.ts';

export type ServerDialect = Exclude<Dialect, 'sqlite'>;

/** The time before a kill in which clients get no responses, and its start: now or the next COMMIT. */
export interface Unheard {
  readonly ms: number;
  readonly from: 'now' | 'commit';
}

/** Its databases must be created while it runs, and are removed with it. */
export interface OwnServer extends TestServer {
  readonly dialect: ServerDialect;
  /** Resolves when the server accepts connections; at once if it already does. */
  start(): Promise<void>;
  /** Simulates a power failure: only the files remain. */
  kill(unheard?: Unheard): Promise<void>;
  /** Stops the server as an operator would, and disconnects its clients. */
  stop(): Promise<void>;
  /** Removes the server and its files. */
  remove(): Promise<void>;
}

interface Kind {
  /** The command that initializes the data folder. */
  readonly make: (program: string, folder: string) => readonly [string, readonly string[]];
  readonly args: (folder: string, port: number) => readonly string[];
  readonly stops: NodeJS.Signals;
  readonly url: (port: number, database: string) => string;
  readonly say: (url: string, sql: string) => Promise<unknown>;
}

const isRoot = process.getuid?.() === 0;

const kinds: Readonly<Record<ServerDialect, Kind>> = {
  mariadb: {
    make: (program, folder) => [
      program,
      [
        ...['--no-defaults', `--datadir=${join(folder, 'data')}`, `--tmpdir=${join(folder, 'tmp')}`],
        ...['--auth-root-authentication-method=normal', '--skip-test-db', ...small],
      ],
    ],
    args: (folder, port) => [
      // A server empties its temporary folder at start, so it must not be shared.
      ...['--no-defaults', `--datadir=${join(folder, 'data')}`, `--tmpdir=${join(folder, 'tmp')}`],
      ...[`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 'socket')}`],
      ...['--innodb-flush-log-at-trx-commit=1', '--skip-name-resolve', ...small],
    ],
    stops: 'SIGTERM',
    url: (port, database) => `mysql://root@127.0.0.1:${port}/${database}`,
    async say(url, sql) {
      const connection = await mysql.createConnection(url);
      // The connection may break at any time. The query then rejects.
      connection.on('error', () => undefined);
      try {
        await connection.query(sql);
      } finally {
        connection.destroy();
      }
    },
  },
  postgres: {
    make: (program, folder) => [
      program,
      ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'],
    ],
    args: (folder, port) => [
      ...['-D', join(folder, 'data'), '-p', `${port}`, '-h', '127.0.0.1', '-k', ''],
      ...['shared_buffers=16MB', 'fsync=on', 'synchronous_commit=on', 'log_min_messages=panic'].flatMap((one) => [
        '-c',
        one,
      ]),
    ],
    stops: 'SIGINT',
    url: (port, database) => `postgres://postgres@127.0.0.1:${port}/${database || 'postgres'}`,
    async say(url, sql) {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      try {
        await client.query(sql);
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  },
};
const small = ['--innodb-buffer-pool-size=16M', '--innodb-log-file-size=8M'];

const programs: Readonly<Record<ServerDialect, readonly [make: string, serve: string]>> = {
  mariadb: ['mariadb-install-db', 'mariadbd'],
  postgres: ['initdb', 'postgres'],
};

/** Debian does not put the PostgreSQL programs in PATH. The newest version is the last folder. */
function findPrograms(dialect: ServerDialect): readonly [make: string, serve: string] | undefined {
  const versions = '/usr/lib/postgresql';
  const own = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...own.reverse()];
  const [make, serve] = programs[dialect].map((name) =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path)),
  );
  return make && serve ? [make, serve] : undefined;
}

/** PostgreSQL refuses to run as root. A server to be killed does not need access outside its folder either. */
function otherUser(dialect: ServerDialect): Pick<SpawnOptions, 'uid' | 'gid'> {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const wanted of [dialect === 'mariadb' ? 'mysql' : 'postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`there is no user to run ${dialect} as`);
}

/** The servers that are installed on this machine. */
export const ownDialects: readonly ServerDialect[] = (['mariadb', 'postgres'] as const).filter((dialect) => {
  if (findPrograms(dialect)) return true;
  const message = `NO PROGRAMS OF ${dialect.toUpperCase()}: what its restart does to runs is not tested`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
  return false;
});

/** The longest wait for a COMMIT. Under load, one comes at once. */
const COMMIT_MS = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Initializes a server without starting it. */
export async function makeServer(dialect: ServerDialect): Promise<OwnServer> {
  const kind = kinds[dialect];
  const [making, serving] = findPrograms(dialect)!;
  const user = isRoot ? otherUser(dialect) : {};
  const folder = mkdtempSync(join(tmpdir(), `portico-${dialect}-`));
  mkdirSync(join(folder, 'tmp'));
  if (user.uid !== undefined) for (const one of [folder, join(folder, 'tmp')]) chownSync(one, user.uid, user.gid!);
  const [own, open] = [await takePort(), await takePort()];
  for (const { free } of [own, open]) await free();
  const port = own.port;
  const proxy = createMuteProxy(open.port, port);
  const run = (program: string, args: readonly string[]): ChildProcess =>
    spawn(program, args, { ...user, cwd: folder, stdio: 'ignore' });
  const [code] = (await once(run(...kind.make(making, folder)), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${making} ended with ${code}`);

  let child: ChildProcess | undefined;
  let made = 0;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const going = child;
    child = undefined;
    if (!going || going.exitCode !== null || going.signalCode !== null) return;
    const gone = once(going, 'exit');
    // The child processes of PostgreSQL would survive as orphans for a while.
    const others = signal === 'SIGKILL' ? childrenOf(going.pid!) : [];
    going.kill(signal);
    for (const pid of others) kill(pid);
    await gone;
  };
  const server: OwnServer = {
    dialect,
    async create() {
      const name = `portico_${++made}`;
      await kind.say(kind.url(port, ''), `CREATE DATABASE ${name}`);
      return { dialect, url: kind.url(proxy.port, name), drop: () => Promise.resolve() };
    },
    async start() {
      if (child) return;
      const give = Date.now() + 60_000;
      for (child = run(serving, kind.args(folder, port)); ; ) {
        const isThere = await kind.say(kind.url(port, ''), 'SELECT 1').then(
          () => true,
          () => false,
        );
        if (isThere) return proxy.open();
        if (Date.now() > give) throw new Error(`${serving} does not start`);
        await pause(30);
        // The server exits while remains of the killed one are still there. Try again.
        if (child.exitCode !== null) child = run(serving, kind.args(folder, port));
      }
    },
    async kill(unheard) {
      if (unheard) {
        await proxy.mute(unheard.from, COMMIT_MS);
        await pause(unheard.ms);
      }
      await end('SIGKILL');
      await proxy.close();
    },
    async stop() {
      await end(kind.stops);
      await proxy.close();
    },
    async remove() {
      await end('SIGKILL');
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return server;
}

function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}
