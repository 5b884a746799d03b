// One row for each person who wants mail about what waits for them, in each environment. A process claims a row by a
// conditional update, so one of several processes sends a mail. A claim ends by itself if its process dies.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import type { EnvironmentInfoReader } from '../permissions/roles.ts';
import type { WaitingMails } from './waiting-mail-types.ts';

const TABLE = 'waiting_mails';

export const waitingMailTables: Tables = {
  [TABLE](table) {
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.integer('environment_id').unsigned().notNullable().references('environments.id');
    table.bigInteger('mailed_at').notNullable();
    table.bigInteger('due_at');
    table.bigInteger('claimed_until');
    table.integer('raised').notNullable();
    table.integer('failures').notNullable();
    table.text('items').notNullable();
    table.primary(['user_id', 'environment_id']);
    table.index(['due_at']);
  },
};

interface Row {
  readonly user_id: number;
  readonly claimed_until: number | null;
  readonly raised: number;
  readonly failures: number;
  readonly items: string;
}

export function createWaitingMails(
  database: Database,
  readEnvironment: EnvironmentInfoReader,
  clock: Pick<Clock, 'now'>,
): WaitingMails {
  const { knex } = database;
  const here = async () => ({ environment_id: (await readEnvironment(knex)).environmentId });

  return {
    async isOn(userId) {
      const found = await knex(TABLE)
        .where({ ...(await here()), user_id: userId })
        .first('user_id');
      return found !== undefined;
    },

    async setOn(userId, isOn) {
      const key = { ...(await here()), user_id: userId };
      if (!isOn) {
        await knex(TABLE).where(key).delete();
        return;
      }
      const row = { ...key, mailed_at: 0, raised: 0, failures: 0, items: '[]' };
      await knex(TABLE).insert(row).onConflict(['user_id', 'environment_id']).ignore();
    },

    async raise(delayMs, minGapMs) {
      const soon = clock.now() + delayMs;
      const later = `mailed_at + ${Number(minGapMs)}`;
      const next = `CASE WHEN due_at IS NOT NULL THEN due_at WHEN ${later} > ${soon} THEN ${later} ELSE ${soon} END`;
      const where = await here();
      const change = { raised: knex.raw('raised + 1'), due_at: knex.raw(next) };
      await database.retry(() => knex(TABLE).where(where).update(change));
    },

    async claim(limit, leaseMs) {
      const now = clock.now();
      const isFree = (query: Knex.QueryBuilder) =>
        void query.whereNull('claimed_until').orWhere('claimed_until', '<=', now);
      const where = await here();
      const due: readonly Row[] = await knex(TABLE)
        .where(where)
        .where('due_at', '<=', now)
        .where(isFree)
        .orderBy('due_at')
        .limit(limit)
        .select('user_id', 'claimed_until', 'raised', 'failures', 'items');
      const claims = [];
      for (const { user_id, raised, failures, items } of due) {
        const until = now + leaseMs;
        const count = await database.retry(() =>
          knex(TABLE)
            .where({ ...where, user_id })
            .where(isFree)
            .update({ claimed_until: until }),
        );
        const read = { userId: user_id, until, raised: Number(raised), failures: Number(failures) };
        if (count === 1) claims.push({ ...read, items: JSON.parse(items) as readonly string[] });
      }
      return claims;
    },

    async finish({ userId, until, raised, failures }, { items, isSent, retryMs, nextMs }) {
      const now = clock.now();
      const isFailed = items === undefined;
      const retryAt = retryMs === undefined ? 'NULL' : now + retryMs;
      // Numbers of this process: PostgreSQL takes a placeholder here for a text.
      const next = `CASE WHEN raised = ${Number(raised)} THEN ${retryAt} ELSE ${now + (retryMs ?? nextMs)} END`;
      const where = { ...(await here()), user_id: userId, claimed_until: until };
      await database.retry(() =>
        knex(TABLE)
          .where(where)
          .update({
            ...{ claimed_until: null, due_at: knex.raw(next), failures: isFailed ? failures + 1 : 0 },
            ...(isSent && { mailed_at: now }),
            ...(items && { items: JSON.stringify(items) }),
          }),
      );
    },

    async countFailing() {
      const failing = knex(TABLE)
        .where(await here())
        .where('failures', '>', 0);
      const [row] = (await failing.count({ n: '*' })) as { n: number | string }[];
      return Number(row?.n ?? 0);
    },
  };
}
