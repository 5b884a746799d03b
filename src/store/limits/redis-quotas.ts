// Counts calls per minute, hour and day in Redis for all processes. One script checks the three windows of a key,
// increments them unless one is full, and returns their state. While Redis is unavailable the storage counts instead:
// calls do not fail and are still counted. The operator gets one warning a minute. The client is loaded on first use.
import type { Redis } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import { importOptional } from '../../core/config/optional-package.ts';
import { explainRedis } from '../../core/errors/connection.ts';
import { type Quotas, quotaWindows, toQuota } from '../../core/limit.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken } from '../../core/secret.ts';

interface RedisQuotas extends Quotas {
  close(): Promise<void>;
}

/** A slow counter delays every call: after this time the storage is faster. */
const TIMEOUT_MS = 500;
/** Pause after a failure of Redis before the next attempt. */
const PAUSE_MS = 2000;
const WARN_MS = 60_000;

/** Times come from the process. A key expires when its longest window ends. */
const script = `
local now = tonumber(ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'c1', 'e1', 'c2', 'e2', 'c3', 'e3')
local answer, refused = {}, 0
for at = 1, 3 do
  local count, ends = tonumber(state[at * 2 - 1]) or 0, tonumber(state[at * 2]) or 0
  local length = tonumber(ARGV[at * 2])
  -- A window that has more than twice its length left was begun before the clock was set back.
  if ends <= now or ends > now + 2 * length then
    count, ends = 0, now + length
  end
  if count >= tonumber(ARGV[at * 2 + 1]) then refused = 1 end
  answer[at * 2 - 1], answer[at * 2] = count, ends
end
if refused == 0 then
  local longest = 0
  for at = 1, 3 do
    answer[at * 2 - 1] = answer[at * 2 - 1] + 1
    longest = math.max(longest, answer[at * 2])
  end
  redis.call('HSET', KEYS[1], 'c1', answer[1], 'e1', string.format('%.0f', answer[2]), 'c2', answer[3], 'e2',
    string.format('%.0f', answer[4]), 'c3', answer[5], 'e3', string.format('%.0f', answer[6]))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', longest - now))
end
answer[7] = refused
return answer`;

interface Counting extends Redis {
  porticoTake(key: string, ...args: number[]): Promise<number[]>;
}

export function createRedisQuotas(
  url: string,
  storage: Quotas,
  { observe, clock }: { readonly observe: Observe; readonly clock: Pick<Clock, 'now' | 'monotonic'> },
): RedisQuotas {
  let opened: Promise<Counting> | undefined;
  let pausedUntil = 0;
  let warnAt = 0;
  let closed = false;

  const warn = (cause: unknown): void => {
    const at = clock.monotonic();
    if (closed || at < warnAt) return;
    warnAt = at + WARN_MS;
    observe({
      type: 'warning',
      message: `SERVICE_REDIS_URL: Redis cannot count the calls of the public API. ${explainRedis(cause, url)} Until it can, the storage counts them.`,
    });
  };

  const open = async (): Promise<Counting> => {
    const { Redis } = await importOptional('ioredis', () => import('ioredis'));
    const redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: TIMEOUT_MS,
      commandTimeout: TIMEOUT_MS,
      retryStrategy: (times) => Math.min(times * 200, PAUSE_MS),
    });
    redis.on('error', warn);
    redis.defineCommand('porticoTake', { numberOfKeys: 1, lua: script });
    // The client reconnects by itself after a failure.
    await redis.connect().catch(warn);
    return redis as Counting;
  };

  return {
    async take(key, limits) {
      if (clock.monotonic() < pausedUntil) return storage.take(key, limits);
      try {
        opened ??= open();
        const redis = await opened;
        const now = clock.now();
        const windows = quotaWindows.flatMap(({ name, ms }) => [ms, limits[name]]);
        const answer = await redis.porticoTake(`portico:quota:${hashToken(key)}`, now, ...windows);
        const states = quotaWindows.map((_, at) => ({ count: answer[at * 2]!, endsAt: answer[at * 2 + 1]! }));
        return toQuota(states, limits, answer[6] === 1, now);
      } catch (cause) {
        warn(cause);
        pausedUntil = clock.monotonic() + PAUSE_MS;
        return storage.take(key, limits);
      }
    },
    async close() {
      closed = true;
      (await opened)?.disconnect();
    },
  };
}

const PING_MS = 5000;

/** The reason why Redis cannot be used; undefined when it responds. */
export async function pingRedis(url: string): Promise<string | undefined> {
  const { Redis } = await importOptional('ioredis', () => import('ioredis'));
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: PING_MS, retryStrategy: () => null });
  let last: unknown;
  redis.on('error', (error) => {
    last = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    return undefined;
  } catch (error) {
    return explainRedis(last ?? error, url);
  } finally {
    redis.disconnect();
  }
}
