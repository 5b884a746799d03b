// Opens the served data and the platform storage together, for every transport.

import { createHeadlessAgent, type HeadlessAgent } from '../agent/agent.ts';
import type { DataSourceOptions } from '../agent/customize/definitions.ts';
import type { DataSourceFactory, EngineParts } from '../agent/customize/engine-parts.ts';
import { createSqlDataSource, type SqlDataSourceOptions } from '../agent/data-sources.ts';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import { databasesOf, type ServedDatabase } from '../core/config/databases.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { reservedNames } from '../rest/reserved.ts';
import type { OpenedStore } from '../store/open.ts';
import { openPlatform } from './remote-store.ts';

export interface DataOptions {
  /**
   * Secret of the served environment. The first environment to use a storage owns it, and a platform authenticates its
   * agents with the secret. Default: the secret of the configuration.
   */
  readonly envSecret?: string;
  /** Customizes the served database before it is opened. Default: no customization. */
  readonly customize?: (agent: HeadlessAgent) => void;
  /** Opens the served engine. Default: an engine over `config.database`. */
  readonly openEngine?: (parts: EngineParts) => Promise<Engine>;
}

interface OpenedData {
  readonly store: OpenedStore;
  readonly engine: Engine;
}

/** Opens the storage and the served database in parallel. If one fails, the other is closed again. */
export async function openData(
  config: Config,
  observe: Observe,
  clock: Clock,
  options: DataOptions,
): Promise<OpenedData> {
  const limits = {
    pageSizeLimit: config.pageSizeLimit,
    queryTimeoutMs: config.querySeconds * 1000,
    queriesAtOnce: config.queriesAtOnce,
  };
  let identity: OpenedStore['identity'] | undefined;
  const isUser = async (email: string) => !identity || (await identity.findUserByEmail(email)) !== undefined;
  const openEngine = options.openEngine ?? openEngineOver(config, options.customize);
  const [store, engine] = await Promise.allSettled([
    openPlatform({ config, envSecret: options.envSecret, observe, clock }),
    openEngine({
      observe,
      clock,
      limits,
      schemaSeconds: config.schemaSeconds,
      reservedNames: reservedNames(config),
      isUser,
    }),
  ]);
  if (store.status === 'fulfilled') identity = store.value.identity;
  if (store.status === 'fulfilled' && engine.status === 'fulfilled') {
    return checkData({ store: store.value, engine: engine.value });
  }
  if (store.status === 'fulfilled') await store.value.close();
  if (engine.status === 'fulfilled') await engine.value.close();
  throw store.status === 'rejected' ? store.reason : (engine as PromiseRejectedResult).reason;
}

/** Checks the secret and the environment before the first request. Throws CONFIGURATION if either is invalid. */
async function checkData(data: OpenedData): Promise<OpenedData> {
  try {
    await data.store.checkSecret?.();
    await data.store.identity.place();
    return data;
  } catch (error) {
    await Promise.all([data.engine.close(), data.store.close()]);
    throw error;
  }
}

type SourceConfig = Pick<Config, 'sqlite' | 'databaseTimezone' | 'databaseColumnTimezones'>;

/** The database settings other than the URL. */
export function sourceOptionsOf({
  sqlite,
  databaseTimezone,
  databaseColumnTimezones,
}: SourceConfig): SqlDataSourceOptions {
  const split = (item: string) => [item.slice(0, item.lastIndexOf('=')), item.slice(item.lastIndexOf('=') + 1)];
  return {
    sqlite,
    timezone: databaseTimezone,
    columnTimezones: Object.fromEntries(databaseColumnTimezones.map(split)),
  };
}

/** A database of the settings, with the options for `createSqlDataSource`. */
interface ConfiguredDatabase extends ServedDatabase {
  readonly options: SqlDataSourceOptions;
}

/**
 * One database keeps its address as its name in the log unless a name was written. Of several, the timezone of a column
 * is for the database whose name it starts with. Throws CONFIGURATION.
 */
function readConfiguredDatabases(config: SourceConfig & { readonly database: string }): readonly ConfiguredDatabase[] {
  const databases = databasesOf(config.database);
  const [only] = databases;
  if (databases.length === 1 && only) {
    const { name, prefix } = only;
    return [{ ...only, options: { ...sourceOptionsOf(config), ...(prefix !== '' && { name }) } }];
  }
  const { databaseColumnTimezones: zones } = config;
  const isOf = (zone: string, name: string) => zone.startsWith(`${name}.`);
  const lost = zones.find((zone) => !databases.some(({ name }) => isOf(zone, name)));
  if (lost !== undefined)
    fail('CONFIGURATION', {
      problem: `SERVICE_DATABASE_COLUMN_TIMEZONES: '${lost}' must start with the name of a database, such as ${only?.name}.${lost}. The databases are: ${databases.map(({ name }) => name).join(', ')}.`,
    });
  return databases.map((database) => {
    const { name } = database;
    const own = zones.filter((zone) => isOf(zone, name)).map((zone) => zone.slice(name.length + 1));
    return { ...database, options: { ...sourceOptionsOf({ ...config, databaseColumnTimezones: own }), name } };
  });
}

/** Adds the databases of the settings, in their order. */
export function addDatabases<A extends { addDataSource(factory: DataSourceFactory, options?: DataSourceOptions): A }>(
  agent: A,
  config: SourceConfig & { readonly database: string },
): A {
  for (const { url, prefix, options } of readConfiguredDatabases(config))
    agent.addDataSource(createSqlDataSource(url, options), prefix === '' ? undefined : { prefix });
  return agent;
}

/** Throws CONFIGURATION if no database is configured. */
export function openEngineOver(config: Config, customize?: (agent: HeadlessAgent) => void) {
  const { database } = config;
  if (database === null) fail('CONFIGURATION', { problem: 'No database is set: set SERVICE_DATABASE_URL.' });
  return (parts: EngineParts): Promise<Engine> => {
    const agent = addDatabases(createHeadlessAgent(), { ...config, database });
    customize?.(agent);
    return agent.createEngine({ ...parts, isOfSettings: true });
  };
}
