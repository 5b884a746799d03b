// Calls that wait for somebody's yes. A row is filed by the first call and found again by its repeats, by a hash of who
// calls what; `open_key` holds that hash for as long as the request is open and is unique, so that repeats in any number of
// processes share one request. Every step onwards (decided, used, overtaken) is one conditional update: of several at once
// one makes it. What was asked for is sealed, who and what is kept as keyed hashes beside the names that people need to
// decide by.
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { decrypt, encrypt, randomToken, sign } from '../core/secret.ts';
import type { Approval, ApprovalCall, ApprovalContent, ApprovalRequest, Approvals } from './approval-types.ts';
import type { Database } from './database.ts';
import type { Tables } from './schema-tables.ts';

const KEPT_MS = 24 * 3600_000;
const SWEEP_MS = 600_000;
/** Of one user: a model that calls and calls does not bury what others wait for. */
const MOST_PENDING = 50;
const MOST_LISTED = 100;

export const approvalTables: Tables = {
  approvals(table) {
    table.string('id', 43).primary();
    table.string('open_key', 43).unique();
    table.string('found_hash', 43).notNullable();
    table.string('state', 10).notNullable();
    table.integer('user_id').notNullable();
    table.text('client_id').notNullable();
    table.text('client_name').notNullable();
    table.integer('rendering_id').notNullable();
    table.string('tool', 100).notNullable();
    table.string('collection', 191).notNullable();
    table.string('action', 191);
    table.text('record_ids', 'mediumtext');
    table.string('policy', 20).notNullable();
    table.boolean('second_person').notNullable();
    table.text('sealed', 'mediumtext').notNullable();
    table.integer('decided_by');
    table.bigInteger('decided_at');
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.index(['state', 'created_at']);
    table.index(['user_id', 'state']);
    table.index(['created_at']);
  },
};

interface Row {
  readonly id: string;
  /** Null once the request is over. */
  readonly open_key: string | null;
  readonly found_hash: string;
  readonly state: Approval['state'];
  readonly user_id: number;
  readonly client_id: string;
  readonly client_name: string;
  readonly rendering_id: number;
  readonly tool: string;
  readonly collection: string;
  readonly action: string | null;
  readonly record_ids: string | null;
  readonly policy: Approval['policy']['policy'];
  readonly second_person: boolean | number;
  readonly sealed: string;
  readonly decided_by: number | null;
  readonly decided_at: number | string | null;
  readonly created_at: number | string;
  readonly expires_at: number | string;
}

