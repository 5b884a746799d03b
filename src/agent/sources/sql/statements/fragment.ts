// Pieces of SQL with their placeholders.
import type { Bind } from './terms.ts';

/** The binds are in the order of the placeholders in the text. */
export interface Fragment {
  readonly sql: string;
  readonly binds: readonly Bind[];
}

/** Joins texts and fragments: fragment`abs(${operand})`. */
export function fragment(texts: TemplateStringsArray, ...parts: readonly (string | number | Fragment)[]): Fragment {
  let sql = texts[0]!;
  const binds: Bind[] = [];
  for (const [at, part] of parts.entries()) {
    if (typeof part === 'object') {
      sql += part.sql;
      binds.push(...part.binds);
    } else sql += part;
    sql += texts[at + 1]!;
  }
  return { sql, binds };
}

export const plain = (sql: string): Fragment => ({ sql, binds: [] });

/** A number that is part of the SQL. Throws for others. */
export function requireWhole(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`not a whole number: ${value}`);
  return value;
}
