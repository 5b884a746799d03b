// Workflows of a rendering, with their versions and triggers. Publishing locks the row of the workflow, which
// serializes its versions; the newest is active at once. Definitions in code are compared with the stored ones at every
// start, and a new version is added only for a changed definition.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { decrypt, encrypt, randomBase64, randomId, sign } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/duplicates.ts';
import { createPreparedStatements } from '../database/prepared-statements.ts';
import { createEnvironmentReader, type EnvironmentInfoReader, logChange } from '../permissions/roles.ts';
import { raiseVersion, type VersionRows } from '../versions.ts';
import { deleteWorkflow } from './runs.ts';
import type { CodeWorkflow, PublishRequest, TriggerChange, Workflow, Workflows, WorkflowVersion } from './types.ts';

/** Standard Webhooks: 24 to 64 random bytes. */
const SIGNING_BYTES = 32;

type Flag = boolean | number;

interface Row {
  readonly id: string;
  readonly rendering_id: number;
  readonly team: string;
  readonly name: string;
  readonly collection: string;
  readonly source: Workflow['source'];
  readonly active: Flag;
  readonly version: number;
  readonly trigger_enabled: Flag;
  readonly trigger_version: number;
  readonly trigger_key: string | null;
  readonly needs_signature: Flag;
  readonly callback_url: string | null;
  readonly created_at: number | string;
  readonly updated_at: number | string;
}

const rowColumns = [
  ...['id', 'rendering_id', 'name', 'collection', 'source', 'active', 'version', 'trigger_enabled', 'trigger_version'],
  ...['trigger_key', 'needs_signature', 'callback_url', 'created_at', 'updated_at'],
] as const;

type Lock = Pick<Row, 'id' | 'name' | 'source' | 'version' | 'trigger_enabled' | 'trigger_version' | 'trigger_key'>;

