/** A question in the words of a business user, and the first call of a model that has read only tools/list. */
export interface Guess {
  readonly question: string;
  readonly tool: 'aggregate' | 'list';
  readonly args: Record<string, unknown>;
  /** SQL of SQLite for the meaning of the call. A result may have more columns. */
  readonly rows: string;
  /** Compares the order of the rows too. */
  readonly ordered?: boolean;
}

type Args = Record<string, unknown>;

export const figures = (question: string, args: Args, rows: string): Guess => ({
  question,
  tool: 'aggregate',
  args,
  rows,
});
export const records = (question: string, args: Args, rows: string): Guess => ({ question, tool: 'list', args, rows });
export const ranked = (guess: Guess): Guess => ({ ...guess, ordered: true });

/** The demo shop ends on the day of its creation. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
/** A year that is at least a month old. */
export const thisYear = `${daysAgo(31).slice(0, 4)}-01-01`;

/** The first day of the month or the quarter, in SQL. */
export const monthOf = (column: string): string => `strftime('%Y-%m-01', ${column})`;
export const quarterOf = (column: string): string =>
  `strftime('%Y-', ${column}) || substr('01040710', (CAST(strftime('%m', ${column}) AS INTEGER) - 1) / 3 * 2 + 1, 2) || '-01'`;

/** The interpolated percentile of a column of orders in each group, in SQL. */
export const percentileOf = (group: string, column: string, part: number, name: string): string =>
  `SELECT ${group}, sum(v * max(0, 1 - abs(place - ${part} * (n - 1)))) AS ${name} FROM (SELECT ${group}, ${column} AS v,
   row_number() OVER (PARTITION BY ${group} ORDER BY ${column}) - 1 AS place, count(*) OVER (PARTITION BY ${group}) AS n
   FROM orders) GROUP BY 1`;
