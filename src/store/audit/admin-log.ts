// Reads the admin log: with filters, newest first, and by id for clients that copy it.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Database } from '../database/database.ts';
import { filterTimes, MAX_PAGE, orderNewest, readUsers, scanIds, stableBefore, withoutUndefined } from './log-order.ts';
import type {
  AdminChangeType,
  AdminLog,
  AdminLogFilter,
  Initiator,
  LoggedChange,
  LoggedUser,
  LogValue,
} from './log-types.ts';

interface StoredChange {
  readonly id: number;
  readonly at: number;
  readonly user_id: number | null;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
  readonly type: AdminChangeType;
  readonly resource: string;
  readonly initiator: Initiator;
  readonly new_value: string | null;
  readonly previous_value: string | null;
}

const TABLE = 'admin_logs';

export function createAdminLog(database: Database, clock: Pick<Clock, 'now'>): AdminLog {
  const { knex, dialect } = database;

  const select = ({ userId, type, initiator, resource, times }: AdminLogFilter): Knex.QueryBuilder => {
    const query = knex(TABLE).where(withoutUndefined<string | number>({ user_id: userId, type, initiator, resource }));
    filterTimes(query, 'at', times);
    return query;
  };
  const name = async (rows: readonly StoredChange[]): Promise<readonly LoggedChange[]> => {
    const users = await readUsers(
      knex,
      rows.map(({ user_id }) => user_id),
    );
    return rows.map((row) => toChange(row, users));
  };

  return {
    async search({ limit, after, ...filters }) {
      const query = select(filters).limit(Math.min(Math.max(1, limit), MAX_PAGE));
      orderNewest(query, { at: 'at', id: 'id' }, after);
      return name(await query);
    },
    async find(id) {
      return (await name(await knex(TABLE).where({ id })))[0];
    },
    walk: ({ since: from, until, ...filters }) =>
      scanIds({
        ...{ from, until, table: knex(TABLE) },
        read: async (first, last) => name(await select(filters).whereBetween('id', [first, last]).orderBy('id')),
      }),
    async newestId() {
      const stableUntil = stableBefore(dialect, clock.now());
      const newest = await knex(TABLE).max<{ id: number | null }[]>({ id: 'id' });
      const fresh = await knex(TABLE).where('at', '>', stableUntil).min<{ id: number | null }[]>({ id: 'id' });
      return fresh[0]?.id == null ? Number(newest[0]?.id ?? 0) : Number(fresh[0].id) - 1;
    },
  };
}

function toChange(row: StoredChange, users: ReadonlyMap<number, LoggedUser>): LoggedChange {
  const { action, subject, type, resource, initiator } = row;
  const values = { new: readValue(row.new_value), previous: readValue(row.previous_value) };
  // Without other values, the subject and its details serve as the added or removed value.
  const plain = values.new || values.previous || resource === 'user-project' ? undefined : toValue(row);
  return {
    id: Number(row.id),
    at: Number(row.at),
    type,
    resource,
    initiator,
    action,
    subject,
    user: row.user_id === null ? undefined : users.get(row.user_id),
    newValue: values.new ?? (type === 'remove' ? undefined : plain),
    previousValue: values.previous ?? (type === 'remove' ? plain : undefined),
  };
}

function readValue(text: string | null): LogValue | undefined {
  return text === null ? undefined : (JSON.parse(text) as LogValue);
}

function toValue({ subject, detail }: StoredChange): LogValue {
  const details = JSON.parse(detail) as Readonly<Record<string, unknown>>;
  return { name: subject, ...(Object.keys(details).length > 0 && { details }) };
}
