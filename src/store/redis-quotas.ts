// Calls in a minute, an hour and a day, counted in Redis for all processes: one script looks at the three windows of a key,
// counts in all or in none, and says how they stand. While Redis does not answer, the storage counts in its place, so that
// no call fails for it and none goes uncounted; the operator is told once a minute. The client is loaded by the first count.
import type { Redis } from 'ioredis';
import type { Clock } from '../core/clock.ts';
import { type Quotas, quotaWindows, toQuota } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken } from '../core/secret.ts';

export interface RedisQuotas extends Quotas {
  close(): Promise<void>;
}

/** A counter that is slow holds up every call: past this the storage is quicker. */
const PATIENCE_MS = 500;
/** How long Redis is left alone after it failed. */
const REST_MS = 2000;
const WARN_MS = 60_000;

/** Times are ours. A key lives until its longest window is over. */
const script = `
local now = tonumber(ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'c1', 'e1', 'c2', 'e2', 'c3', 'e3')
local answer, refused = {}, 0
for at = 1, 3 do
  local count, ends = tonumber(state[at * 2 - 1]) or 0, tonumber(state[at * 2]) or 0
  if ends <= now then
    count, ends = 0, now + tonumber(ARGV[at * 2])
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
  let restUntil = 0;
  let warnAt = 0;
  let closed = false;

  const warn = (cause: unknown): void => {
    const at = clock.monotonic();
    if (closed || at < warnAt) return;
    warnAt = at + WARN_MS;
    observe({
      type: 'warning',
      message: `SERVICE_REDIS_URL: Redis does not count (${reasonOf(cause)}). The storage counts the calls of the public API until it does.`,
    });
  };

  const open = async (): Promise<Counting> => {
    const { Redis } = await import('ioredis');
    const redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: PATIENCE_MS,
      commandTimeout: PATIENCE_MS,
      retryStrategy: (times) => Math.min(times * 200, REST_MS),
    });
    redis.on('error', warn);
    redis.defineCommand('porticoTake', { numberOfKeys: 1, lua: script });
    // When it fails it goes on trying by itself.
    await redis.connect().catch(warn);
    return redis as Counting;
  };

  return {
    async take(key, limits) {
      if (clock.monotonic() < restUntil) return storage.take(key, limits);
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
        restUntil = clock.monotonic() + REST_MS;
        return storage.take(key, limits);
      }
    },
    async close() {
      closed = true;
      (await opened)?.disconnect();
    },
  };
}

/** The code of an error, or the first word of what Redis answered: the rest of either may hold the password. */
function reasonOf(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code;
  return /^[A-Z]{2,20}(?= )/.exec(`${message}`)?.[0] ?? 'no connection';
}
