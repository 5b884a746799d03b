// What a write has to know from outside its transaction. A transaction waits for nothing but its own database, and code that
// it waited for could itself wait for the transaction. What turns out to be needed within is therefore thrown as Unknown: all
// is taken back, it is learnt, and the transaction begins anew with it. What is known before is asked for before.
import type { CallOptions } from './engine.ts';
import type { Collection } from './model/types.ts';
import { type Call, readOptions, rowsLimitOf, scopesOf } from './operations.ts';
import { lookupsOf, planAway } from './query/away.ts';
import { executeRead, lookUpAll } from './query/execute.ts';
import type { ScopeOf } from './query/lower.ts';
import { plannerOf, planRead } from './query/plan-read.ts';
import { conditionOf, type Target } from './query/plan-write.ts';
import type { Filter, Query } from './query/types.ts';
import type { Condition, Row } from './sources/source.ts';

/** Thrown where something is needed that has to be asked outside the transaction. */
export class Unknown extends Error {
  readonly learn: () => Promise<void>;

  constructor(learn: () => Promise<void>) {
    super('it has to be asked outside the transaction');
    this.learn = learn;
  }
}

/** Runs until all is known. */
export async function knowing<T>(run: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
      await error.learn();
    }
  }
}

/** The row scopes as conditions of their own databases: what other sources have to say is in them. Throws Unknown. */
export function knownScopes(call: Call): ScopeOf {
  const scope = scopesOf(call);
  const planner = plannerOf(scope, rowsLimitOf(call.ops));
  const known = new Map<Collection, Filter>();
  return (collection) => {
    const found = known.get(collection);
    if (found) return found;
    const where = planAway(collection, scope(collection), planner);
    const condition = { where, joins: [] };
    if (lookupsOf(condition).length > 0)
      throw new Unknown(async () => {
        const learnt = await lookUpAll(condition, readOptions(call.ops, call.options), call);
        known.set(collection, learnt.where);
      });
    known.set(collection, where);
    return where;
  };
}

/** A condition on the collection, as its database decides it. Not for use within a transaction. */
export async function decide(call: Call, collection: Collection, where: Filter): Promise<Condition> {
  const planner = plannerOf(scopesOf(call), rowsLimitOf(call.ops));
  const condition = conditionOf(planAway(collection, where, planner), planner.joins);
  return lookUpAll(condition, readOptions(call.ops, call.options), call);
}

/** The keys of the records that satisfy a condition, in order, as they are in the database. TOO_MANY_ROWS. */
export async function readKeysOf(
  call: Call,
  collection: Collection,
  { where, target, limit }: { readonly where: Filter; readonly target: Target; readonly limit: number },
  options: CallOptions,
): Promise<{ readonly keys: Row[]; readonly hasMore: boolean }> {
  const select = target.key.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const order = target.key.map((path) => ({ path, ascending: true }));
  const query: Query = { collection, select, where, order, limit, skip: 0, cursor: false };
  const plan = { ...planRead(query, scopesOf(call), rowsLimitOf(call.ops)), binary: [] };
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(call.ops, options), call);
  return { keys: rows.map((row) => plan.columns.map((slot) => row[slot])), hasMore };
}
