// Finds stored filters that are ambiguous today: row scopes and conditions of roles, workflows and segments. Each line
// lists the unambiguous alternatives.
import { existsSync } from 'node:fs';
import type { Engine } from '../agent/engine.ts';
import { type ModelNames, readModel } from '../console/pages/rights/model.ts';
import { type Caller, fullAccess } from '../core/caller.ts';
import { systemClock } from '../core/clock.ts';
import { type Finding, note } from '../core/config/findings.ts';
import type { Config } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { openEngineOver } from '../server/data.ts';
import { locateStorage, openDatabase } from '../store/database/database.ts';
import { findPending } from '../store/migrations/migrations.ts';
import type { CollectionPermission, Right } from '../store/permissions/types.ts';
import type { Store } from '../store/store.ts';
import { checkAgainstModel } from '../workflows/definition/check-model.ts';
import { parseDefinition } from '../workflows/definition/definition.ts';
import { findServed } from './served.ts';
import { withStore } from './storage.ts';

/** Returns one line per ambiguous filter of the right. */
export function findUnclearIn({ kind, path, value }: Right, model: ModelNames): readonly string[] {
  const [owner, , collection] = path;
  if (collection === undefined) return [];
  if (kind === 'scope') {
    const problems = model.findUnclear(collection, value as never);
    return problems.map((problem) => `the row scope of team '${owner}' on '${collection}': ${problem}`);
  }
  if (kind !== 'permission') return [];
  return Object.entries((value as CollectionPermission).actions ?? {}).flatMap(([action, { trigger }]) =>
    typeof trigger !== 'object'
      ? []
      : model
          .findUnclear(collection, trigger.when)
          .map((problem) => `the condition of role '${owner}' for '${action}' of '${collection}': ${problem}`),
  );
}

/** The engine of what would be served. Undefined if there is no database yet, or if it cannot be opened. */
export async function openExamined(config: Config): Promise<Engine | undefined> {
  const served = await findServed(config).catch(() => undefined);
  if (!served) return undefined;
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const open = openEngineOver({ ...config, database: served.database }, served.customize);
  return open({ observe: () => undefined, clock: systemClock, limits }).catch(() => undefined);
}

/** For `portico doctor`. Returns undefined if there is no finding, or if the database or storage cannot be opened. */
export async function checkStoredFilters(config: Config): Promise<Finding | undefined> {
  const engine = await openExamined(config);
  if (!engine) return undefined;
  try {
    const caller = { id: 0, timezone: 'UTC', tags: {} } as unknown as Caller;
    const access = fullAccess(caller);
    const model = readModel(engine, caller);
    const unclear = engine.storedFilters
      .findAmbiguousSegments(access)
      .map(({ collection, segment, problem }) => `the segment '${segment}' of '${collection}': ${problem}`);
    if (await isStorageThere(config))
      await withStore(config, async (store) => {
        for (const right of await store.rights.read()) unclear.push(...findUnclearIn(right, model));
        for (const { name, team, definition } of await readWorkflows(store)) {
          try {
            checkAgainstModel(parseDefinition(JSON.parse(definition)), access, engine, { isSaved: true });
          } catch (error) {
            // The workflow editor reports all other problems.
            if (isAppError((error as Error).cause, 'AMBIGUOUS_FILTER'))
              unclear.push(`the workflow '${name}' of team '${team}': ${(error as Error).message}`);
          }
        }
      });
    if (unclear.length === 0) return undefined;
    const lines = [...new Set(unclear)].map((line) => `\n         ${line}`);
    return note(`Filters that keep their meaning, but cannot be saved again unchanged:${lines.join('')}`);
  } finally {
    await engine.close();
  }
}

/** Opening an older storage would migrate it, so this checks for pending migrations first. */
export async function isStorageThere(config: Config): Promise<boolean> {
  if (config.serverUrl !== null) return false;
  const options = { url: config.storageUrl, dataDir: config.dataDir, sqlite: config.sqlite };
  const file = locateStorage(options);
  if (file && !existsSync(file)) return false;
  const database = openDatabase(options);
  try {
    return (await findPending(database)).length === 0;
  } catch {
    return false;
  } finally {
    await database.close();
  }
}

/** The newest version of each workflow. */
async function readWorkflows({ workflows }: Store) {
  const all = await workflows.list({});
  return Promise.all(
    all.map(async ({ id, name, team, version }) => ({
      name,
      team,
      definition: (await workflows.definition(id, version)) ?? 'null',
    })),
  );
}
