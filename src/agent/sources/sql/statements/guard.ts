// The order of conditions. Databases evaluate the parts of AND in any order, also before joins, and a comparison can
// fail: a product is out of range, a date has no difference. For a row that another part excludes, such as a row beyond
// the row scope, the error would reveal the value. CASE evaluates its result only if its condition holds.
import type { Filter } from '../../statement.ts';
import type { Dialect } from '../codec.ts';
import { type Fragment, fragment } from './fragment.ts';

interface Part extends Fragment {
  readonly mayFail: boolean;
}

/** Whether a value of the row can make the database fail. Subqueries guard their own conditions. */
export function mayFail(filter: Filter): boolean {
  switch (filter.op) {
    case 'compare':
      return true;
    case 'not':
      return mayFail(filter.of);
    case 'and':
    case 'or':
      return filter.of.some(mayFail);
    default:
      return false;
  }
}

/** All parts must hold. Those that may fail come after all others, and in their order: row scopes come first. */
export function writeAll(parts: readonly Part[]): Fragment {
  const failing = parts.filter((part) => part.mayFail);
  const safe = parts.filter((part) => !part.mayFail);
  if (parts.length === 1 || failing.length === 0) return joinAll(parts);
  const last = failing.reduceRight<Fragment | undefined>(
    (rest, part) => (rest ? guarded([part], rest) : part),
    undefined,
  )!;
  return safe.length > 0 ? fragment`(${joinAll(safe)} and ${guarded(safe, last)})` : last;
}

/** Null if a condition does not hold. */
export function guarded(conditions: readonly Fragment[], of: Fragment): Fragment {
  return conditions.length > 0 ? fragment`${GUARD}case when ${joinAll(conditions)} then ${of} end` : of;
}

const GUARD = '\uE001';

/**
 * SQLite replaces a column that equals a constant by this constant, also in guards. A guard with constants only is
 * evaluated before the join that it is about. A subquery is no constant, and an index still finds its value.
 */
export function keepGuards(text: string, dialect: Dialect): string {
  if (!text.includes(GUARD)) return text;
  const plain = text.replaceAll(GUARD, '');
  return dialect === 'sqlite' ? plain.replaceAll(/ = (\?|cast\(\? as \w+\))/g, ' = (select $1)') : plain;
}

function joinAll([first, ...others]: readonly Fragment[]): Fragment {
  const all = others.reduce((one, other) => fragment`${one} and ${other}`, first!);
  return others.length > 0 ? fragment`(${all})` : all;
}
