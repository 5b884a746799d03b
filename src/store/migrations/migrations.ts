// The list of migrations, in code. Several processes may start on one database at once. Each checks for pending
// migrations first. If there are some, it takes a lock of the database, checks again, and migrates. A connection lock
// disappears with a dead process, unlike a row in a lock table.
import type { Knex } from 'knex';
import { ConnectionFailure } from '../../core/errors/connection.ts';
import { AppError, fail, isAppError, toAppError } from '../../core/errors.ts';
import { agentSchemaTables } from '../agent-schemas.ts';
import { addApprovalResults, approvalTables } from '../approvals/approvals.ts';
import { detailTables } from '../audit/activity-row.ts';
import type { Database } from '../database/database.ts';
import { fileTables } from '../files/files.ts';
import { quotaTables } from '../limits/quotas.ts';
import { noteTables } from '../notes/notes.ts';
import { connectionTables } from '../oauth/connections.ts';
import { tokenTables } from '../oauth/tokens.ts';
import { meaningTables } from '../permissions/meanings.ts';
import { networkTables } from '../permissions/networks.ts';
import { addRemoteSettings, remoteTables } from '../remotes/remotes.ts';
import { agentSessionTables } from '../sessions/agent-sessions.ts';
import { sessionTables } from '../sessions/sessions.ts';
import { addIdentities } from '../users/identities.ts';
import { waitingMailTables } from '../users/waiting-mails.ts';
import type { VersionName } from '../versions.ts';
import { addAccountColumns } from './account-tables.ts';
import {
  addActionPermissions,
  addIdempotencyKeys,
  addPolicies,
  createFirstTables,
  createTables,
  seedFirstRows,
} from './first-tables.ts';
import { addLogPairs } from './log-pairs.ts';
import { addLogSearch } from './log-tables.ts';
import { addNotePairs } from './note-pairs.ts';
import { addStartRules } from './start-rule-tables.ts';
import { addCallbackProblem, addLostLeasesColumn, addRunCollections, workflowTables } from './workflow-tables.ts';

interface Migration {
  readonly name: string;
  /** Must be repeatable after a crash: MySQL and MariaDB commit every CREATE TABLE at once. */
  readonly up: (database: Database, on: Knex, now: number) => Promise<void>;
}

const migrations: readonly Migration[] = [
  { name: '001-first-tables', up: (database, on) => createFirstTables(on, database.dialect) },
  { name: '002-first-rows', up: seedFirstRows },
  { name: '003-action-permissions', up: (_, on) => addActionPermissions(on) },
  { name: '004-idempotency-keys', up: (database, on) => addIdempotencyKeys(on, database.dialect) },
  { name: '005-files', up: ({ dialect }, on) => createTables(on, dialect, fileTables) },
  { name: '006-approvals', up: addApprovals },
  { name: '007-console-sessions', up: ({ dialect }, on) => createTables(on, dialect, sessionTables) },
  { name: '008-application-tokens', up: ({ dialect }, on) => createTables(on, dialect, tokenTables) },
  { name: '009-allowed-networks', up: ({ dialect }, on) => createTables(on, dialect, networkTables) },
  { name: '010-accounts', up: addAccountColumns },
  { name: '011-connections', up: addConnections },
  { name: '012-identities', up: (database, on) => addIdentities(database, on) },
  { name: '013-agent-sessions', up: ({ dialect }, on) => createTables(on, dialect, agentSessionTables) },
  { name: '014-agent-schemas', up: ({ dialect }, on) => createTables(on, dialect, agentSchemaTables) },
  { name: '015-notes', up: ({ dialect }, on) => createTables(on, dialect, noteTables) },
  { name: '016-log-search', up: addLogSearch },
  { name: '017-quotas', up: ({ dialect }, on) => createTables(on, dialect, quotaTables) },
  { name: '018-workflows', up: ({ dialect }, on) => createTables(on, dialect, workflowTables) },
  { name: '019-remote-servers', up: ({ dialect }, on) => createTables(on, dialect, remoteTables) },
  { name: '020-remote-settings', up: addRemoteSettings },
  { name: '021-note-pairs', up: addNotePairs },
  { name: '022-log-pairs', up: addLogPairs },
  { name: '023-activity-details', up: ({ dialect }, on) => createTables(on, dialect, detailTables) },
  { name: '024-approval-results', up: addApprovalResults },
  { name: '025-run-collections', up: addRunCollections },
  { name: '026-lost-leases', up: addLostLeasesColumn },
  { name: '027-callback-problem', up: addCallbackProblem },
  { name: '028-workflow-version', up: (_, on) => addVersion(on, 'workflows') },
  { name: '029-start-rules', up: addStartRules },
  { name: '030-waiting-mails', up: ({ dialect }, on) => createTables(on, dialect, waitingMailTables) },
  { name: '031-meanings', up: ({ dialect }, on) => createTables(on, dialect, meaningTables) },
];

