// The third result: what the database returns for SQL written independently of the engine.
import { expect } from 'vitest';
import type { Dialect } from '../../databases.ts';
import { type Filter, isGroup, isLeaf } from './filters.ts';
import { findParent, type Meaning, type Question } from './interpreter.ts';
import { createRandom } from './random.ts';
import { NotInSql, writeSql } from './sql.ts';
import { canonical, type DirectConnection } from './sql-values.ts';

export interface Direct {
  readonly dialect: Dialect;
  readonly connection: DirectConnection;
}

/** How many questions were asked, and how many of them had three results. */
export interface Tally {
  asked: number;
  refused: number;
  threeWay: number;
  quantified: number;
  outside: Record<string, number>;
}

export const createTally = (): Tally => ({ asked: 0, refused: 0, threeWay: 0, quantified: 0, outside: {} });

export function addTally(total: Tally, { asked, refused, threeWay, quantified, outside }: Tally): void {
  total.asked += asked;
  total.refused += refused;
  total.threeWay += threeWay;
  total.quantified += quantified;
  for (const [why, count] of Object.entries(outside)) total.outside[why] = (total.outside[why] ?? 0) + count;
}

export function showTally({ asked, refused, threeWay, quantified, outside }: Tally): string {
  const part = (count: number) => `${Math.round((100 * count) / Math.max(1, asked))} %`;
  const why = Object.entries(outside).map(([reason, count]) => `${count} ${reason}`);
  return `${asked} questions: ${threeWay} three-way (${part(threeWay)}), ${quantified} with a quantifier (${part(quantified)}), ${refused} refused; not in SQL: ${why.join(', ') || 'none'}`;
}

export function hasQuantifier(filter: Filter | undefined): boolean {
  if (!filter || isLeaf(filter)) return false;
  return isGroup(filter) ? filter.conditions.some(hasQuantifier) : true;
}

/** Compares with plain SQL. Returns why SQL cannot express the question, and throws if results differ. */
export async function compareWithSql(
  { dialect, connection }: Direct,
  meaning: Meaning,
  question: Question,
  page: { readonly limit: number; readonly skip: number },
  expected: readonly unknown[][],
  turn: number,
  told: string,
): Promise<string | undefined> {
  const { world, scopes, zone } = meaning;
  try {
    const statements = writeSql({ world, dialect, scopes, zone, random: createRandom(turn) }, question, page);
    const shown = expected.slice(page.skip, page.skip + page.limit);
    const said = `SQL, ${told}\n${statements.rows}`;
    const ask = (sql: string) =>
      connection.all(sql).catch((cause: unknown) => Promise.reject(new Error(`${said}: ${cause}`, { cause })));
    if (question.within) {
      const [[parents] = []] = await ask(statements.parent!);
      expect(Number(parents), said).toBe(findParent(meaning, question.within) ? 1 : 0);
    }
    const rows = await ask(statements.rows);
    const [[count] = []] = await ask(statements.count);
    const plain = (list: readonly (readonly unknown[])[]) =>
      list.map((row) => row.map((value, at) => canonical(statements.kinds[at]!, value)));
    expect({ rows: plain(rows), count: Number(count) }, said).toEqual({ rows: plain(shown), count: expected.length });
    return undefined;
  } catch (cause) {
    if (cause instanceof NotInSql) return cause.message;
    throw cause;
  }
}
