// Idempotency keys: outcomes of calls that a client may repeat. The first call, in any process, creates a row before it
// runs, and no other call takes it over. A call of a dead process is not run again, because it may have written. A
// running call refreshes its row regularly. If that stops without an answer, the outcome is unknown. Callers and calls
// are stored as keyed hashes. The answer is encrypted. All of it lasts 24 hours.
import type { Clock } from '../../core/clock.ts';
import { decrypt, encrypt, randomToken, sign } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import type { IdempotencyClaim, IdempotencyKeys } from './types.ts';

const OUTCOME_MS = 24 * 3600_000;
/** A call counts as dead when its row was not refreshed for this long. */
const ALIVE_MS = 60_000;
const SWEEP_MS = 600_000;

interface KeyRow {
  readonly key_hash: string;
  readonly arguments_hash: string;
  readonly rights_hash: string;
  readonly attempt: string;
  readonly sealed: string | null;
  readonly alive_until: number;
}

/** Identifies a row. Only the call that created the row has its ticket. */
export interface Ticket {
  readonly key_hash: string;
  readonly attempt: string;
}

export type Claimed =
  | { readonly state: 'mine'; readonly ticket: Ticket }
  | Exclude<IdempotencyClaim, { readonly state: 'mine' }>;

/**
 * The operations of a call, by its ticket. The process that runs the call may be another one than the process with the
 * storage.
 */
export interface IdempotencyRows {
  claim(call: Parameters<IdempotencyKeys['claim']>[0]): Promise<Claimed>;
  stayAlive(ticket: Ticket): Promise<void>;
  settle(ticket: Ticket, answer: string): Promise<void>;
  release(ticket: Ticket): Promise<void>;
  doubt(ticket: Ticket): Promise<void>;
}

/** Refreshes the row of each running call while this process lives. */
export function createIdempotencyKeys(rows: IdempotencyRows, clock: Clock): IdempotencyKeys {
  function createClaim(ticket: Ticket): Extract<IdempotencyClaim, { state: 'mine' }> {
    let cancel = clock.after(ALIVE_MS / 3, stayAlive);
    let isOver = false;
    function stayAlive(): void {
      rows
        .stayAlive(ticket)
        // Without the storage the row becomes unknown, which is correct.
        .catch(() => undefined)
        .finally(() => {
          if (!isOver) cancel = clock.after(ALIVE_MS / 3, stayAlive);
        });
    }
    const end = async (write: () => Promise<void>): Promise<void> => {
      isOver = true;
      cancel();
      await write();
    };
    return {
      state: 'mine',
      settle: (answer) => end(() => rows.settle(ticket, answer)),
      release: () => end(() => rows.release(ticket)),
      doubt: () => end(() => rows.doubt(ticket)),
    };
  }

  return {
    async claim(call) {
      const claimed = await rows.claim(call);
      return claimed.state === 'mine' ? createClaim(claimed.ticket) : claimed;
    },
  };
}

export function createIdempotencyRows(database: Database, clock: Clock, getSecret: () => string): IdempotencyRows {
  const { knex } = database;
  const table = () => knex('idempotency_keys');
  // A separate key: data encrypted with it cannot be confused with other encrypted data.
  const secretOf = () => sign('idempotency', getSecret());
  const rowOf = ({ key_hash, attempt }: Ticket) => table().where({ key_hash, attempt });
  let sweepAt = 0;

  /** At most every ten minutes. Expired rows count as absent before they are swept. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await database.retry(() => table().where('expires_at', '<=', now).delete());
  }

  return {
    async stayAlive(ticket) {
      await rowOf(ticket).update({ alive_until: clock.now() + ALIVE_MS });
    },
    async settle(ticket, answer) {
      await database.retry(() => rowOf(ticket).update({ sealed: encrypt(answer, secretOf()) }));
    },
    async release(ticket) {
      await database.retry(() => rowOf(ticket).delete());
    },
    async doubt(ticket) {
      await database.retry(() => rowOf(ticket).update({ alive_until: 0 }));
    },
    async claim({ userId, clientId, tool, key, args, rights }) {
      const now = clock.now();
      await sweep(now);
      const secret = secretOf();
      const hash = (...parts: readonly unknown[]) => sign(JSON.stringify(parts), secret);
      const row: KeyRow = {
        key_hash: hash('key', userId, clientId, tool, key),
        arguments_hash: hash('arguments', args),
        rights_hash: hash('rights', rights),
        attempt: randomToken(128),
        sealed: null,
        alive_until: now + ALIVE_MS,
      };
      const { key_hash } = row;
      await database.retry(() => table().where({ key_hash }).where('expires_at', '<=', now).delete());
      await database.retry(() =>
        table()
          .insert({ ...row, created_at: now, expires_at: now + OUTCOME_MS })
          .onConflict('key_hash')
          .ignore(),
      );
      const existing = await table().where({ key_hash }).first<KeyRow | undefined>();
      // Another call has just released it.
      if (!existing) return { state: 'running' };
      if (existing.attempt === row.attempt) return { state: 'mine', ticket: { key_hash, attempt: row.attempt } };
      if (existing.arguments_hash !== row.arguments_hash) return { state: 'other' };
      if (existing.sealed === null) return { state: Number(existing.alive_until) > now ? 'running' : 'unknown' };
      if (existing.rights_hash !== row.rights_hash) return { state: 'withheld' };
      return { state: 'done', answer: decrypt(existing.sealed, secret) };
    },
  };
}
