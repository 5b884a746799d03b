// Finds out how a PostgreSQL transaction ended after its COMMIT got no response. The server knows this by transaction
// number until it restarts. After a crash it may reuse the number for another transaction.
import type pg from 'pg';
import type { StopSignal } from '../../../../core/clock/stop.ts';
import type { Clock } from '../../../../core/clock.ts';
import type { CommitOutcome } from '../../../../core/errors/lost-commit.ts';
import { AppError } from '../../../../core/errors.ts';
import type { DatabaseError } from '../failures.ts';
import type { Inquiry } from '../transaction.ts';

const server = 'extract(epoch from pg_postmaster_start_time())::text';

/** One round trip. A server in recovery assigns no transaction numbers, and refuses the write. */
export const beginWithTransactionId = `begin; select case when pg_is_in_recovery() then null else txid_current() || ' ' || ${server} end`;

const statusQuery = `select txid_status(split_part($1, ' ', 1)::bigint) where split_part($1, ' ', 2) = ${server}`;

const fatesByStatus: Readonly<Record<string, CommitOutcome>> = { committed: 'committed', aborted: 'rolled back' };

/**
 * 40003 and 08007: the server itself does not know the outcome. FATAL: it closed the connection, possibly after the
 * commit.
 */
const unsureCodes: ReadonlySet<unknown> = new Set(['40003', '08007']);

export function isRefusalOfCommit(error: unknown): boolean {
  const { code = '', severity } = error as DatabaseError & { readonly severity?: string };
  return !(error instanceof AppError) && /^[0-9A-Z]{5}$/.test(code) && severity === 'ERROR' && !unsureCodes.has(code);
}

/** Returns the first column of the first row. */
export function readFirstValue(sql: string, answer: pg.QueryArrayResult | pg.QueryArrayResult[]): unknown {
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  // COMMIT rolls back a transaction with a failed statement, without raising an error.
  if (sql === 'commit' && last?.command !== 'COMMIT')
    throw Object.assign(new Error('COMMIT was answered with ROLLBACK'), { code: '25P02', severity: 'ERROR' });
  return last?.rows?.[0]?.[0];
}

/** After this time, the caller gets OUTCOME_UNKNOWN. */
const SOON_MS = 3000;
const LATER_MS = 600_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

/** `ask` returns the first value of the response. */
export function inquireFate(
  ask: (sql: string) => Promise<unknown>,
  { mark, clock, closing }: { readonly mark: unknown; readonly clock: Clock; readonly closing: StopSignal },
): Inquiry | undefined {
  if (typeof mark !== 'string') return undefined;
  const began = clock.monotonic();
  const look = async (): Promise<CommitOutcome | undefined> => {
    for (let pause = FIRST_PAUSE_MS; clock.monotonic() - began < LATER_MS; pause *= 2) {
      const state = await ask(statusQuery).catch(() => 'away');
      if (typeof state !== 'string') return undefined;
      const fate = fatesByStatus[state];
      if (fate) return fate;
      await clock.sleep(Math.min(pause, LONGEST_PAUSE_MS), closing);
    }
    return undefined;
  };
  const later = look().catch(() => undefined);
  return { later, soon: Promise.race([later, clock.sleep(SOON_MS).then(() => undefined)]) };
}
