// Hooks run one after another, in the order in which they were added. An exception in a hook before the operation
// stops it. An exception after a write cannot undo it, and the error for the caller says this.
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { CodeFilter, CustomizationContext, MaybePromise } from '../customize/context.ts';
import type { Hook, HookContext, HookContexts, HookPosition, HookType, OpenRecord } from '../customize/hooks.ts';
import { callCode, isDeliberateStop, whenAll } from '../customize/user-code.ts';
import { shapeRecords } from '../encode/records.ts';
import { type Conditions, type Lowering, lowerInternal } from '../lower/filter.ts';
import { and } from '../lower/simplify.ts';
import type { Collection } from '../model/types.ts';
import type { Filter, ReadPlan, RequestedField, Shape } from '../plan/types.ts';
import { resolveUnambiguous } from '../resolve/ambiguity.ts';
import { toInternalFilter, toInternalShape } from '../resolve/internal-names.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import type { Row } from '../sources/statement.ts';
import { createHookContext } from './context.ts';

export function hasHooks({ rules: { hooks } }: Collection, type: HookType): boolean {
  return hooks.Before[type].length > 0 || hooks.After[type].length > 0;
}

/** The arguments of a hook, besides the context. */
type HookArguments<P extends HookPosition, T extends HookType> = Omit<HookContexts[P][T], keyof HookContext>;

/** Throws CUSTOMIZATION_FAILED for a hook that fails. An error that a hook throws to stop the call passes unchanged. */
export async function runHooks<P extends HookPosition, T extends HookType>(
  { name, rules }: Collection,
  [position, type]: readonly [P, T],
  code: () => CustomizationContext,
  hookArguments: HookArguments<P, T>,
): Promise<void> {
  const hooks = rules.hooks[position][type] as readonly Hook<HookContexts[P][T]>[];
  if (hooks.length === 0) return;
  const writes = type !== 'List' && type !== 'Aggregate';
  const context = { ...createHookContext(code(), name, writes), ...hookArguments } as HookContexts[P][T];
  for (const { handler, at } of hooks)
    await callCode(`the hook '${position} ${type}' of '${name}'`, at, () => handler(context));
}

/** Throws FAILED_AFTER_WRITE for any exception in a hook. */
export async function runAfterWrite<T extends 'Create' | 'Update' | 'Delete'>(
  collection: Collection,
  type: T,
  code: () => CustomizationContext,
  hookArguments: HookArguments<'After', T>,
): Promise<void> {
  try {
    await runHooks(collection, ['After', type], code, hookArguments);
  } catch (error) {
    const why = isDeliberateStop(error) ? error.message : `the hook 'After ${type}' failed.`;
    fail('FAILED_AFTER_WRITE', { collection: collection.name, why }, error);
  }
}

/** The conditions of a call, which hooks can read and narrow. */
export interface HookRestrictions {
  /** The arguments of hooks before the operation. */
  readonly hookArguments: { readonly filter: CodeFilter; narrow(filter: PlainFilter): void };
  /** The conditions that the hooks added. Throws CUSTOMIZATION_FAILED for an invalid condition. */
  lower(lowering: Lowering): MaybePromise<Filter>;
  /** The final filter, for hooks after the operation. */
  filter(): CodeFilter;
}

/** `keys` selects the records, by internal names. Throws the errors of names and values for an invalid filter. */
export function createHookRestrictions(
  type: Exclude<HookType, 'Create'>,
  { view, moment }: Pick<Lowering, 'view' | 'moment'>,
  conditions: Conditions,
  keys?: PlainFilter,
): HookRestrictions {
  const { filter, search, searchExtended, segment } = conditions;
  if (filter) resolveUnambiguous(view, filter, moment);
  const conditionTree = keys ?? (filter && toInternalFilter(view, filter));
  const requested: CodeFilter = Object.freeze({
    ...(conditionTree && { conditionTree }),
    ...(search !== undefined && { search }),
    ...(searchExtended !== undefined && { searchExtended }),
    ...(segment !== undefined && { segment }),
  });
  const more: PlainFilter[] = [];
  const all = (conditions: readonly PlainFilter[]): PlainFilter | null =>
    conditions.length === 0 ? null : { aggregator: 'And', conditions };
  return {
    hookArguments: { filter: requested, narrow: (condition) => void more.push(condition) },
    lower(lowering) {
      // Each condition separately, because hooks do not know about each other.
      const each = more.map((condition) => lowerInternal(condition, lowering, describeHook(view.collection, type)));
      return whenAll(each, (conditions) => and(...conditions));
    },
    filter() {
      if (more.length === 0) return requested;
      const conditionTree = all([...(requested.conditionTree ? [requested.conditionTree] : []), ...more])!;
      return { ...requested, conditionTree };
    },
  };
}

/** For messages: the hook before the operation, and the places in code that may have added it. */
export function describeHook(
  { name, rules }: Collection,
  type: HookType,
): { readonly what: string; readonly at: string } {
  const at = rules.hooks.Before[type].map((hook) => hook.at).join(' or ');
  return { what: `the hook 'Before ${type}' of '${name}'`, at };
}

/** The records of a list while hooks after the operation read and change them. */
export interface OpenedRecords {
  /** Records by internal names. */
  readonly records: readonly OpenRecord[];
  /** Returns the records with the changes of the hooks. Called after the hooks. */
  close(): { readonly rows: readonly Row[]; readonly records: Record<string, unknown>[] };
}

export function openRecords(
  view: CollectionView,
  rows: readonly Row[],
  { shape }: ReadPlan,
  select: readonly RequestedField[],
): OpenedRecords {
  const internalShape = toInternalShape(view, shape);
  const records = shapeRecords(rows, internalShape);
  return {
    records: Object.freeze(records),
    close() {
      const published = records.map((record) => publish(record, internalShape, shape));
      const recordAt = (record: Record<string, unknown>, { through, leaf }: RequestedField): unknown => {
        let at: Record<string, unknown> | null = record;
        for (const { name } of through) at = (at?.[name] ?? null) as Record<string, unknown> | null;
        return at?.[leaf] ?? null;
      };
      return { rows: published.map((record) => select.map((named) => recordAt(record, named))), records: published };
    },
  };
}

/** Returns only the fields that were read; hooks may have added others. */
function publish(record: OpenRecord, internalShape: Shape, shape: Shape): Record<string, unknown> {
  const published: Record<string, unknown> = Object.create(null);
  for (const [at, [name]] of shape.leaves.entries()) published[name] = record[internalShape.leaves[at]![0]] ?? null;
  for (const [at, [name, , deeper]] of shape.nested.entries()) {
    const [insideName, , insideShape] = internalShape.nested[at]!;
    const related = record[insideName];
    const isThere = typeof related === 'object' && related !== null;
    published[name] = isThere ? publish(related as OpenRecord, insideShape, deeper) : null;
  }
  return published;
}
