// Loads data that a write needs from outside its transaction: from other sources and from code. A transaction waits
// only for its own database, because code could itself wait for the transaction. A missing value is therefore thrown
// as Unknown: the transaction rolls back, the value is loaded, and the transaction starts again with it. Code gets
// records in the state after the write. It is not called again while that state is unchanged.
import { fail } from '../../core/errors.ts';
import { evaluateRows, evaluateRowsSync, executeRead, resolveLookups } from '../execute/read.ts';
import { always, and, never } from '../lower/simplify.ts';
import type { Collection } from '../model/types.ts';
import { type Call, readOptions, rowsLimitOf, scopesOf } from '../operations/call.ts';
import { collectLookups, planCrossSource } from '../plan/cross-source.ts';
import { createPlanner, planRead } from '../plan/read.ts';
import { splitFilter } from '../plan/residual.ts';
import type { Condition, Filter, Path, Query } from '../plan/types.ts';
import { type Match, type Prefetched, type Residual, toCondition } from '../plan/write.ts';
import type { CallOptions } from '../requests.ts';
import type { Row } from '../sources/statement.ts';

/** How often a write may miss values; each nested record may need some. */
const MAX_ATTEMPTS = 40;

/** Thrown if a value must be loaded outside the transaction. */
class PrefetchNeeded extends Error {
  readonly load: () => Promise<void>;

  constructor(learn: () => Promise<void>) {
    super('it must be read outside the transaction');
    this.load = learn;
  }
}

/** Repeats `run` until it has all values. Throws CONFIGURATION after too many tries. */
export async function withPrefetch<T>(run: () => T | Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof PrefetchNeeded)) throw error;
      await error.load();
    }
  }
  return fail('CONFIGURATION', {
    problem:
      'A row scope here depends on code over values that the database generates again on each try, so writes are not possible under it. An administrator must define it with other fields.',
  });
}

/** Stores the loaded values. Scopes become conditions of their own databases, as far as these can evaluate them. */
export function createPrefetched(call: Call): Prefetched {
  const scopes = new Map<Collection, Filter>();
  const residuals = new Map<Collection, Residual>();
  const verdicts = new Map<Residual, Map<string, boolean>>();
  const options = readOptions(call.ops, call.options);

  const scope = (collection: Collection): Filter => {
    const known = scopes.get(collection);
    if (known) return known;
    const where = planCrossSource(
      collection,
      scopesOf(call)(collection),
      createPlanner(scopesOf(call), rowsLimitOf(call.ops)),
    );
    const condition = { where, joins: [] };
    if (collectLookups(condition).length > 0)
      throw new PrefetchNeeded(async () => {
        scopes.set(collection, (await resolveLookups(condition, options, call)).where);
      });
    scopes.set(collection, where);
    return where;
  };

  const residualOf = (collection: Collection, where: Filter): Residual => {
    const known = residuals.get(collection);
    if (known) return known;
    const rest = planResidual(call, collection, where);
    if (conditionsOf(rest).some((each) => collectLookups(each).length > 0))
      throw new PrefetchNeeded(async () => {
        residuals.set(collection, await resolveResidual(call, rest));
      });
    residuals.set(collection, rest);
    return rest;
  };

  return {
    scope,
    withScope(collection, where) {
      const { native, residual: rest } = splitFilter(scope(collection));
      const condition = toCondition(and(where, native), scope);
      return rest.op === 'always' ? condition : { ...condition, residual: residualOf(collection, rest) };
    },
    evaluate(rest, rows) {
      const immediate = evaluateRowsSync(rest.plan, rows);
      if (immediate) return immediate;
      const known = verdicts.get(rest) ?? new Map<string, boolean>();
      verdicts.set(rest, known);
      const marks = rows.map((row) => JSON.stringify(row));
      if (!marks.every((mark) => known.has(mark)))
        throw new PrefetchNeeded(async () => {
          const decided = await evaluateRows(rest.plan, rows, options, call);
          for (const [at, mark] of marks.entries()) known.set(mark, decided[at]!);
        });
      return marks.map((mark) => known.get(mark)!);
    },
  };
}

/**
 * A condition on the collection, evaluated by its own database as far as possible. Not for use within a transaction.
 */
export async function resolveCondition(call: Call, collection: Collection, filter: Filter): Promise<Match> {
  const planner = createPlanner(scopesOf(call), rowsLimitOf(call.ops));
  const { native, residual: rest } = splitFilter(planCrossSource(collection, filter, planner));
  const options = readOptions(call.ops, call.options);
  const condition = await resolveLookups({ where: native, joins: planner.joins(native) }, options, call);
  if (rest.op === 'always') return condition;
  return { ...condition, residual: await resolveResidual(call, planResidual(call, collection, rest)) };
}

function planResidual(call: Call, collection: Collection, where: Filter): Residual {
  const query: Query = { collection, select: [], where, order: [], limit: null, skip: 0, cursor: false };
  const plan = planRead(query, scopesOf(call), rowsLimitOf(call.ops));
  const selects = plan.steps.flatMap((step) => (step.kind === 'ask' ? [step.plan.select ?? noRecords] : []));
  return { where, plan, columns: plan.select?.columns ?? [], joins: plan.select?.joins ?? [], subqueries: selects };
}

const noRecords: Condition = Object.freeze({ joins: Object.freeze([]), where: never });

/** The conditions of a rest that may need lookups. */
const conditionsOf = ({ joins, subqueries }: Residual): readonly Condition[] => [
  { where: always, joins },
  ...subqueries,
];

async function resolveResidual(call: Call, rest: Residual): Promise<Residual> {
  const options = readOptions(call.ops, call.options);
  const conditions = await Promise.all(conditionsOf(rest).map((each) => resolveLookups(each, options, call)));
  const [{ joins }, ...subqueries] = conditions as [Condition, ...Condition[]];
  return { ...rest, joins, subqueries };
}

interface RecordQuery {
  readonly where: Filter;
  readonly columns: readonly Path[];
  readonly order?: readonly Path[];
  readonly limit: number | null;
}

/** The records that satisfy a condition, as stored. Throws TOO_MANY_ROWS. */
export async function readWhere(
  call: Call,
  collection: Collection,
  { where, columns, order = [], limit }: RecordQuery,
  options: CallOptions = call.options,
): Promise<{ readonly rows: Row[]; readonly hasMore: boolean }> {
  const select = columns.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const sorts = order.map((path) => ({ path, ascending: true }));
  const query: Query = { collection, select, where, order: sorts, limit, skip: 0, cursor: false };
  const plan = { ...planRead(query, scopesOf(call), rowsLimitOf(call.ops)), binary: [] };
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(call.ops, options), call);
  return { rows: rows.map((row) => plan.columns.map((slot) => row[slot])), hasMore };
}