/** Also adds the version of the keys, which rotation raises. */
async function addConnections({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, connectionTables);
  await addVersion(on, 'keys');
}

async function addVersion(on: Knex, name: VersionName): Promise<void> {
  await on('versions').insert({ name, number: 1 }).onConflict('name').ignore();
}

async function addApprovals({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, approvalTables);
  await addPolicies(on);
}

/**
 * Returns the names of the migrations that this call ran. CONFIGURATION when a newer version created the storage, or
 * when the database cannot be reached.
 */
export async function migrate(database: Database, now: number): Promise<readonly string[]> {
  try {
    if ((await missing(database.knex)).length === 0) return [];
    return await underLock[database.dialect](database, (on) => runMissing(database, on, now));
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const appCause = toAppError(cause, '').cause;
    const problem =
      appCause instanceof ConnectionFailure
        ? appCause.message
        : `SERVICE_STORAGE_URL: ${database.shownAs} cannot be prepared (${reason(cause)}).`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

/** Names of the pending migrations; CONFIGURATION when a newer version created the storage. Changes no data. */
export async function findPending(database: Database): Promise<readonly string[]> {
  return (await missing(database.knex)).map(({ name }) => name);
}

/** The code of a driver error. Its message may contain an address with a password. */
function reason(cause: unknown): string {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'see the log';
}

async function missing(on: Knex): Promise<readonly Migration[]> {
  if (!(await on.schema.hasTable('schema_migrations'))) return migrations;
  const done = new Set<string>(await on('schema_migrations').pluck('name'));
  const knownNames = new Set(migrations.map(({ name }) => name));
  const newer = [...done].find((name) => !knownNames.has(name));
  if (newer !== undefined) {
    fail('CONFIGURATION', {
      problem: `SERVICE_STORAGE_URL: the storage was created by a newer Portico (it has '${newer}'). Update Portico, or use another storage.`,
    });
  }
  return migrations.filter(({ name }) => !done.has(name));
}

async function runMissing(database: Database, on: Knex, now: number): Promise<readonly string[]> {
  const todo = await missing(on);
  if (!(await on.schema.hasTable('schema_migrations'))) {
    await on.schema.createTable('schema_migrations', (table) => {
      table.string('name', 100).primary();
      table.bigInteger('applied_at').notNullable();
    });
  }
  for (const { name, up } of todo) {
    await up(database, on, now);
    await on('schema_migrations').insert({ name, applied_at: now });
  }
  return todo.map(({ name }) => name);
}

type UnderLock = (database: Database, run: (on: Knex) => Promise<readonly string[]>) => Promise<readonly string[]>;

const LOCK_SECONDS = 60;

const underLock: Record<Database['dialect'], UnderLock> = {
  // BEGIN IMMEDIATE: one writer at a time, and all or no changes.
  sqlite: (database, run) => database.write(run),
  // DDL is transactional on PostgreSQL; the lock ends with the transaction.
  postgres: (database, run) =>
    database.write(async (trx) => {
      await trx.raw(`SET LOCAL lock_timeout = '${LOCK_SECONDS}s'`);
      await trx.raw("SELECT pg_advisory_xact_lock(hashtext('portico/schema'))");
      return run(trx);
    }),
  // The lock belongs to the connection of this transaction. Its name contains the database name, because locks are
  // shared by the server.
  mysql: (database, run) =>
    database.knex.transaction(async (trx) => {
      const name = "CONCAT('portico/', MD5(DATABASE()))";
      const [rows] = (await trx.raw(`SELECT GET_LOCK(${name}, ${LOCK_SECONDS}) AS got`)) as [{ got: number | null }[]];
      if (rows[0]?.got !== 1) {
        fail('CONFIGURATION', {
          problem: `SERVICE_STORAGE_URL: another process has been preparing ${database.shownAs} for over ${LOCK_SECONDS} s. Start again when it has finished.`,
        });
      }
      try {
        return await run(database.knex);
      } finally {
        await trx.raw(`SELECT RELEASE_LOCK(${name})`);
      }
    }),
};
