// Calls that wait for approval. The first call creates a row, and repeated calls find it by a hash of caller and call.
// `open_key` holds that hash while the request is open. It is unique: repeated calls in all processes share one
// request. Each change of state (decided, used, overtaken) is one conditional update, and one of several simultaneous
// calls succeeds. The content is encrypted. Callers and calls are stored as keyed hashes, with the names that approvers
// need.

import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { decrypt, encrypt, randomToken, sign } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import { addColumns } from '../migrations/indexes.ts';
import type { Approval, ApprovalCall, ApprovalContent, ApprovalRequest, ApprovalResult, Approvals } from './types.ts';

const RESULT_MS = 24 * 3600_000;
const SWEEP_MS = 600_000;
/** Per user: repeated calls of a model must not bury the requests of other users. */
const MAX_PENDING = 50;
const MAX_LISTED = 100;

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

export const addApprovalResults = ({ dialect }: Database, on: Knex): Promise<void> =>
  addColumns(on, dialect, 'approvals', { result: (table) => table.text('result', 'mediumtext') });

interface Row {
  readonly id: string;
  /** Null when the request has ended. */
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
  readonly result: string | null;
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
  // A separate key: data encrypted with it cannot be confused with other encrypted data.
  const secret = () => sign('approvals', getSecret());
  // An approval for one grant does not apply to another grant of the same client.
  const openKeyOf = ({ userId, clientId, grantId, tokenId, tool, args }: ApprovalCall) =>
    sign(JSON.stringify(['call', userId, clientId, grantId ?? tokenId ?? null, tool, args]), secret());
  const foundHashOf = ({ found }: ApprovalCall) => sign(JSON.stringify(['found', found]), secret());
  const oldest = () => clock.now() - RESULT_MS;
  /** Decided requests are stored for 24 hours after the decision, like their results. */
  const isNotExpired = (either: Knex.QueryBuilder) =>
    either.where('created_at', '>', oldest()).orWhere('decided_at', '>', oldest());
  let sweepAt = 0;

  /** At most every ten minutes. */
  async function sweepSometimes(): Promise<void> {
    const now = clock.now();
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await sweep();
  }

