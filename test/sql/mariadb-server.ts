// A MariaDB server of a test's own, for settings that concern a whole server.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';

const program = ['/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd'].find(existsSync);

/** Whether the server's program is on this machine. */
export const hasMariadbServer = program !== undefined;

export interface MariadbServer {
  /** The URL of a database, for this user. */
  url(database: string, user?: string): string;
  run(sql: string, database?: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Its `root` and all other users have no password. It answers on 127.0.0.1 only. */
export async function startMariadb(): Promise<MariadbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-mariadb-'));
  const data = join(folder, 'data');
  const common = ['--no-defaults', '--user=root', `--datadir=${data}`];
  const installed = spawnSync(
    'mariadb-install-db',
    [...common, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { encoding: 'utf8' },
  );
  if (installed.status !== 0) throw new Error(`mariadb-install-db failed: ${installed.stderr}`);
  const port = await freePort();
  const options = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 'socket')}`];
  const child = spawn(program!, [...common, ...options, '--innodb-buffer-pool-size=32M'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const killed = () => void child.kill('SIGKILL');
  process.once('exit', killed);

  const url = (database: string, user = 'root') => `mysql://${user}@127.0.0.1:${port}/${database}`;
  const run = async (sql: string, database = 'mysql') => {
    const connection = await mysql.createConnection(url(database));
    try {
      return (await connection.query(sql))[0];
    } finally {
      await connection.end();
    }
  };
  const stop = async () => {
    process.off('exit', killed);
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let turn = 0; ; turn++) {
    try {
      await run('select 1');
      return { url, run, stop };
    } catch (cause) {
      if (turn === 120) {
        await stop();
        throw new Error('the MariaDB server does not answer', { cause });
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
