// Rows of an answer before they are ordered: groups with their records.
import type { Filter } from '../oracle/filters.ts';
import type { Habits } from '../oracle/values.ts';
import type { Kind } from '../oracle/world.ts';
import type { Exact } from './exact.ts';
import { measure, type Value } from './measures.ts';
import type { Aggregate, ColumnKind, Expression } from './question.ts';

export interface Answer {
  readonly kinds: readonly ColumnKind[];
  /** Every row, in order, before pages. */
  readonly rows: readonly (readonly Value[])[];
  /** How many records the filter selects. */
  readonly records: number;
}

/** A record in one of its groups. */
export interface Item {
  readonly groups: readonly Value[];
  kind(expression: Expression): Kind;
  value(expression: Expression): Value;
  passes(filter: Filter): boolean;
}

/** The rows of one level: groups and their plain measures. */
export interface Level {
  readonly question: Aggregate;
  readonly groupKinds: readonly ColumnKind[];
  readonly measureKinds: readonly Kind[];
  readonly measureScales: readonly number[];
  readonly rows: readonly { readonly groups: readonly Value[]; readonly items: readonly Item[] }[];
}

/** Equal for values that are one group. */
export function markOf({ ignoresCase }: Habits, kinds: readonly ColumnKind[], values: readonly Value[]): string {
  return JSON.stringify(
    values.map((value, at) => {
      if (value === null) return null;
      if (typeof value === 'object') return showExact(value as Exact);
      return kinds[at] === 'label' && ignoresCase ? String(value).toLowerCase() : String(value);
    }),
  );
}

const showExact = ({ units, scale }: Exact): string => {
  let [rest, left] = [units, scale];
  for (; left > 0 && rest % 10n === 0n; left--) rest /= 10n;
  return `${rest}e-${left}`;
};

/** The plain measures of a group. */
export function measuresOf(habits: Habits, { question, measureKinds }: Level, items: readonly Item[]): Value[] {
  return Object.values(question.measures).map((each, at) =>
    measure(habits, each, measureKinds[at]!, each.where ? items.filter((item) => item.passes(each.where!)) : items),
  );
}
