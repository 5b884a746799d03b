// Compares the activity log of a killed process with the steps that it reported (killed.ts).

import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { type KilledTold, type KilledWish, TICK_MS } from './killed-words.ts';
import type { Place } from './stores.ts';

/**
 * The longest time that a read waits: 50 ms for its batch, the write of the previous batch if one is running,
 * and its own write. The documented 200 ms leave 150 ms for both writes, which is enough on a server that is not
 * overloaded. On a busy machine, this adds longer writes and pauses in the scheduling of the process.
 */
export const promised = ({ batchMs, stillMs }: Pick<Kill, 'batchMs' | 'stillMs'>): number =>
  Math.max(200, 50 + 2 * batchMs) + stillMs;

export interface Kill {
  readonly reads: number;
  readonly writes: number;
  /** Writes in the log with another state than the process reported. */
  readonly wrong: readonly string[];
  /** Duplicate entries. */
  readonly twice: number;
  /** The age of the oldest missing read at the kill; 0 if no read is missing. */
  readonly lostMs: number;
  /** The longest pause in the scheduling of the process on a busy machine, in the last second before the kill. */
  readonly stillMs: number;
  /** The longest write among the last batches, including the one at the kill. */
  readonly batchMs: number;
  /** Missing reads that are followed by a stored one. */
  readonly gaps: number;
  readonly warnings: readonly string[];
}

/** Runs a process on the storage for `ms`, kills it, and compares the log. */
export async function killAfter(place: Place, wish: Omit<KilledWish, 'env' | 'clientId'>, ms: number): Promise<Kill> {
  const { knex } = place.tables();
  const clientId = randomUUID();
  const env = { SERVICE_STORAGE_URL: place.url, SERVICE_DATA_DIR: place.dataDir };
  const child = fork(
    join(import.meta.dirname, 'killed.ts'),
    [JSON.stringify({ ...wish, env, clientId } satisfies KilledWish)],
    {
      execArgv: ['--import', 'tsx'],
    },
  );
  const told: KilledTold[] = [];
  child.on('message', (one: KilledTold) => void told.push(one));
  const disconnected = once(child, 'disconnect');
  const exited = once(child, 'exit');
  let killedAt = 0;
  try {
    await Promise.race([once(child, 'message'), exited.then(() => Promise.reject(new Error('it ended by itself')))]);
    await systemClock.sleep(ms);
  } finally {
    killedAt = Date.now();
    child.kill('SIGKILL');
  }
  await Promise.all([exited, disconnected]);
  // A server completes the statements sent before the kill.
  await systemClock.sleep(300);

  const rows: { action: string; type: string; outcome: string }[] = await knex('activity_logs')
    .where({ client_id: clientId })
    .select('action', 'type', 'outcome');
  const there = new Map(rows.map((row) => [row.action, row.outcome]));
  const toldOf = <T>(key: string): T[] =>
    told.flatMap((one) => (key in one ? [(one as unknown as Record<string, T>)[key]!] : []));
  const wrong = [
    ...toldOf<number>('begun')
      .filter((n) => !there.has(`write ${n}`))
      .map((n) => `write ${n} is not there`),
    ...toldOf<number>('completed')
      .filter((n) => there.get(`write ${n}`) !== 'completed')
      .map((n) => `write ${n} is ${there.get(`write ${n}`)}`),
    ...rows.filter(({ type, outcome }) => type === 'write' && !['unknown', 'completed'].includes(outcome)).map(String),
  ];
  let [lostMs, gaps, reads, missing] = [0, 0, 0, 0];
  for (const one of told) {
    if (!('reads' in one)) continue;
    for (let n = one.reads[0]; n <= one.reads[1]; n++) {
      reads++;
      if (there.has(`read ${n}`)) [gaps, missing] = [gaps + missing, 0];
      else [lostMs, missing] = [Math.max(lostMs, killedAt - one.at), missing + 1];
    }
  }
  const batches = told.flatMap((one) => ('batch' in one ? [one] : []));
  const writing = batches.map((one, n) => (one.batch === 'begins' ? (batches[n + 1]?.at ?? killedAt) - one.at : 0));
  const ticks = [...told.flatMap((one) => ('reads' in one ? [one.at] : [])), killedAt].filter(
    (at) => at > killedAt - 1000,
  );
  const stillMs = Math.max(0, ...ticks.slice(1).map((at, n) => at - ticks[n]! - TICK_MS));
  return {
    reads,
    stillMs,
    batchMs: Math.max(0, ...writing.slice(-6)),
    writes: toldOf<number>('begun').length,
    wrong,
    twice: rows.length - there.size,
    lostMs,
    gaps,
    warnings: toldOf<string>('warning'),
  };
}
