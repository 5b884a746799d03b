// What is served and what the platform keeps, opened together, for every way in.
import { createEngineAgent, type EngineAgent, type EngineParts } from '../agent/agent.ts';
import { createSqlDataSource } from '../agent/data-sources.ts';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { OpenedStore } from '../store/open.ts';
import { openPlatform } from './platform.ts';

export interface DataOptions {
  /** Of the environment that is served: a storage belongs to the first that uses it, and a platform lets its agents in by it. */
  readonly envSecret?: string;
  /** Says what is to be said of the served database, before it is opened. */
  readonly customize?: (agent: EngineAgent) => void;
  /** Opens the engine that is served, in place of one over `config.database`. */
  readonly openEngine?: (parts: EngineParts) => Promise<Engine>;
}

export interface OpenedData {
  readonly store: OpenedStore;
  readonly engine: Engine;
}

/** The storage and the served database are opened beside each other; when one fails, the other is closed again. */
export async function openData(
  config: Config,
  observe: Observe,
  clock: Clock,
  options: DataOptions,
): Promise<OpenedData> {
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const openEngine = options.openEngine ?? openEngineOver(config, options.customize);
  const [store, engine] = await Promise.allSettled([
    openPlatform({ config, envSecret: options.envSecret, observe, clock }),
    openEngine({ observe, clock, limits }),
  ]);
  if (store.status === 'fulfilled' && engine.status === 'fulfilled') {
    return settle({ store: store.value, engine: engine.value });
  }
  if (store.status === 'fulfilled') await store.value.close();
  if (engine.status === 'fulfilled') await engine.value.close();
  throw store.status === 'rejected' ? store.reason : (engine as PromiseRejectedResult).reason;
}

/** Which environment is served is settled before anybody asks; CONFIGURATION when it cannot be. */
async function settle(data: OpenedData): Promise<OpenedData> {
  try {
    await data.store.identity.place();
    return data;
  } catch (error) {
    await Promise.all([data.engine.close(), data.store.close()]);
    throw error;
  }
}

/** CONFIGURATION where no database is named. */
export function openEngineOver({ database, sqlite }: Config, customize?: (agent: EngineAgent) => void) {
  if (database === null) fail('CONFIGURATION', { problem: 'No database is named: set SERVICE_DATABASE_URL.' });
  return (parts: EngineParts): Promise<Engine> => {
    const agent = createEngineAgent().addDataSource(createSqlDataSource(database, { sqlite }));
    customize?.(agent);
    return agent.createEngine(parts);
  };
}
