import type { Filter } from '../plan/types.ts';

export const always: Filter = Object.freeze({ op: 'always' });
export const never: Filter = Object.freeze({ op: 'never' });

export const and = (...of: readonly Filter[]): Filter => join('and', of);
export const or = (...of: readonly Filter[]): Filter => join('or', of);

/** Joins simplified conditions: folds `always` and `never`, flattens, and unwraps a single condition. */
export function join(op: 'and' | 'or', of: readonly Filter[]): Filter {
  const [absorbing, neutral] = op === 'and' ? (['never', 'always'] as const) : (['always', 'never'] as const);
  const kept: Filter[] = [];
  for (const filter of of) {
    if (filter.op === absorbing) return filter;
    if (filter.op === neutral) continue;
    if (filter.op === op) kept.push(...filter.of);
    else kept.push(filter);
  }
  if (kept.length === 0) return op === 'and' ? always : never;
  return kept.length === 1 ? kept[0]! : { op, of: kept };
}

export function not(of: Filter): Filter {
  if (of.op === 'always') return never;
  if (of.op === 'never') return always;
  return of.op === 'not' ? of.of : { op: 'not', of };
}
