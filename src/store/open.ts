import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { reportDriver, type SqliteKind } from '../core/sqlite.ts';
import { createAgentSchemas } from './agent-schemas.ts';
import { createApprovals } from './approvals/approvals.ts';
import { createIdempotencyKeys, createIdempotencyRows, type IdempotencyRows } from './approvals/idempotency.ts';
import { createActivityLog } from './audit/activity.ts';
import { type ActivityRows, createActivityRows, watchWriting } from './audit/activity-rows.ts';
import { createActivitySearch } from './audit/activity-search.ts';
import { createAdminLog } from './audit/admin-log.ts';
import { createLogRetention, type LogRetention } from './audit/log-retention.ts';
import { type Database, openDatabase } from './database/database.ts';
import { createFileRows } from './files/files.ts';
import { checkSecret, createKeys, createSecretReader } from './keys.ts';
import { createWindows } from './limits/limits.ts';
import { createQuotas } from './limits/quotas.ts';
import { createRedisQuotas } from './limits/redis-quotas.ts';
import { migrate } from './migrations/migrations.ts';
import { createNotes } from './notes/notes.ts';
import { createConnections } from './oauth/connections.ts';
import { createOAuthRows } from './oauth/oauth.ts';
import { createTokens } from './oauth/tokens.ts';
import { createMeanings } from './permissions/meanings.ts';
import { createPermissions, type PermissionRows } from './permissions/permissions.ts';
import { createRights } from './permissions/rights.ts';
import { createEnvironmentInfoReader } from './permissions/roles.ts';
import { createRemotes } from './remotes/remotes.ts';
import { createAgentSessions } from './sessions/agent-sessions.ts';
import { createSessions } from './sessions/sessions.ts';
import { createSettingRows } from './settings.ts';
import type { Store } from './store.ts';
import { createIdentities } from './users/identities.ts';
import { createIdentity } from './users/identity.ts';
import { createMembers } from './users/members.ts';
import { createLinks } from './users/one-time-links.ts';
import { createSecondFactors } from './users/second-factors.ts';
import { createWaitingMails } from './users/waiting-mails.ts';
import { createVersionRows } from './versions.ts';
import { createRuns } from './workflows/runs.ts';
import { createStartRules } from './workflows/start-rules.ts';
import { createWorkflows } from './workflows/workflows.ts';

export interface OpenedStore extends Store {
  /** The SQLite driver in use. Undefined for a database server. */
  readonly sqliteKind?: SqliteKind;
  /** Absent when another process owns the storage and this process calls it (remote-store/remote-store.ts). */
  readonly relay?: Relay;
  /** Absent for the same reason: the process that owns the logs decides how long they are stored. */
  readonly retention?: LogRetention;
  /**
   * CONFIGURATION when the secret differs from the one that encrypted the stored keys. Absent under the same condition
   * as `relay`.
   */
  readonly checkSecret?: () => Promise<void>;
  /** True for a sandbox storage for tests. Tokens of the testing client are accepted only there. */
  readonly isSandbox?: true;
}

/** Operations for a process without a storage of its own. Steps are addressed by id, and facts replace an `Access`. */
export interface Relay {
  readonly factsOf: PermissionRows['factsOf'];
  readonly activity: Pick<ActivityRows, 'insert' | 'insertAll' | 'completeMark'>;
  readonly idempotency: IdempotencyRows;
}

/**
 * Opens and migrates the storage. CONFIGURATION when the storage cannot be used as configured; the message names the
 * variable.
 */
