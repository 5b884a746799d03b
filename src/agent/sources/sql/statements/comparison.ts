// The SQL of comparisons of two values of a row.
import { fail } from '../../../../core/errors.ts';
import { comparedPaths } from '../../aggregate/expression.ts';
import type { Comparison, Expression } from '../../statement.ts';
import type { Codec } from '../codec.ts';
import { writeDifference } from './difference.ts';
import { writeExact } from './exact.ts';
import { alignNumbers, type ExpressionContext, isNumber, writeDates, writeValue } from './expression.ts';
import { type Fragment, fragment, plain } from './fragment.ts';

const signs = { Equal: '=', LessThan: '<', LessThanOrEqual: '<=' } as const;

/** Unknown if a side is null. */
export function writeComparison({ is, left, right }: Comparison, context: ExpressionContext): Fragment {
  const compared = (a: Fragment, b: Fragment) => fragment`${a} ${signs[is]} ${b}`;
  if (isNumber(left)) {
    const numbers = [writeExact(left, context), writeExact(right, context)] as const;
    return compared(...alignNumbers(...numbers, context));
  }
  if (left.op !== 'field' || right.op !== 'field') {
    const [first, ...others] = comparedPaths({ left, right }).map(context.codecOf);
    if (others.some((codec) => !isOneForm(first!, codec)))
      fail('INVALID_ARGUMENT', {
        argument: 'filter',
        problem:
          'the database keeps these dates in different forms, so coalesce cannot combine them. Compare two fields.',
      });
    const written = writeValue(left, context);
    return compared(written, writeValue(right, context, written.codec));
  }
  const codecs = [context.codecOf(left.path), context.codecOf(right.path)] as const;
  if (!isOneForm(...codecs)) {
    // The two columns hold dates in different forms or timezones.
    const between = { op: 'difference', unit: 'minute', of: [left, right] } as const;
    const elapsed = writeDifference(between, writeDates(between, context), context.dialect);
    return fragment`0 ${signs[is]} ${elapsed}`;
  }
  return compared(writeColumn(left, is, context), writeColumn(right, is, context));
}

const isOneForm = (a: Codec, b: Codec): boolean =>
  a.type !== 'Date' || (a.zoned?.offsets.zone === b.zoned?.offsets.zone && a.form === b.form);

function writeColumn(
  { path }: Extract<Expression, { op: 'field' }>,
  is: Comparison['is'],
  { dialect, column, codecOf }: ExpressionContext,
): Fragment {
  const codec = codecOf(path);
  const sql = column(path);
  // Enums of different types are compared as texts.
  if (codec.type === 'Enum' && dialect === 'postgres') return plain(`${sql}::text`);
  if (codec.type === 'Enum' && dialect === 'mysql') return plain(`cast(${sql} as char) collate utf8mb4_bin`);
  const same = is === 'Equal' ? codec.equal?.(sql, '') : codec.ordered?.(sql, '');
  return plain(codec.grouped?.(sql) ?? same ?? sql);
}
