// Compares the reported changes of a call with the database before and after it. Only the database and the report are
// read, and rows are compared as plain SQL returns them.
import type { TestDatabase } from '../../databases.ts';
import { askSql } from '../../sql/schemas.ts';
import type { Table } from './tables.ts';

type Row = Readonly<Record<string, unknown>>;
export type Snapshot = ReadonlyMap<string, readonly Row[]>;

export async function takeSnapshot(database: TestDatabase, tables: readonly Table[]): Promise<Snapshot> {
  const found = new Map<string, readonly Row[]>();
  for (const { name } of tables) found.set(name, await askSql(database, `SELECT * FROM ${name}`));
  return found;
}

export interface Change {
  readonly id: string | null;
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
}

/** The reported changes to the records of one collection. */
export interface Claim {
  readonly collection: string | null;
  readonly change: 'created' | 'updated' | 'deleted';
  readonly cause: string;
  readonly count: number;
  readonly ids?: readonly string[];
  readonly changes?: readonly Change[];
}

/** The differences between the report and the database. Empty if the report is complete and exact. */
export function findDifferences(
  tables: readonly Table[],
  before: Snapshot,
  after: Snapshot,
  claims: readonly Claim[],
): string[] {
  const wrong: string[] = [];
  for (const claim of claims) {
    if (claim.collection === null) wrong.push('a collection that may be seen has no name');
    else if (!tables.some(({ name }) => name === claim.collection)) wrong.push(`there is no ${claim.collection}`);
  }
  for (const table of tables) {
    const own = claims.filter(({ collection }) => collection === table.name);
    const [was, is] = [before.get(table.name)!, after.get(table.name)!];
    const problems = table.key.length ? compareKeyed(table, was, is, own) : compareBags(was, is, own);
    wrong.push(...problems.map((problem) => `${table.name}: ${problem}`));
  }
  return wrong;
}

const countOf = (claims: readonly Claim[], change: Claim['change']): number =>
  claims.reduce((sum, claim) => (claim.change === change ? sum + claim.count : sum), 0);

const textOf = (row: Row): string => JSON.stringify(Object.entries(row).map(([name, value]) => [name, value]));

/** Without a key, a changed row looks like a deleted row and a new row. */
function compareBags(was: readonly Row[], is: readonly Row[], claims: readonly Claim[]): string[] {
  const left = is.map(textOf);
  let gone = 0;
  for (const row of was) {
    const at = left.indexOf(textOf(row));
    if (at < 0) gone++;
    else left.splice(at, 1);
  }
  const updated = countOf(claims, 'updated');
  const [made, lost] = [countOf(claims, 'created') + updated, countOf(claims, 'deleted') + updated];
  return made === left.length && lost === gone
    ? []
    : [`${left.length} rows are new and ${gone} gone; ${made} and ${lost} were said`];
}

function compareKeyed({ key }: Table, was: readonly Row[], is: readonly Row[], claims: readonly Claim[]): string[] {
  const wrong: string[] = [];
  const idOf = (row: Row) => key.map((column) => String(row[column])).join('|');
  const [old, now] = [new Map(was.map((row) => [idOf(row), row])), new Map(is.map((row) => [idOf(row), row]))];
  const made = [...now.keys()].filter((id) => !old.has(id));
  const gone = [...old.keys()].filter((id) => !now.has(id));
  const kept = [...now.keys()].filter((id) => old.has(id) && textOf(old.get(id)!) !== textOf(now.get(id)!));

  // A record with a changed key counts as deleted under the old key and created under the new one.
  const moves = Math.max(0, made.length - countOf(claims, 'created'));
  if (countOf(claims, 'created') + moves !== made.length || countOf(claims, 'created') > made.length)
    wrong.push(`${made.length} were created; ${countOf(claims, 'created')} was said`);
  if (countOf(claims, 'deleted') + moves !== gone.length)
    wrong.push(`${gone.length - moves} were deleted; ${countOf(claims, 'deleted')} was said`);
  const updated = countOf(claims, 'updated');
  // A call may name records that it does not change.
  const named = claims.filter(({ change, cause }) => change === 'updated' && cause !== 'cascade');
  const idle = named.reduce((sum, { count }) => sum + count, 0);
  const changed = kept.length + moves;
  if (changed > updated || changed < updated - idle) wrong.push(`${changed} were changed; ${updated} was said`);

  const said = (change: Claim['change']) => {
    const own = claims.filter((claim) => claim.change === change);
    return own.every(({ ids }) => ids) ? own.flatMap(({ ids }) => ids!) : undefined;
  };
  const same = (what: string, ids: readonly string[] | undefined, truth: readonly string[]) => {
    if (!ids || moves > 0) return;
    if (JSON.stringify([...ids].sort()) !== JSON.stringify([...truth].sort()))
      wrong.push(`${what}: ${ids.join(' ')} was said, not ${truth.join(' ')}`);
  };
  same('created', said('created'), made);
  same('deleted', said('deleted'), gone);
  const updatedIds = said('updated');
  if (updatedIds)
    for (const id of kept) if (!updatedIds.includes(id)) wrong.push(`${id} was changed, which was not said`);

  for (const { change, changes = [], count } of claims) {
    if (changes.length > count) wrong.push(`${changes.length} changes of ${count} records`);
    for (const each of changes) {
      if (each.id === null || change === 'created') continue;
      const [first, last] = [old.get(each.id), now.get(each.id)];
      if (change === 'deleted' && !first) wrong.push(`${each.id} was not there`);
      if (change !== 'updated' || !first || !last || moves > 0) continue;
      for (const name of Object.keys(last)) {
        const field = each.fields[name];
        if (!field && first[name] !== last[name]) wrong.push(`${each.id}: ${name} changed, which was not said`);
        if (field && (field.before !== first[name] || field.after !== last[name]))
          wrong.push(`${each.id}: ${name} ${JSON.stringify(field)} was said, not ${first[name]} -> ${last[name]}`);
      }
    }
  }
  return wrong;
}
