// Loads data that a write needs from outside its transaction: from other sources and from code. A transaction waits
// only for its own database, because code could itself wait for the transaction. A missing value is therefore thrown
// as Unknown: the transaction rolls back, the value is loaded, and the transaction starts again with it. Code gets
// records in the state after the write. It is not called again while that state is unchanged.
import { fail } from '../../core/errors.ts';
import { decideAtOnce, decideRows, executeRead, lookUpAll } from '../execute/read.ts';
import { always, and, never } from '../lower/simplify.ts';
import type { Collection } from '../model/types.ts';
import { type Call, readOptions, rowsLimitOf, scopesOf } from '../operations/call.ts';
import { lookupsOf, planAway } from '../plan/cross-source.ts';
import { plannerOf, planRead } from '../plan/read.ts';
import { splitFilter } from '../plan/residual.ts';
import type { Condition, Filter, Path, Query } from '../plan/types.ts';
import { type Known, knownCondition, type Meant, type Rest } from '../plan/write.ts';
import type { CallOptions } from '../requests.ts';
import type { Row } from '../sources/statement.ts';

/** How often a write may miss values; each nested record may need some. */
const TRIES = 40;

/** Thrown if a value must be loaded outside the transaction. */
class Unknown extends Error {
  readonly learn: () => Promise<void>;

  constructor(learn: () => Promise<void>) {
    super('it has to be asked outside the transaction');
    this.learn = learn;
  }
}

/** Repeats `run` until it has all values. Throws CONFIGURATION after too many tries. */
export async function knowing<T>(run: () => T | Promise<T>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
      await error.learn();
    }
  }
  return fail('CONFIGURATION', {
    problem:
      'A row scope here is decided by code over what the database fills in anew at every try, so that nothing can be written under it; an administrator has to say it with other fields.',
  });
}

/** Stores the loaded values. Scopes become conditions of their own databases, as far as these can evaluate them. */
export function createKnown(call: Call): Known {
  const scopes = new Map<Collection, Filter>();
  const rests = new Map<Collection, Rest>();
  const verdicts = new Map<Rest, Map<string, boolean>>();
  const options = readOptions(call.ops, call.options);

  const scope = (collection: Collection): Filter => {
    const known = scopes.get(collection);
    if (known) return known;
    const where = planAway(collection, scopesOf(call)(collection), plannerOf(scopesOf(call), rowsLimitOf(call.ops)));
    const condition = { where, joins: [] };
    if (lookupsOf(condition).length > 0)
      throw new Unknown(async () => {
        scopes.set(collection, (await lookUpAll(condition, options, call)).where);
      });
    scopes.set(collection, where);
    return where;
  };

  const restOf = (collection: Collection, where: Filter): Rest => {
    const known = rests.get(collection);
    if (known) return known;
    const rest = planRest(call, collection, where);
    if (needsOf(rest).some((each) => lookupsOf(each).length > 0))
      throw new Unknown(async () => {
        rests.set(collection, await settleRest(call, rest));
      });
    rests.set(collection, rest);
    return rest;
  };

  return {
    scope,
    within(collection, where) {
      const { native, rest } = splitFilter(scope(collection));
      const condition = knownCondition(and(where, native), scope);
      return rest.op === 'always' ? condition : { ...condition, rest: restOf(collection, rest) };
    },
    judge(rest, rows) {
      const told = decideAtOnce(rest.plan, rows);
      if (told) return told;
      const known = verdicts.get(rest) ?? new Map<string, boolean>();
      verdicts.set(rest, known);
      const marks = rows.map((row) => JSON.stringify(row));
      if (!marks.every((mark) => known.has(mark)))
        throw new Unknown(async () => {
          const decided = await decideRows(rest.plan, rows, options, call);
          for (const [at, mark] of marks.entries()) known.set(mark, decided[at]!);
        });
      return marks.map((mark) => known.get(mark)!);
    },
  };
}

/**
 * A condition on the collection, evaluated by its own database as far as possible. Not for use within a transaction.
 */
export async function decide(call: Call, collection: Collection, asked: Filter): Promise<Meant> {
  const planner = plannerOf(scopesOf(call), rowsLimitOf(call.ops));
  const { native, rest } = splitFilter(planAway(collection, asked, planner));
  const options = readOptions(call.ops, call.options);
  const condition = await lookUpAll({ where: native, joins: planner.joins(native) }, options, call);
  if (rest.op === 'always') return condition;
  return { ...condition, rest: await settleRest(call, planRest(call, collection, rest)) };
}

function planRest(call: Call, collection: Collection, where: Filter): Rest {
  const query: Query = { collection, select: [], where, order: [], limit: null, skip: 0, cursor: false };
  const plan = planRead(query, scopesOf(call), rowsLimitOf(call.ops));
  const asked = plan.steps.flatMap((step) => (step.kind === 'ask' ? [step.plan.select ?? nothing] : []));
  return { where, plan, columns: plan.select?.columns ?? [], joins: plan.select?.joins ?? [], asked };
}

const nothing: Condition = Object.freeze({ joins: Object.freeze([]), where: never });

/** The conditions of a rest that may need lookups. */
const needsOf = ({ joins, asked }: Rest): readonly Condition[] => [{ where: always, joins }, ...asked];

async function settleRest(call: Call, rest: Rest): Promise<Rest> {
  const options = readOptions(call.ops, call.options);
  const conditions = await Promise.all(needsOf(rest).map((each) => lookUpAll(each, options, call)));
  const [{ joins }, ...asked] = conditions as [Condition, ...Condition[]];
  return { ...rest, joins, asked };
}

interface Wanted {
  readonly where: Filter;
  readonly columns: readonly Path[];
  readonly order?: readonly Path[];
  readonly limit: number | null;
}

/** The records that satisfy a condition, as stored. Throws TOO_MANY_ROWS. */
export async function readWhere(
  call: Call,
  collection: Collection,
  { where, columns, order = [], limit }: Wanted,
  options: CallOptions = call.options,
): Promise<{ readonly rows: Row[]; readonly hasMore: boolean }> {
  const select = columns.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const sorts = order.map((path) => ({ path, ascending: true }));
  const query: Query = { collection, select, where, order: sorts, limit, skip: 0, cursor: false };
  const plan = { ...planRead(query, scopesOf(call), rowsLimitOf(call.ops)), binary: [] };
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(call.ops, options), call);
  return { rows: rows.map((row) => plan.columns.map((slot) => row[slot])), hasMore };
}
