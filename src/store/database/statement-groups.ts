// Writes of concurrent callers in one transaction. On MySQL and MariaDB, whose drivers wait for each response before
// they send the next statement, statements that differ only in their values run as one.
import type { DirectStatement, Execute } from './direct.ts';
import { repeatEach } from './group-calls.ts';

export interface Statement {
  /** With `?` for each value. Every distinct text is cached, so use few. */
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
  /**
   * May run as one with others of the same text. `rows`: an insert that ends with its rows. `by`: an update of the row
   * with this key, which is the first condition. A value is not in a subquery.
   */
  readonly merge?: 'rows' | { readonly by: string };
}

export interface Work {
  readonly statements: readonly Statement[];
  /** If the first statement changes no row, the others do not run. */
  readonly needsFirst: boolean;
}

/** The number of rows that each statement of a work changed. */
export type Changes = readonly number[];
/** Returns the number of changed rows. */
export type Change = (statement: Statement) => Promise<number>;

export async function runEach(change: Change, { statements, needsFirst }: Work): Promise<Changes> {
  const changes: number[] = [];
  for (const one of statements) {
    changes.push(await change(one));
    if (needsFirst && changes[0] === 0) break;
  }
  return changes;
}

/** Within a transaction if there is more than one statement. Returns the changes of each work. */
export async function runWorks(execute: Execute, works: readonly Work[], mayMerge: boolean): Promise<Changes[]> {
  // In the text protocol, as knex sends them: mysql2 sends each number of a prepared statement as a double.
  const change: Change = async ({ sql, values }) => (await execute({ sql, values, isOnce: true })).changed;
  const similar = new Map<string, Work[]>();
  for (const work of works) {
    const text = work.statements.map(({ sql }) => sql).join(';');
    similar.set(text, [...(similar.get(text) ?? []), work]);
  }
  const changes = new Map<Work, Changes>();
  for (const group of similar.values()) {
    const merged = mayMerge ? mergeWorks(group) : undefined;
    if (merged) await runMerged(execute, merged);
    for (const work of group) changes.set(work, merged ? work.statements.map(() => 1) : await runEach(change, work));
  }
  return works.map((work) => changes.get(work)!);
}

interface Merged {
  readonly statement: DirectStatement;
  /** The rows to change: one for each single statement. Undefined if any number is right. */
  readonly rows: number | undefined;
}

/** Which rows were missed is not known, so the transaction is repeated with single statements. */
async function runMerged(execute: Execute, merged: readonly Merged[]): Promise<void> {
  for (const { statement, rows } of merged) {
    const { changed } = await execute(statement);
    if (rows !== undefined && changed !== rows) throw repeatEach;
  }
}

/** Undefined if there is nothing to merge. The texts of the works are the same. */
function mergeWorks(works: readonly Work[]): readonly Merged[] | undefined {
  const [{ statements, needsFirst }] = works as readonly [Work];
  const lists = needsFirst
    ? statements.map((_, at) => works.map((work) => work.statements[at]!))
    : [works.flatMap((work) => work.statements)];
  if (lists[0]!.length < 2) return undefined;
  const merged = lists.map(mergeStatements);
  return merged.every((one) => one !== undefined)
    ? merged.map((statement, at) => ({ statement, rows: at === 0 ? lists[0]!.length : undefined }))
    : undefined;
}

function mergeStatements(statements: readonly Statement[]): DirectStatement | undefined {
  const [{ sql, merge }] = statements as readonly [Statement];
  if (merge === undefined || statements.some((each) => each.sql !== sql)) return undefined;
  if (statements.reduce((total, each) => total + charactersOf(each), 0) > MAX_CHARACTERS) return undefined;
  return merge === 'rows' ? mergeInserts(sql, statements) : mergeUpdates(sql, merge.by, statements);
}

/** A quarter of the smallest packet that servers accept by default, because a character may take four bytes. */
const MAX_CHARACTERS = 250_000;

const charactersOf = ({ values }: Statement): number =>
  values.reduce<number>((total, value) => total + String(value).length, 0);

const VALUES = ' VALUES ';

function mergeInserts(sql: string, statements: readonly Statement[]): DirectStatement {
  const rows = `, ${sql.slice(sql.indexOf(VALUES) + VALUES.length)}`;
  const values = statements.flatMap((each) => each.values);
  return { sql: sql + rows.repeat(statements.length - 1), values, isOnce: true };
}

/** Each value that differs is chosen by the key of the row. */
function mergeUpdates(sql: string, by: string, statements: readonly Statement[]): DirectStatement | undefined {
  const texts = sql.split('?');
  const keyAt = texts.findIndex((text) => text.endsWith(`WHERE ${by} = `));
  const columns = texts.slice(1).map((_, at) => statements.map(({ values }) => values[at] ?? null));
  const keys = columns[keyAt]!;
  if (new Set(keys).size < keys.length) return undefined;
  const values: unknown[] = [];
  const parts = columns.map((all, at) => {
    const isSame = all.every((value) => value === all[0]);
    if (at === keyAt) values.push(keys);
    else if (isSame) values.push(all[0]);
    else values.push(keys, all);
    if (at === keyAt) return `${texts[at]!.slice(0, -'= '.length)}IN (?)`;
    return `${texts[at]}${isSame ? '?' : `ELT(FIELD(${by}, ?), ?)`}`;
  });
  return { sql: parts.join('') + texts.at(-1), values, isOnce: true };
}
