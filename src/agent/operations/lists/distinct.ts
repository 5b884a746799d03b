// Lists of distinct values.
import { fail } from '../../../core/errors.ts';
import { fingerprint, readGroupCursor, writeGroupCursor } from '../../encode/cursor.ts';
import type { RequestedField } from '../../plan/types.ts';
import type { ListAnswer, ListRequest } from '../../requests.ts';
import { resolveDistinct } from '../../resolve/distinct.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { type Call, checkLimit, checkSkip, type Restriction } from '../call.ts';
import { readGroups } from '../groups.ts';
import { hasHooks } from '../hooks.ts';

type ListConditions = Omit<ListRequest, 'collection'>;

/** A list of distinct values is an aggregate without measures. */
export async function listDistinct(
  call: Call,
  view: CollectionView,
  request: ListConditions,
  select: readonly RequestedField[],
  within: Restriction,
): Promise<ListAnswer> {
  const { groups, resolve } = prepareDistinct(call, view, request, select);
  const mark = fingerprint(view.collection, ['distinct', select.map(({ name }) => name), request.sort ?? []], {
    ...request,
    ...(within.mark && { within: within.mark }),
  });
  const skip = request.cursor === undefined ? groups.skip : readGroupCursor(request.cursor, mark);
  const { rows, hasMore } = await readGroups(call, view, { ...groups, skip }, within, resolve);
  return {
    columns: select.map(({ name }) => name),
    rows,
    hasMore,
    files: [],
    cursorAfter: (index) => (rows[index] ? writeGroupCursor(mark, skip + index + 1) : undefined),
    records: () => rows.map((row) => toNested(select, row)),
  };
}

export function prepareDistinct(
  call: Call,
  view: CollectionView,
  request: ListConditions,
  select: readonly RequestedField[],
) {
  const { fields: _fields, sort = [], distinct: _, cursor: __, ...conditions } = request;
  const limit = checkLimit(request.limit, call.ops.limits.pageSizeLimit);
  if (select.length === 0)
    return fail('INVALID_ARGUMENT', { argument: 'fields', problem: 'distinct needs fields, such as ["status"].' });
  if (hasHooks(view.collection, 'List'))
    fail('INVALID_ARGUMENT', {
      argument: 'distinct',
      problem: `code that checks the records of each list of '${view.collection.name}' cannot check combinations of values. Leave distinct out.`,
    });
  const skip = request.cursor === undefined ? checkSkip(request.skip ?? 0) : 0;
  return {
    groups: { ...conditions, limit, skip },
    resolve: (_: CollectionView, page: { readonly limit: number; readonly skip?: number }) =>
      resolveDistinct(view, { fields: select, sort, limit, skip: page.skip ?? 0 }, call.moment),
  };
}

/** An object with nested relations. */
function toNested(select: readonly RequestedField[], row: readonly unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [at, { through, leaf }] of select.entries()) {
    let home = record;
    for (const { name } of through) {
      home[name] ??= {};
      home = home[name] as Record<string, unknown>;
    }
    home[leaf] = row[at];
  }
  return record;
}