export function createApprovals(
  database: Database,
  clock: Clock,
  getSecret: () => string,
  config: Pick<Config, 'approvalSeconds' | 'approvalUseSeconds'>,
): Approvals {
  const { knex } = database;
  const table = () => knex<Row>('approvals');
  // A key of its own, so that what is sealed here opens nothing else.
  const secret = () => sign('approvals', getSecret());
  const openKeyOf = ({ userId, clientId, tool, args }: ApprovalCall) =>
    sign(JSON.stringify(['call', userId, clientId, tool, args]), secret());
  const foundHashOf = ({ found }: ApprovalCall) => sign(JSON.stringify(['found', found]), secret());
  const oldest = () => clock.now() - KEPT_MS;
  let sweepAt = 0;

  /** At most every ten minutes. */
  async function sweepSometimes(): Promise<void> {
    const now = clock.now();
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await sweep();
  }

  async function sweep(): Promise<void> {
    await database.retry(() => table().where('created_at', '<=', oldest()).delete());
  }

  function toRow(request: ApprovalRequest, now: number): Row {
    return {
      id: randomToken(),
      open_key: openKeyOf(request),
      found_hash: foundHashOf(request),
      state: 'pending',
      user_id: request.userId,
      client_id: request.clientId,
      client_name: request.clientName,
      rendering_id: request.renderingId,
      tool: request.tool,
      collection: request.collection,
      action: request.action ?? null,
      record_ids: request.recordIds ? JSON.stringify(request.recordIds) : null,
      policy: request.policy.policy,
      second_person: request.policy.secondPerson,
      sealed: encrypt(JSON.stringify(request.content), secret()),
      decided_by: null,
      decided_at: null,
      created_at: now,
      expires_at: now + config.approvalSeconds * 1000,
    };
  }

  function fromRow(row: Row): Approval {
    const isOpen = row.open_key !== null;
    const isOver = isOpen && row.state !== 'denied' && Number(row.expires_at) <= clock.now();
    return {
      id: row.id,
      userId: row.user_id,
      clientId: row.client_id,
      clientName: row.client_name,
      renderingId: row.rendering_id,
      tool: row.tool,
      collection: row.collection,
      ...(row.action !== null && { action: row.action }),
      ...(row.record_ids !== null && { recordIds: JSON.parse(row.record_ids) as string[] }),
      policy: { policy: row.policy, secondPerson: Boolean(row.second_person) },
      content: JSON.parse(decrypt(row.sealed, secret())) as ApprovalContent,
      state: isOver ? 'expired' : row.state,
      ...(row.decided_by !== null && { decidedBy: row.decided_by }),
      ...(row.decided_at !== null && { decidedAt: Number(row.decided_at) }),
      createdAt: Number(row.created_at),
      expiresAt: Number(row.expires_at),
    };
  }

  /** Requests that are over make room for another of the same call; the row itself stays, as expired. */
  async function makeRoom(open_key: string, now: number): Promise<void> {
    await database.retry(() =>
      table()
        .where({ open_key })
        .where('expires_at', '<=', now)
        .update({ open_key: null, state: knex.raw("CASE WHEN state = 'denied' THEN 'denied' ELSE 'expired' END") }),
    );
  }

  const openRow = (open_key: string): Promise<Row | undefined> =>
    table().where({ open_key }).where('expires_at', '>', clock.now()).first() as Promise<Row | undefined>;

  const step = async (run: () => PromiseLike<number>): Promise<boolean> => (await database.retry(run)) === 1;

  const approvals: Approvals = {
    async ask(request) {
      await sweepSometimes();
      const now = clock.now();
      const row = toRow(request, now);
      const open_key = row.open_key!;
      await makeRoom(open_key, now);
      const known = await openRow(open_key);
      if (known) return fromRow(known);
      const [waiting] = await table()
        .where({ user_id: request.userId, state: 'pending' })
        .where('expires_at', '>', now)
        .count<{ count: number | string }[]>({ count: '*' });
      if (Number(waiting?.count ?? 0) >= MOST_PENDING) return 'full';
      await database.retry(() => table().insert(row).onConflict('open_key').ignore());
      const made = await openRow(open_key);
      // Somebody decided and used it, or overtook it, in this moment.
      return made ? fromRow(made) : approvals.ask(request);
    },
    async openOf(call) {
      const row = await openRow(openKeyOf(call));
      return row && { approval: fromRow(row), unchanged: row.found_hash === foundHashOf(call) };
    },
    async find(id) {
      const row = (await table().where({ id }).where('created_at', '>', oldest()).first()) as Row | undefined;
      return row && fromRow(row);
    },
    async list(which, limit) {
      const some = table()
        .where('created_at', '>', oldest())
        .orderBy([
          { column: 'created_at', order: 'desc' },
          { column: 'id', order: 'desc' },
        ])
        .limit(Math.min(Math.max(1, limit), MOST_LISTED));
      if (which === 'pending') some.where({ state: 'pending' }).where('expires_at', '>', clock.now());
      else some.where((either) => either.whereNot({ state: 'pending' }).orWhere('expires_at', '<=', clock.now()));
      return ((await some) as Row[]).map(fromRow);
    },
    decide(id, { by, verdict }) {
      const now = clock.now();
      const decision = { state: verdict, decided_by: by, decided_at: now };
      return step(() =>
        table()
          .where({ id, state: 'pending' })
          .where('expires_at', '>', now)
          // Who asks is no second person, whatever page he got to.
          .where((either) => either.where({ second_person: false }).orWhereNot({ user_id: by }))
          .update({ ...decision, expires_at: now + config.approvalUseSeconds * 1000 }),
      );
    },
    take(id, call) {
      const bound = { id, state: 'approved', open_key: openKeyOf(call), found_hash: foundHashOf(call) } as const;
      return step(() =>
        table().where(bound).where('expires_at', '>', clock.now()).update({ state: 'used', open_key: null }),
      );
    },
    async overtake(id) {
      await database.retry(() =>
        table().where({ id }).whereIn('state', ['pending', 'approved']).update({ state: 'overtaken', open_key: null }),
      );
    },
    async keepAnswer(id, request, accepted) {
      await sweepSometimes();
      const now = clock.now();
      const marker = randomToken();
      const row: Row = {
        ...toRow(request, now),
        id,
        open_key: null,
        state: accepted ? 'used' : 'denied',
        decided_by: request.userId,
        decided_at: now,
        // Who made the row is read back by this: what a database answers to an insert that was ignored differs.
        found_hash: marker,
      };
      await database.retry(() => table().insert(row).onConflict('id').ignore());
      const made = (await table().where({ id }).first('found_hash')) as Pick<Row, 'found_hash'> | undefined;
      return made?.found_hash === marker;
    },
    sweep,
  };
  return approvals;
}