export async function openStore(options: {
  readonly config: Pick<
    Config,
    | 'dataDir'
    | 'storageUrl'
    | 'redisUrl'
    | 'secret'
    | 'environment'
    | 'sqlite'
    | 'approvalSeconds'
    | 'approvalUseSeconds'
    | 'consoleIdleSeconds'
    | 'consoleSessionSeconds'
    | 'agentSessionSeconds'
    | 'interactionSeconds'
    | 'authorizationCodeSeconds'
    | 'invitationSeconds'
    | 'resetSeconds'
    | 'activityDays'
    | 'adminLogDays'
  >;
  readonly observe: Observe;
  readonly clock: Clock;
}): Promise<OpenedStore> {
  const { config, observe, clock } = options;
  const { storageUrl: url, dataDir, sqlite } = config;
  const database = openDatabase({ url, dataDir, sqlite, observe });
  try {
    const migrations = await migrate(database, clock.now());
    if (migrations.length > 0) observe({ type: 'store.migrated', migrations });
    if (database.sqlite) reportDriver(database.sqlite.kind, observe);
  } catch (error) {
    await database.close();
    throw error;
  }
  const versions = createVersionRows(database);
  const readEnvironment = createEnvironmentInfoReader(config.environment);
  const getEnvironment = () => readEnvironment(database.knex);
  const { rows: activityRows, requireWritable } = watchWriting(createActivityRows(database, getEnvironment), database);
  const activity = createActivityLog(activityRows, observe, clock);
  const meanings = createMeanings(database, versions, readEnvironment, clock);
  const permissions = createPermissions(database, versions, readEnvironment, observe, clock, meanings.list);
  const tokens = createTokens(database, versions, clock);
  const connections = createConnections(database, versions, clock);
  const inMemory = database.sqlite?.inMemory ?? false;
  const getSecret = createSecretReader({ configured: config.secret, dataDir: config.dataDir, inMemory });
  const idempotencyRows = createIdempotencyRows(database, clock, getSecret);
  const storedQuotas = createQuotas(database, clock);
  const redis =
    config.redisUrl === null ? undefined : createRedisQuotas(config.redisUrl, storedQuotas, { observe, clock });
  const retention = createLogRetention(database, config, observe, clock);
  const identity = createIdentity(database, versions, readEnvironment, clock);
  return {
    identity,
    identities: createIdentities(database, versions, clock, identity.findUser),
    permissions,
    meanings,
    rights: createRights(database, versions, clock),
    members: createMembers(versions, clock),
    oauth: createOAuthRows(database, versions, clock),
    activity: { ...activity, ...createActivitySearch(database, getEnvironment, clock) },
    adminLog: createAdminLog(database, clock),
    idempotency: createIdempotencyKeys(idempotencyRows, clock),
    approvals: createApprovals(database, clock, getSecret, config),
    settings: createSettingRows(database),
    files: createFileRows(database, clock),
    sessions: createSessions(database, versions, clock, config),
    agentSessions: createAgentSessions(database, versions, clock, config),
    links: createLinks(database, versions, clock, config),
    secondFactors: createSecondFactors(database, clock, getSecret),
    windows: createWindows(database, clock),
    quotas: redis ?? storedQuotas,
    tokens,
    connections,
    schema: createAgentSchemas(database, readEnvironment, clock),
    notes: createNotes(database, readEnvironment, clock),
    workflows: createWorkflows(database, versions, readEnvironment, clock, getSecret),
    runs: createRuns(database, readEnvironment, clock, getSecret),
    startRules: createStartRules(database, versions, readEnvironment, clock),
    remotes: createRemotes(database, readEnvironment, clock, getSecret),
    waitingMails: createWaitingMails(database, readEnvironment, clock),
    keys: createKeys(database, versions, clock, getSecret),
    versions: versions.current,
    relay: { factsOf: permissions.factsOf, activity: activityRows, idempotency: idempotencyRows },
    retention,
    checkSecret: () => checkSecret(database.knex, getSecret),
    async ready() {
      await ping(database);
      await requireWritable();
      await checkSecret(database.knex, getSecret);
    },
    async close() {
      await retention.stop();
      await activity.flush();
      await tokens.flush();
      await connections.flush();
      await redis?.close();
      await database.close();
    },
    ...(database.sqlite ? { sqliteKind: database.sqlite.kind } : {}),
  };
}

async function ping({ knex }: Database): Promise<void> {
  try {
    await knex.raw('SELECT 1');
  } catch (cause) {
    throw new AppError('SOURCE_UNAVAILABLE', {}, cause);
  }
}
