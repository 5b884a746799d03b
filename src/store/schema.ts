// The tables, as a list of migrations in code. Any number of processes may start on one database at once: each looks
// first, and who has something to do takes a lock of the database's own, looks again, and migrates. A lock that the
// database holds for a connection goes away with a process that dies; a row in a lock table would stay.
import type { Knex } from 'knex';
import { AppError, fail, isAppError } from '../core/errors.ts';
import { addAccounts } from './account-tables.ts';
import { agentSchemaTables } from './agent-schemas.ts';
import { agentSessionTables } from './agent-sessions.ts';
import { approvalTables } from './approvals.ts';
import { connectionTables } from './connections.ts';
import type { Database } from './database.ts';
import { fileTables } from './files.ts';
import { addIdentities } from './identities.ts';
import { addLogPairs } from './log-pairs.ts';
import { addLogSearch } from './log-tables.ts';
import { networkTables } from './networks.ts';
import { addNotePairs } from './note-pairs.ts';
import { noteTables } from './notes.ts';
import { quotaTables } from './quotas.ts';
import { addRemoteSettings, remoteTables } from './remotes.ts';
import {
  addActionPermissions,
  addIdempotencyKeys,
  addPolicies,
  createFirstTables,
  createTables,
  seedFirstRows,
} from './schema-tables.ts';
import { sessionTables } from './sessions.ts';
import { tokenTables } from './tokens.ts';
import { workflowTables } from './workflow-tables.ts';

interface Migration {
  readonly name: string;
  /** Must be able to go on after a crash in its middle: MySQL and MariaDB commit every CREATE TABLE at once. */
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
  { name: '010-accounts', up: addAccounts },
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
];

/** And the version of the keys, which is raised when they are rotated. */
async function addConnections({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, connectionTables);
  await on('versions').insert({ name: 'keys', number: 1 }).onConflict('name').ignore();
}

async function addApprovals({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, approvalTables);
  await addPolicies(on);
}

/**
 * Answers the names of the migrations that this call ran. CONFIGURATION when the store was made by a newer version, or
 * when the database cannot be reached.
 */
export async function migrate(database: Database, now: number): Promise<readonly string[]> {
  try {
    if ((await missing(database.knex)).length === 0) return [];
    return await underLock[database.dialect](database, (on) => runMissing(database, on, now));
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const problem = `SERVICE_STORAGE_URL: ${database.shownAs} cannot be reached or prepared (${reason(cause)}).`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

/** Names of the migrations that the storage lacks; CONFIGURATION when a newer version made it. Changes nothing. */
export async function findPending(database: Database): Promise<readonly string[]> {
  return (await missing(database.knex)).map(({ name }) => name);
}

/** The code of a driver's error, never its text, which may hold an address with a password. */
function reason(cause: unknown): string {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'see the log';
}

async function missing(on: Knex): Promise<readonly Migration[]> {
  if (!(await on.schema.hasTable('schema_migrations'))) return migrations;
  const done = new Set<string>(await on('schema_migrations').pluck('name'));
  const known = new Set(migrations.map(({ name }) => name));
  const newer = [...done].find((name) => !known.has(name));
  if (newer !== undefined) {
    fail('CONFIGURATION', {
      problem: `SERVICE_STORAGE_URL: the storage was made by a newer Portico (it has '${newer}'). Update Portico, or name another storage.`,
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
  // BEGIN IMMEDIATE: one writer, and all or nothing.
  sqlite: (database, run) => database.write(run),
  // DDL is transactional here; the lock goes with the transaction.
  postgres: (database, run) =>
    database.write(async (trx) => {
      await trx.raw(`SET LOCAL lock_timeout = '${LOCK_SECONDS}s'`);
      await trx.raw("SELECT pg_advisory_xact_lock(hashtext('portico/schema'))");
      return run(trx);
    }),
  // The lock belongs to a connection, the one of this transaction; the name holds the database's, since it is the server's.
  mysql: (database, run) =>
    database.knex.transaction(async (trx) => {
      const name = "CONCAT('portico/', MD5(DATABASE()))";
      const [rows] = (await trx.raw(`SELECT GET_LOCK(${name}, ${LOCK_SECONDS}) AS got`)) as [{ got: number | null }[]];
      if (rows[0]?.got !== 1) {
        fail('CONFIGURATION', {
          problem: `SERVICE_STORAGE_URL: another process has been preparing ${database.shownAs} for over ${LOCK_SECONDS} s. Start again when it is done.`,
        });
      }
      try {
        return await run(database.knex);
      } finally {
        await trx.raw(`SELECT RELEASE_LOCK(${name})`);
      }
    }),
};
