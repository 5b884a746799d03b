// A table of rows as the text of an answer, cut between rows if it exceeds the budget.
import { estimateTokens, fitsTokens } from './tokens.ts';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Absent if the table is always complete. */
  readonly hasMore?: boolean;
}

/**
 * `{columns, rows, hasMore?, note?}`. `of`: the unit of the rows. `advice`: a sentence how to make the answer smaller.
 */
export function tableText(
  table: Table,
  budgetTokens: number,
  { of, advice }: { readonly of: string; readonly advice: string },
): string {
  const { columns, rows } = table;
  const whole = JSON.stringify(table);
  if (fitsTokens(whole, budgetTokens)) return whole;
  const cut = (count: number) =>
    JSON.stringify({
      columns,
      rows: rows.slice(0, count),
      hasMore: true,
      note: `Cut at ${count} of ${rows.length} ${of}: an answer is limited to about ${budgetTokens} tokens. ${advice}`,
    });
  let left = budgetTokens - estimateTokens(cut(0)) - 20;
  let count = 0;
  for (const row of rows) {
    left -= estimateTokens(JSON.stringify(row)) + 1;
    if (left < 0) break;
    count++;
  }
  return cut(count);
}
