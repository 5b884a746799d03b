// Database servers of the test's own, which it may kill and start again on the same files: a child process on a free port, with a
// folder and buffers of their own, small, so that a start takes about a second. What was committed is on the disk before that is
// said. Who uses one reaches it by a way that can lose its answers. A machine without the programs says so loudly, and fails with
// CI=true, as for the databases that all tests share.
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

/** What it did for so long before it died, from then or from the next COMMIT on, it told nobody. */
export interface Unheard {
  readonly ms: number;
  readonly from: 'now' | 'commit';
}

/** Databases are made while it runs, and go with it. */
export interface OwnServer extends TestServer {
  readonly dialect: ServerDialect;
  /** Resolves when it answers; at once where it does. */
  start(): Promise<void>;
  /** As if the power had failed: nothing of it is left but its files. */
  kill(unheard?: Unheard): Promise<void>;
  /** As an operator stops it: who is connected is sent away. */
  stop(): Promise<void>;
  /** It, and its files. */
  remove(): Promise<void>;
}

interface Kind {
  /** What makes its files in a folder that is empty. */
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
      // A server empties its temporary folder when it starts: never that of another one.
      ...['--no-defaults', `--datadir=${join(folder, 'data')}`, `--tmpdir=${join(folder, 'tmp')}`],
      ...[`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 'socket')}`],
      ...['--innodb-flush-log-at-trx-commit=1', '--skip-name-resolve', ...small],
    ],
    stops: 'SIGTERM',
    url: (port, database) => `mysql://root@127.0.0.1:${port}/${database}`,
    async say(url, sql) {
      const connection = await mysql.createConnection(url);
      // It may go at any time: the statement tells that.
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

/** Debian puts those of PostgreSQL in no path, the newest last. */
function findPrograms(dialect: ServerDialect): readonly [make: string, serve: string] | undefined {
  const versions = '/usr/lib/postgresql';
  const own = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...own.reverse()];
  const [make, serve] = programs[dialect].map((name) =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path)),
  );
  return make && serve ? [make, serve] : undefined;
}

/** PostgreSQL does not run as root, and nothing of a server that is killed need be able to reach beyond its folder. */
function otherUser(dialect: ServerDialect): Pick<SpawnOptions, 'uid' | 'gid'> {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const wanted of [dialect === 'mariadb' ? 'mysql' : 'postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`there is no user to run ${dialect} as`);
}

/** The kinds that can be started here. */
export const ownDialects: readonly ServerDialect[] = (['mariadb', 'postgres'] as const).filter((dialect) => {
  if (findPrograms(dialect)) return true;
  const message = `NO PROGRAMS OF ${dialect.toUpperCase()}: what its restart does to runs is not tested`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
  return false;
});

/** How long a COMMIT is waited for, which comes at once where there is work. */
const COMMIT_MS = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Made, and not started yet. */
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
    // PostgreSQL's are orphans otherwise, which end a little later.
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
        // What it finds of the one that was killed may not be over yet.
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
    // It was quicker.
  }
}
