// Version numbers that every call compares (DECISIONS: a change takes effect at once in every process). On SQLite,
// `PRAGMA data_version` shows whether a commit has happened. The check uses a separate connection, where the number
// changes with every commit of any other connection of this process or another. The row is read again only then. A
// database server is queried each time. Calls share a query only until it starts, because a query in progress may have
// missed a commit.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../core/sqlite.ts';
import type { Database } from './database/database.ts';
import type { Versions } from './version-types.ts';

export type VersionName = keyof Versions;

export interface VersionRows {
  current(): Versions | Promise<Versions>;
  /** Runs a transaction that also raises one version. */
  change<T>(name: VersionName, run: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
}

/** Raises the version within the transaction of the change. */
export async function raiseVersion(trx: Knex.Transaction, name: VersionName): Promise<void> {
  await trx('versions').where({ name }).increment('number', 1);
}

export function createVersionRows(database: Database): VersionRows {
  const { direct, knex } = database;
  const read = shareUnsent(async () => {
    if (!direct) return toVersions(await knex('versions').select('name', 'number'));
    const { rows } = await direct.execute({ sql: `SELECT ${versionNumbers}`, values: [] });
    return versionsOf(rows[0] as number[]);
  });
  const watch = database.sqlite?.watch;
  return {
    current: watch ? watchVersions(watch, read) : read,
    change: (name, run) =>
      database.write(async (trx) => {
        const result = await run(trx);
        await raiseVersion(trx, name);
        return result;
      }),
  };
}

interface VersionRow {
  readonly name: string;
  readonly number: number;
}

function toVersions(rows: readonly VersionRow[]): Versions {
  const of = (name: VersionName): number => Number(rows.find((row) => row.name === name)?.number ?? 0);
  return Object.freeze({
    permissions: of('permissions'),
    grants: of('grants'),
    keys: of('keys'),
    workflows: of('workflows'),
  });
}

const names = ['permissions', 'grants', 'keys', 'workflows'] as const satisfies readonly VersionName[];

/** SQL: the numbers as columns of one row. */
export const versionNumbers = names
  .map((name, at) => `(SELECT number FROM versions WHERE name = '${name}') AS version_${at}`)
  .join(', ');

export function versionsOf([permissions, grants, keys, workflows]: readonly number[]): Versions {
  return Object.freeze({ permissions: permissions!, grants: grants!, keys: keys!, workflows: workflows! });
}

/** Whether permissions and grants are unchanged. The others are left out because their readers compare them. */
export const sameRights = (a: Versions, b: Versions): boolean =>
  a.grants === b.grants && a.permissions === b.permissions;

/** Whether workflows and their triggers are unchanged. Removing a team removes its workflows, too. */
export const sameWorkflows = (a: Versions, b: Versions): boolean =>
  a === b || (a.workflows !== undefined && a.workflows === b.workflows && a.permissions === b.permissions);

const isSame = (a: Versions, b: Versions): boolean => names.every((name) => a[name] === b[name]);

function watchVersions(
  connection: SqliteConnection,
  read: () => Promise<Versions>,
): () => Versions | Promise<Versions> {
  const prepareBoth = () => ({
    dataVersion: connection.prepare('PRAGMA data_version').pluck(),
    numbers: connection.prepare(`SELECT ${versionNumbers}`).raw(),
  });
  let statements: ReturnType<typeof prepareBoth> | undefined;
  let lastDataVersion: unknown;
  let versions: Versions | undefined;
  return () => {
    try {
      statements ??= prepareBoth();
      const now = statements.dataVersion.get();
      if (versions && now === lastDataVersion) return versions;
      const found = versionsOf(statements.numbers.get() as number[]);
      lastDataVersion = now;
      // Most commits raise no version: marks of writes go to the same file.
      if (!versions || !isSame(versions, found)) versions = found;
      return versions;
    } catch (error) {
      // Without WAL a writer blocks readers. The writer may be our own transaction, and waiting for it would deadlock.
      if (/locked|busy/i.test((error as Error).message)) return read();
      throw error;
    }
  };
}

/** Limits `run` to one execution at a time. Calls during an execution share the next one, which starts when it ends. */
function shareUnsent<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined;
  let unsent: Promise<T> | undefined;
  const send = (): Promise<T> => {
    unsent = undefined;
    const started = run();
    running = started;
    return started;
  };
  return () => {
    unsent ??= (running ?? Promise.resolve()).then(send, send);
    return unsent;
  };
}