export function createWorkflows(
  database: Database,
  versions: VersionRows,
  getEnvironment: EnvironmentInfoReader,
  clock: Clock,
  getSecret: () => string,
): Workflows {
  const { knex, dialect } = database;
  const statements = createPreparedStatements(database);
  const secret = () => sign('workflow signing', getSecret());
  const environment = createEnvironmentReader(knex, getEnvironment);

  const select = (on: Knex, environmentId: number) =>
    on('workflows as w')
      .join('renderings', 'renderings.id', 'w.rendering_id')
      .join('teams', 'teams.id', 'renderings.team_id')
      .where('w.environment_id', environmentId)
      .select('w.*', 'teams.name as team');

  const find = async (on: Knex, environmentId: number, id: string): Promise<Workflow | undefined> => {
    const row = (await select(on, environmentId).where('w.id', id).first()) as Row | undefined;
    return row && toWorkflow(row);
  };

  /** Locks the row against other changes. */
  const lock = async (trx: Knex, where: Readonly<Record<string, unknown>>): Promise<Lock | undefined> => {
    const query = trx('workflows').where(where);
    if (dialect !== 'sqlite') query.forUpdate();
    return query.first<Lock | undefined>();
  };

  const change = <T>(
    id: string,
    run: (trx: Knex.Transaction, row: Lock) => Promise<T>,
  ): Promise<Workflow | undefined> =>
    database.write(async (trx) => {
      const environmentId = await environment();
      const row = await lock(trx, { id, environment_id: environmentId });
      if (!row) return undefined;
      await run(trx, row);
      return find(trx, environmentId, id);
    });

  const addVersion = async (
    trx: Knex,
    id: string,
    version: number,
    { definition, by }: { readonly definition: string; readonly by: number | null },
  ): Promise<void> => {
    const now = clock.now();
    await trx('workflow_versions').insert({ workflow_id: id, version, definition, created_at: now, created_by: by });
  };

  const newRow = (
    environmentId: number,
    request: Pick<PublishRequest, 'renderingId' | 'name' | 'collection' | 'concurrency'>,
  ) => {
    const now = clock.now();
    return {
      id: randomId(),
      environment_id: environmentId,
      rendering_id: request.renderingId,
      name: request.name,
      collection: request.collection,
      active: true,
      version: 1,
      concurrency: request.concurrency,
      trigger_enabled: false,
      trigger_version: 0,
      needs_signature: false,
      created_at: now,
      updated_at: now,
    };
  };

  /** Publishes in one rendering. */
  const publishOne = async (trx: Knex.Transaction, renderingId: number, code: CodeWorkflow): Promise<string> => {
    const environmentId = await environment();
    const existing = await lock(trx, { rendering_id: renderingId, name: code.name });
    if (!existing) {
      const row = newRow(environmentId, { ...code, renderingId });
      await trx('workflows').insert({ ...row, source: 'code' });
      await addVersion(trx, row.id, 1, { definition: code.definition, by: null });
      return row.id;
    }
    if (existing.source !== 'code') {
      const problem = `The workflow '${code.name}' is defined in code, and a team has one with the same name from the console. Rename one of them.`;
      return fail('CONFIGURATION', { problem });
    }
    const { definition } = await trx('workflow_versions')
      .where({ workflow_id: existing.id, version: existing.version })
      .first<{ definition: string }>('definition');
    const version = definition === code.definition ? existing.version : existing.version + 1;
    const { collection, concurrency } = code;
    if (version !== existing.version) {
      await addVersion(trx, existing.id, version, { definition: code.definition, by: null });
    }
    await trx('workflows')
      .where({ id: existing.id })
      .update({
        collection,
        concurrency,
        active: true,
        version,
        ...(version !== existing.version && { updated_at: clock.now() }),
      });
    return existing.id;
  };

  return {
    async publish(request) {
      const environmentId = await environment();
      const { name, collection, concurrency, definition, by, of } = request;
      try {
        return await versions.change('workflows', async (trx) => {
          const log = (id: string, action: string, version: number) =>
            logChange(trx, { at: clock.now(), by, action, subject: name, detail: { workflow: id, version } });
          if (!of) {
            const row = newRow(environmentId, request);
            await trx('workflows').insert({ ...row, source: 'console' });
            await addVersion(trx, row.id, 1, { definition, by });
            await log(row.id, 'workflow.add', 1);
            return (await find(trx, environmentId, row.id))!;
          }
          const existing = await lock(trx, {
            id: of.id,
            environment_id: environmentId,
            rendering_id: request.renderingId,
          });
          if (!existing) return fail('INVALID_ARGUMENT', { argument: 'id', problem: 'the workflow does not exist.' });
          requireConsoleSource(existing);
          if (existing.version !== of.since) {
            const problem = `version ${existing.version} was saved in the meantime; yours is based on ${of.since}. Check it, then save yours again.`;
            return fail('INVALID_ARGUMENT', { argument: 'version', problem });
          }
          const version = existing.version + 1;
          await addVersion(trx, existing.id, version, { definition, by });
          await trx('workflows')
            .where({ id: existing.id })
            .update({ name, collection, concurrency, version, active: true, updated_at: clock.now() });
          await log(existing.id, 'workflow.update', version);
          return (await find(trx, environmentId, existing.id))!;
        });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        return fail(
          'INVALID_ARGUMENT',
          { argument: 'name', problem: `the team already has a workflow '${name}'.` },
          error,
        );
      }
    },
    async publishCode(definitions) {
      const environmentId = await environment();
      const renderings = await knex('renderings')
        .join('teams', 'teams.id', 'renderings.team_id')
        .where('renderings.environment_id', environmentId)
        .select<{ id: number; team: string }[]>('renderings.id', 'teams.name as team');
      // Usually the stored workflows are already current, at a start as at a sweep: one query is enough.
      const published = await knex('workflows as w')
        .join('workflow_versions as v', (on) => on.on('v.workflow_id', 'w.id').andOn('v.version', 'w.version'))
        .where({ 'w.environment_id': environmentId, 'w.source': 'code' })
        .select<PublishedWorkflow[]>(
          'w.id',
          'w.rendering_id',
          'w.name',
          'w.collection',
          'w.concurrency',
          'w.active',
          'v.definition',
        );
      const publishedIds = new Set<string>();
      for (const code of definitions) {
        for (const { id, team } of renderings) {
          if (code.teams && !code.teams.includes(team)) continue;
          const same = published.find((row) => row.rendering_id === id && isUnchanged(row, code));
          publishedIds.add(
            same
              ? same.id
              : await retryDuplicate(() => versions.change('workflows', (trx) => publishOne(trx, id, code))),
          );
        }
      }
      if (published.every((row) => publishedIds.has(row.id) || !row.active)) return;
      await versions.change('workflows', (trx) =>
        trx('workflows')
          .where({ environment_id: environmentId, source: 'code', active: true })
          .whereNotIn('id', [...publishedIds])
          .update({ active: false, updated_at: clock.now() }),
      );
    },
    async list({ renderingId, collection }) {
      const query = select(knex, await environment()).orderBy(['w.name', 'w.rendering_id']);
      if (renderingId !== undefined) query.where('w.rendering_id', renderingId);
      if (collection !== undefined) query.where('w.collection', collection);
      return ((await query) as Row[]).map(toWorkflow);
    },
    async find(id) {
      const sql = `SELECT ${rowColumns.map((column) => `w.${column}`).join(', ')}, teams.name AS team FROM workflows w
JOIN renderings ON renderings.id = w.rendering_id JOIN teams ON teams.id = renderings.team_id
WHERE w.environment_id = ? AND w.id = ?`;
      const [row] = await statements.read<Row>({ sql, values: [await environment(), id] });
      return row && toWorkflow(row);
    },
    async versions(id) {
      const rows = await knex('workflow_versions')
        .join('workflows as w', 'w.id', 'workflow_versions.workflow_id')
        .where({ 'w.id': id, 'w.environment_id': await environment() })
        .orderBy('workflow_versions.version', 'desc')
        .select<{ version: number; created_at: number | string; created_by: number | null }[]>(
          'workflow_versions.version',
          'workflow_versions.created_at',
          'workflow_versions.created_by',
        );
      return rows.map(
        ({ version, created_at, created_by }): WorkflowVersion => ({
          version,
          createdAt: Number(created_at),
          createdBy: created_by,
        }),
      );
    },
    async definition(id, version) {
      const row = await knex('workflow_versions as v')
        .join('workflows as w', 'w.id', 'v.workflow_id')
        .where({ 'w.id': id, 'w.environment_id': await environment(), 'v.version': version })
        .first<{ definition: string } | undefined>('v.definition');
      return row?.definition;
    },
    setActive: (id, isActive, by) =>
      change(id, async (trx, row) => {
        requireConsoleSource(row);
        await trx('workflows').where({ id }).update({ active: isActive, updated_at: clock.now() });
        await raiseVersion(trx, 'workflows');
        const action = isActive ? 'workflow.resume' : 'workflow.pause';
        await logChange(trx, { at: clock.now(), by, action, subject: row.name, detail: { workflow: id } });
      }),
    async delete(id, by) {
      const environmentId = await environment();
      return versions.change('workflows', async (trx) => {
        const row = await lock(trx, { id, environment_id: environmentId });
        if (!row) return false;
        requireConsoleSource(row);
        await deleteWorkflow(trx, row);
        await logChange(trx, {
          at: clock.now(),
          by,
          action: 'workflow.delete',
          subject: row.name,
          detail: { workflow: id },
        });
        return true;
      });
    },
    changeTrigger: (id, triggerChange, by) =>
      change(id, async (trx, row) => {
        const values = triggerValues(row, triggerChange);
        await trx('workflows')
          .where({ id })
          .update({ ...values, updated_at: clock.now() });
        await raiseVersion(trx, 'workflows');
        const detail = {
          workflow: id,
          ...triggerChange,
          ...(triggerChange.callbackUrl && { callbackUrl: hostOf(triggerChange.callbackUrl) }),
        };
        await logChange(trx, { at: clock.now(), by, action: 'trigger.update', subject: row.name, detail });
      }),
    async signingSecret(id, make) {
      const readStored = async () => {
        const row = await knex('workflows')
          .where({ id, environment_id: await environment() })
          .first<{ signing_secret: string | null } | undefined>('signing_secret');
        return row?.signing_secret ? decrypt(row.signing_secret, secret()) : undefined;
      };
      const found = await readStored();
      if (found !== undefined || !make) return found;
      const sealed = encrypt(`whsec_${randomBase64(SIGNING_BYTES)}`, secret());
      await database.retry(() =>
        knex('workflows').where({ id }).whereNull('signing_secret').update({ signing_secret: sealed }),
      );
      return readStored();
    },
  };
}

