// A Redis that a test may flush and kill: a child process on a free port, without files.
// Without the program, this prints a warning, and with CI=true it fails, like the databases.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from '../ports.ts';

export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedisServer) {
  if (process.env.CI === 'true') throw new Error('NO redis-server: what a lost Redis does to runs is not tested');
  console.warn('\n*** NO redis-server: what a lost Redis does to runs is not tested\n');
}

export interface OwnRedis {
  readonly url: string;
  start(): Promise<void>;
  /** Deletes all keys; the server keeps running. */
  flush(): Promise<void>;
  /** The keys that match; shows what a run leaves behind. */
  keys(pattern: string): Promise<readonly string[]>;
  kill(): Promise<void>;
}

/** Does not start the server. */
export async function makeRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}/0`;
  let child: ChildProcess | undefined;
  const ask = async <T>(run: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await run(redis);
    } finally {
      redis.disconnect();
    }
  };
  return {
    url,
    async start() {
      const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];
      child = spawn('redis-server', args, { stdio: 'ignore' });
      const gone = once(child, 'exit');
      for (;;) {
        const isThere = await Promise.race([
          ask(() => Promise.resolve(true)).catch(() => false),
          gone.then(() => null),
        ]);
        if (isThere) return;
        if (isThere === null) throw new Error('redis-server ended');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    flush: () => ask(async (redis) => void (await redis.flushall())),
    keys: (pattern) => ask((redis) => redis.keys(pattern)),
    async kill() {
      const going = child;
      child = undefined;
      if (!going || going.exitCode !== null) return;
      going.kill('SIGKILL');
      await once(going, 'exit');
    },
  };
}
