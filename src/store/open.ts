import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { SqliteKind } from '../core/sqlite.ts';
import { createActivityLog } from './activity.ts';
import { type ActivityRows, createActivityRows } from './activity-rows.ts';
import { createActivitySearch } from './activity-search.ts';
import { createAdminLog } from './admin-log.ts';
import { createAgentSchemas } from './agent-schemas.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { createApprovals } from './approvals.ts';
import { createConnections } from './connections.ts';
import { type Database, openDatabase } from './database.ts';
import { createFileRows } from './files.ts';
import { createIdempotencyKeys, createIdempotencyRows, type IdempotencyRows } from './idempotency.ts';
import { createIdentities } from './identities.ts';
import { createIdentity } from './identity.ts';
import { createKeys, createSecretReader } from './keys.ts';
import { createWindows } from './limits.ts';
import { createLinks } from './links.ts';
import { createLogRetention, type LogRetention } from './log-retention.ts';
import { createMembers } from './members.ts';
import { createNotes } from './notes.ts';
import { createOAuthRows } from './oauth.ts';
import { createPermissions, type PermissionRows } from './permissions.ts';
import { createQuotas } from './quotas.ts';
import { createRedisQuotas } from './redis-quotas.ts';
import { createRemotes } from './remotes.ts';
import { createRights } from './rights.ts';
import { createPlaceReader } from './roles.ts';
import { createRuns } from './runs.ts';
import { migrate } from './schema.ts';
import { createSecondFactors } from './second-factors.ts';
import { createSessions } from './sessions.ts';
import { createSettingRows } from './settings.ts';
import type { Store } from './store.ts';
import { createTokens } from './tokens.ts';
import { createVersionRows } from './versions.ts';
import { createWorkflows } from './workflows.ts';

export interface OpenedStore extends Store {
  /** The SQLite driver in use, so that the composition can warn of `wasm`; undefined on a server. */
  readonly sqliteKind?: SqliteKind;
  /** Absent where another process has the storage, and this one asks it (platform/remote-store.ts). */
  readonly relay?: Relay;
  /** The same: how long the logs are kept is the business of who has them. */
  readonly retention?: LogRetention;
  /** Whether the storage is a sandbox for tests: only there tokens of the testing client are taken. */
  readonly isSandbox?: true;
}

/** What a call needs that another process has under way: its steps by an id, and facts in place of an Access. */
export interface Relay {
  readonly factsOf: PermissionRows['factsOf'];
  readonly activity: Pick<ActivityRows, 'insert' | 'insertAll' | 'completeMark'>;
  readonly idempotency: IdempotencyRows;
}

/** Opens and migrates. CONFIGURATION when the storage cannot be used as configured; the text names the variable. */
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
  } catch (error) {
    await database.close();
    throw error;
  }
  const versions = createVersionRows(database);
  const getPlace = createPlaceReader(config.environment);
  const getOwnPlace = () => getPlace(database.knex);
  const activityRows = createActivityRows(database, getOwnPlace);
  const activity = createActivityLog(activityRows, observe, clock);
  const permissions = createPermissions(database, versions, getPlace, observe, clock);
  const tokens = createTokens(database, versions, clock);
  const connections = createConnections(database, versions, clock);
  const inMemory = database.sqlite?.inMemory ?? false;
  const getSecret = createSecretReader({ configured: config.secret, dataDir: config.dataDir, inMemory });
  const idempotencyRows = createIdempotencyRows(database, clock, getSecret);
  const storedQuotas = createQuotas(database, clock);
  const redis =
    config.redisUrl === null ? undefined : createRedisQuotas(config.redisUrl, storedQuotas, { observe, clock });
  const retention = createLogRetention(database, config, observe, clock);
  const identity = createIdentity(database, versions, getPlace, clock);
  return {
    identity,
    identities: createIdentities(database, versions, clock, identity.findUser),
    permissions,
    rights: createRights(database, versions, clock),
    members: createMembers(versions, clock),
    oauth: createOAuthRows(database, versions, clock),
    activity: { ...activity, ...createActivitySearch(database, getOwnPlace, clock) },
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
    schema: createAgentSchemas(database, getPlace, clock),
    notes: createNotes(database, getPlace, clock),
    workflows: createWorkflows(database, getPlace, clock, getSecret),
    runs: createRuns(database, getPlace, clock, getSecret),
    remotes: createRemotes(database, getPlace, clock, getSecret),
    keys: createKeys(database, versions, clock, getSecret),
    versions: versions.current,
    relay: { factsOf: permissions.factsOf, activity: activityRows, idempotency: idempotencyRows },
    retention,
    ready: () => ask(database),
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

async function ask({ knex }: Database): Promise<void> {
  try {
    await knex.raw('SELECT 1');
  } catch (cause) {
    throw new AppError('SOURCE_UNAVAILABLE', {}, cause);
  }
}
