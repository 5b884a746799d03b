// Part of the sixteenth migration: makes existing log entries searchable. It is repeatable after a crash.
import type { Knex } from 'knex';
import { clientKeyOf, recordKeysOf } from '../audit/activity-row.ts';
import { describeAction } from '../audit/admin-kinds.ts';
import { readMembers } from '../users/member-value.ts';

const IDS_PER_BATCH = 5000;

/** Entries of deleted renderings are assigned to the first environment, where they remain visible. */
export async function backfillActivity(on: Knex): Promise<void> {
  const renderings = await on('renderings').select<{ id: number; environment_id: number }[]>('id', 'environment_id');
  const first = await on('environments').min<{ id: number | null }[]>({ id: 'id' });
  const clients = await on('activity_logs').where({ client_key: 0 }).distinct().pluck<string[]>('client_name');
  for (const client_name of clients) {
    const client_key = clientKeyOf(client_name);
    await on('activity_logs').where({ client_name, client_key: 0 }).update({ client_key });
  }
  const environments = [...new Set(renderings.map((row) => row.environment_id))];
  for (const environment_id of environments) {
    const ids = renderings.filter((row) => row.environment_id === environment_id).map(({ id }) => id);
    await on('activity_logs').whereIn('rendering_id', ids).where({ environment_id: 0 }).update({ environment_id });
  }
  await on('activity_logs')
    .where({ environment_id: 0 })
    .update({ environment_id: first[0]?.id ?? 0 });
  for (let from = 0; ; ) {
    const rows = await on('activity_logs')
      .where('id', '>', from)
      .whereNotNull('record_ids')
      .orderBy('id')
      .limit(IDS_PER_BATCH)
      .select<{ id: number; environment_id: number; started_at: number; record_ids: string }[]>(
        'id',
        'environment_id',
        'started_at',
        'record_ids',
      );
    const keys = rows.flatMap(({ id, environment_id, started_at, record_ids }) =>
      recordKeysOf(JSON.parse(record_ids) as string[]).map((record_key) => ({
        environment_id,
        record_key,
        started_at: Number(started_at),
        log_id: Number(id),
      })),
    );
    for (let at = 0; at < keys.length; at += 50) {
      await on('activity_records')
        .insert(keys.slice(at, at + 50))
        .onConflict(['environment_id', 'record_key', 'started_at', 'log_id'])
        .ignore();
    }
    const last = rows.at(-1);
    if (!last) return;
    from = Number(last.id);
  }
}

export async function backfillAdminLog(on: Knex): Promise<void> {
  const actions = await on('admin_logs').where({ resource: '' }).distinct().pluck<string[]>('action');
  for (const action of actions) {
    await on('admin_logs').where({ action, resource: '' }).update(describeAction(action));
  }
  await on('admin_logs').whereNotNull('user_id').update({ initiator: 'administrator' });
}

/**
 * Logs the current state once, before the log begins to store values. Readers of the log then know the initial values.
 */
export async function logExistingStructure(on: Knex, now: number): Promise<void> {
  await on.transaction(async (trx) => {
    if (await trx('admin_logs').where({ type: 'initial' }).first('id')) return;
    const logExisting = async (resource: string, subject: string, value: unknown): Promise<void> => {
      await trx('admin_logs').insert({
        at: now,
        user_id: null,
        action: `${resource}.initial`,
        subject: subject.slice(0, 400),
        detail: '{}',
        type: 'initial',
        resource,
        initiator: 'serviceAdmin',
        new_value: JSON.stringify(value),
        previous_value: null,
      });
    };
    for (const resource of ['environment', 'team', 'role'] as const) {
      for (const name of await trx(`${resource}s`).orderBy('id').pluck<string[]>('name')) {
        await logExisting(resource, name, { name });
      }
    }
    for (const member of await readMembers(trx)) await logExisting('user-project', member.email, { member });
  });
}
