// The names in a file of roles against what is served here: a collection, field or action that is not there is most often a
// slip of the pen, and a permission on it is one that nobody has. Only a warning, since it may come with the next release.
import type { EngineAgent } from '../../agent/agent.ts';
import { openEngineOver } from '../../app/data.ts';
import { type ModelNames, readModel } from '../../console/rights/model.ts';
import type { Caller } from '../../core/caller.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';
import type { CollectionPermission } from '../../store/rights-types.ts';
import type { PlacedRight } from './read.ts';

export interface Served {
  readonly database: string;
  readonly customize: ((agent: EngineAgent) => void) | undefined;
}

/** One line for each name that is not there; `file` stands before the line number. */
export async function findUnknownNames(
  rights: readonly PlacedRight[],
  { config, served, file }: { readonly config: Config; readonly served: Served; readonly file: string },
): Promise<readonly string[]> {
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const open = openEngineOver({ ...config, database: served.database }, served.customize);
  const engine = await open({ observe: () => undefined, clock: systemClock, limits });
  try {
    const lookUp = createLookUp(readModel(engine, { id: 0, timezone: 'UTC', tags: {} } as unknown as Caller));
    return rights.flatMap((right) => lookUp(right).map((text) => `${file}:${right.line}: ${text}`));
  } finally {
    await engine.close();
  }
}

function createLookUp(model: ModelNames): (right: PlacedRight) => readonly string[] {
  return ({ kind, path, value }) => {
    const collection = path[2];
    if (collection === undefined || (kind !== 'scope' && kind !== 'permission')) return [];
    // A row of * is of many collections: what is not in one may be in another.
    if (collection === '*') return [];
    if (!model.collections.includes(collection)) return [unknown('collection', collection, model.collections)];
    const findPaths = (filter: PlainFilter) => model.findUnknown(collection, filter);
    if (kind === 'scope') return findPaths(value as PlainFilter);
    const { fields = {}, actions = {} } = value as CollectionPermission;
    const known = model.fields(collection);
    const described = model.actions(collection);
    return [
      ...Object.keys(fields).flatMap((name) =>
        known.includes(name) ? [] : [`'${collection}': ${unknown('field', name, known)}`],
      ),
      ...Object.entries(actions).flatMap(([name, { trigger }]) => {
        const action = described.find((each) => each.name === name);
        const names = described.map((each) => each.name);
        if (!action) return [`'${collection}': ${unknown('action', name, names)}`];
        if (typeof trigger !== 'object') return [];
        const global = `'${collection}': '${name}' is about no chosen records, so that under a condition nobody can trigger it.`;
        return [...(action.scope === 'Global' ? [global] : []), ...findPaths(trigger.when)];
      }),
    ];
  };
}

function unknown(kind: string, name: string, known: readonly string[]): string {
  const near = nearNames(name, known, 3);
  return `there is no ${kind} '${name}'.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''}`;
}
