// Idempotency keys: what became of the call that a client may repeat. A row is made before the call runs, by whoever comes
// first in any process, and nobody ever takes it over: a call whose process died is not run again, since it may have
// written. A call under way keeps its row alive; one that stops doing so without an answer has an outcome that nobody
// knows. Who and what is kept as keyed hashes, the answer sealed, all for 24 hours.
import type { Clock } from '../core/clock.ts';
import { decrypt, encrypt, randomToken, sign } from '../core/secret.ts';
import type { IdempotencyClaim, IdempotencyKeys } from './approval-types.ts';
import type { Database } from './database.ts';

const KEPT_MS = 24 * 3600_000;
/** A call is taken for dead when its row was not touched for this long. */
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

/** Opens the row of a call to whoever made it, and to nobody else. */
export interface Ticket {
  readonly key_hash: string;
  readonly attempt: string;
}

export type Claimed =
  | { readonly state: 'mine'; readonly ticket: Ticket }
  | Exclude<IdempotencyClaim, { readonly state: 'mine' }>;

/** The steps of a call by its ticket: whoever has the call under way need not be the process that has the storage. */
export interface IdempotencyRows {
  claim(call: Parameters<IdempotencyKeys['claim']>[0]): Promise<Claimed>;
  stayAlive(ticket: Ticket): Promise<void>;
  settle(ticket: Ticket, answer: string): Promise<void>;
  release(ticket: Ticket): Promise<void>;
  doubt(ticket: Ticket): Promise<void>;
}

/** Keeps the row of each call under way alive, for as long as this process lives. */
export function createIdempotencyKeys(rows: IdempotencyRows, clock: Clock): IdempotencyKeys {
  function hold(ticket: Ticket): Extract<IdempotencyClaim, { state: 'mine' }> {
    let cancel = clock.after(ALIVE_MS / 3, stayAlive);
    let isOver = false;
    function stayAlive(): void {
      rows
        .stayAlive(ticket)
        // When the storage is away the row dies, which says no more than the truth.
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
      return claimed.state === 'mine' ? hold(claimed.ticket) : claimed;
    },
  };
}

export function createIdempotencyRows(database: Database, clock: Clock, getSecret: () => string): IdempotencyRows {
  const { knex } = database;
  const table = () => knex('idempotency_keys');
  // A key of its own, so that what is sealed here opens nothing else.
  const secretOf = () => sign('idempotency', getSecret());
  const mine = ({ key_hash, attempt }: Ticket) => table().where({ key_hash, attempt });
  let sweepAt = 0;

  /** At most every ten minutes. Expired rows count as absent before they are swept. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await database.retry(() => table().where('expires_at', '<=', now).delete());
  }

  return {
    async stayAlive(ticket) {
      await mine(ticket).update({ alive_until: clock.now() + ALIVE_MS });
    },
    async settle(ticket, answer) {
      await database.retry(() => mine(ticket).update({ sealed: encrypt(answer, secretOf()) }));
    },
    async release(ticket) {
      await database.retry(() => mine(ticket).delete());
    },
    async doubt(ticket) {
      await database.retry(() => mine(ticket).update({ alive_until: 0 }));
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
          .insert({ ...row, created_at: now, expires_at: now + KEPT_MS })
          .onConflict('key_hash')
          .ignore(),
      );
      const found = await table().where({ key_hash }).first<KeyRow | undefined>();
      // Somebody else had it and let go of it in this moment.
      if (!found) return { state: 'running' };
      if (found.attempt === row.attempt) return { state: 'mine', ticket: { key_hash, attempt: row.attempt } };
      if (found.arguments_hash !== row.arguments_hash) return { state: 'other' };
      if (found.sealed === null) return { state: Number(found.alive_until) > now ? 'running' : 'unknown' };
      if (found.rights_hash !== row.rights_hash) return { state: 'withheld' };
      return { state: 'done', answer: decrypt(found.sealed, secret) };
    },
  };
}