  async function sweep(): Promise<void> {
    const isExpired = (either: Knex.QueryBuilder) =>
      either.whereNull('decided_at').orWhere('decided_at', '<=', oldest());
    await database.retry(() => table().where('created_at', '<=', oldest()).where(isExpired).delete());
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
      result: null,
      decided_by: null,
      decided_at: null,
      created_at: now,
      expires_at: now + config.approvalSeconds * 1000,
    };
  }

  function fromRow(row: Row): Approval {
    const isOpen = row.open_key !== null;
    const isWaiting = row.state === 'pending' || row.state === 'approved';
    const isOver = isOpen && isWaiting && Number(row.expires_at) <= clock.now();
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
      ...(row.result !== null && { result: JSON.parse(decrypt(row.result, secret())) as ApprovalResult }),
      ...(row.decided_by !== null && { decidedBy: row.decided_by }),
      ...(row.decided_at !== null && { decidedAt: Number(row.decided_at) }),
      createdAt: Number(row.created_at),
      expiresAt: Number(row.expires_at),
    };
  }

  /** Releases the key of an expired request for a new one of the same call. The row remains as expired. */
  async function expireOpen(open_key: string, now: number): Promise<void> {
    await database.retry(() =>
      table()
        .where({ open_key })
        .where('expires_at', '<=', now)
        .update({
          open_key: null,
          state: knex.raw("CASE WHEN state IN ('pending', 'approved') THEN 'expired' ELSE state END"),
        }),
    );
  }

  const openRow = (open_key: string): Promise<Row | undefined> =>
    table().where({ open_key }).where('expires_at', '>', clock.now()).first() as Promise<Row | undefined>;

  const step = async (run: () => PromiseLike<number>): Promise<boolean> => (await database.retry(run)) === 1;

  const use = (id: string, call: ApprovalCall, change: Partial<Row>): Promise<boolean> => {
    const bound = { id, state: 'approved', open_key: openKeyOf(call), found_hash: foundHashOf(call) } as const;
    return step(() => table().where(bound).where('expires_at', '>', clock.now()).update(change));
  };

  const approvals: Approvals = {
    async ask(request) {
      await sweepSometimes();
      const now = clock.now();
      const row = toRow(request, now);
      const open_key = row.open_key!;
      await expireOpen(open_key, now);
      const existing = await openRow(open_key);
      if (existing) return fromRow(existing);
      const [waiting] = await table()
        .where({ user_id: request.userId, state: 'pending' })
        .where('expires_at', '>', now)
        .count<{ count: number | string }[]>({ count: '*' });
      if (Number(waiting?.count ?? 0) >= MAX_PENDING) return 'full';
      await database.retry(() => table().insert(row).onConflict('open_key').ignore());
      const inserted = await openRow(open_key);
      // Another process has just decided and used it, or overtaken it.
      return inserted ? fromRow(inserted) : approvals.ask(request);
    },
    async openOf(call) {
      const row = await openRow(openKeyOf(call));
      return row && { approval: fromRow(row), unchanged: row.found_hash === foundHashOf(call) };
    },
    async find(id) {
      const row = (await table().where({ id }).where(isNotExpired).first()) as Row | undefined;
      return row && fromRow(row);
    },
    async list(which, limit, from = 0) {
      const newest = table()
        .where(isNotExpired)
        .orderBy([
          { column: 'created_at', order: 'desc' },
          { column: 'id', order: 'desc' },
        ]);
      const pageLimit = Math.min(Math.max(1, limit), MAX_LISTED);
      if (which === 'settled') {
        newest.where((either) => either.whereNot({ state: 'pending' }).orWhere('expires_at', '<=', clock.now()));
        return ((await newest.offset(from).limit(pageLimit)) as Row[]).map(fromRow);
      }
      newest.where({ state: 'pending' }).where('expires_at', '>', clock.now());
      const waiting = (await newest.select('id', 'user_id')) as Pick<Row, 'id' | 'user_id'>[];
      const ids = roundRobin(waiting).slice(from, from + pageLimit);
      const rows = new Map(((await table().whereIn('id', ids)) as Row[]).map((row) => [row.id, row]));
      return ids.flatMap((id) => rows.get(id) ?? []).map(fromRow);
    },
    async openOfUser(userId) {
      const open = table().where({ user_id: userId }).whereIn('state', ['pending', 'approved', 'running']);
      return ((await open.where('expires_at', '>', clock.now())) as Row[]).map(fromRow);
    },
    decide(id, { by, verdict }) {
      const now = clock.now();
      const decision = { state: verdict, decided_by: by, decided_at: now };
      return step(() =>
        table()
          .where({ id, state: 'pending' })
          .where('expires_at', '>', now)
          // Requesters are not a second person for their own request, whatever URL they use.
          .where((either) => either.where({ second_person: false }).orWhereNot({ user_id: by }))
          .update({ ...decision, expires_at: now + config.approvalUseSeconds * 1000 }),
      );
    },
    take: (id, call) => use(id, call, { state: 'used', open_key: null }),
    begin: (id, call) => use(id, call, { state: 'running', expires_at: clock.now() + RESULT_MS }),
    async settle(id, result) {
      const state: Approval['state'] = 'text' in result ? 'used' : 'failed';
      const values = { state, result: encrypt(JSON.stringify(result), secret()), expires_at: clock.now() + RESULT_MS };
      await database.retry(() => table().where({ id }).whereIn('state', ['approved', 'running']).update(values));
    },
    async close(id) {
      await database.retry(() =>
        table().where({ id }).whereNotIn('state', ['pending', 'approved']).update({ open_key: null }),
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
        // A marker shows who created the row: databases report an ignored insert differently.
        found_hash: marker,
      };
      await database.retry(() => table().insert(row).onConflict('id').ignore());
      const inserted = (await table().where({ id }).first('found_hash')) as Pick<Row, 'found_hash'> | undefined;
      return inserted?.found_hash === marker;
    },
    sweep,
  };
  return approvals;
}

/** Ids in turns: the first of each user, then the second of each. `rows` keep their order. */
function roundRobin(rows: readonly Pick<Row, 'id' | 'user_id'>[]): readonly string[] {
  const turns: string[][] = [];
  const countByUser = new Map<number, number>();
  for (const { id, user_id: userId } of rows) {
    const turn = countByUser.get(userId) ?? 0;
    countByUser.set(userId, turn + 1);
    turns[turn] ??= [];
    turns[turn].push(id);
  }
  return turns.flat();
}