interface PublishedWorkflow extends Pick<Row, 'id' | 'rendering_id' | 'name' | 'collection' | 'active'> {
  readonly concurrency: number | null;
  readonly definition: string;
}

const isUnchanged = (row: PublishedWorkflow, { name, collection, concurrency, definition }: CodeWorkflow): boolean =>
  Boolean(row.active) &&
  row.name === name &&
  row.collection === collection &&
  row.concurrency === concurrency &&
  row.definition === definition;

/** Repeats once: if two processes start simultaneously, the second attempt finds the row of the other. */
async function retryDuplicate<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return run();
  }
}

function requireConsoleSource({ name, source }: Pick<Lock, 'name' | 'source'>): void {
  if (source === 'console') return;
  fail('INVALID_ARGUMENT', { argument: 'id', problem: `'${name}' is defined in code. Change it there.` });
}

function triggerValues(row: Lock, change: TriggerChange) {
  const { isEnabled, regenerate, keyId, needsSignature, callbackUrl } = change;
  const isFirst = isEnabled === true && row.trigger_version === 0;
  const isNew = regenerate === true || isFirst;
  return {
    ...(isEnabled !== undefined && { trigger_enabled: isEnabled }),
    ...(isNew && { trigger_version: row.trigger_version + 1 }),
    ...(isNew && keyId !== undefined && { trigger_key: keyId }),
    ...(needsSignature !== undefined && { needs_signature: needsSignature }),
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
  };
}

/** Shows only the host: the path of a callback URL may contain a secret. */
const hostOf = (url: string): string => new URL(url).host;

function toWorkflow(row: Row): Workflow {
  return {
    id: row.id,
    renderingId: row.rendering_id,
    team: row.team,
    name: row.name,
    collection: row.collection,
    source: row.source,
    isActive: Boolean(row.active),
    version: row.version,
    trigger: {
      isEnabled: Boolean(row.trigger_enabled),
      version: row.trigger_version,
      keyId: row.trigger_key,
      needsSignature: Boolean(row.needs_signature),
      callbackUrl: row.callback_url,
    },
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}
