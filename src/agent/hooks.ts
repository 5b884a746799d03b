// Hooks run one after another, in the order in which they were added. One that throws before the operation stops it; one
// that throws after a write cannot take it back, and the caller is told so.
import { fail } from '../core/errors.ts';
import type { PlainFilter } from '../core/filter.ts';
import { createHookContext } from './context.ts';
import type { CustomizationContext, InsideFilter, MaybePromise } from './customize/definitions.ts';
import type { Hook, HookContext, HookContexts, HookPosition, HookType, OpenRecord } from './customize/hooks.ts';
import type { Collection } from './model/types.ts';
import { callCode, isStop } from './query/code.ts';
import { insideFilter, insideShape } from './query/inside-names.ts';
import { type Conditions, type Lowering, lowerInside } from './query/lower.ts';
import { resolveFilter } from './query/resolve.ts';
import { shapeRecords } from './query/shape.ts';
import { always } from './query/simplify.ts';
import type { Filter, Named, ReadPlan, Shape } from './query/types.ts';
import type { View } from './query/view.ts';
import type { Row } from './sources/source.ts';

export function hasHooks({ rules: { hooks } }: Collection, type: HookType): boolean {
  return hooks.Before[type].length > 0 || hooks.After[type].length > 0;
}

/** What a hook is told besides who calls. */
export type Told<P extends HookPosition, T extends HookType> = Omit<HookContexts[P][T], keyof HookContext>;

/** CUSTOMIZATION_FAILED for one that fails; what it stops the call with passes as it is. */
export async function runHooks<P extends HookPosition, T extends HookType>(
  { name, rules }: Collection,
  [position, type]: readonly [P, T],
  code: () => CustomizationContext,
  told: Told<P, T>,
): Promise<void> {
  const hooks = rules.hooks[position][type] as readonly Hook<HookContexts[P][T]>[];
  if (hooks.length === 0) return;
  const writes = type !== 'List' && type !== 'Aggregate';
  const context = { ...createHookContext(code(), name, writes), ...told } as HookContexts[P][T];
  for (const { handler, at } of hooks)
    await callCode(`the hook '${position} ${type}' of '${name}'`, at, () => handler(context));
}

/** FAILED_AFTER_WRITE for whatever the hooks throw. */
export async function runAfterWrite<T extends 'Create' | 'Update' | 'Delete'>(
  collection: Collection,
  type: T,
  code: () => CustomizationContext,
  told: Told<'After', T>,
): Promise<void> {
  try {
    await runHooks(collection, ['After', type], code, told);
  } catch (error) {
    const why = isStop(error) ? error.message : `the hook 'After ${type}' failed.`;
    fail('FAILED_AFTER_WRITE', { collection: collection.name, why }, error);
  }
}

/** The conditions of a call as hooks see them and narrow them. */
export interface Narrowing {
  /** What hooks before the operation are given. */
  readonly told: { readonly filter: InsideFilter; narrow(filter: PlainFilter): void };
  /** What the hooks let through; CUSTOMIZATION_FAILED for a condition that cannot be used. */
  lower(lowering: Lowering): MaybePromise<Filter>;
  /** What was meant in the end, for hooks after the operation. */
  filter(): InsideFilter;
}

/** `keys` say which records are meant, in inside names. The errors of names and values for a filter that cannot be used. */
export function createNarrowing(
  type: Exclude<HookType, 'Create'>,
  { view, moment }: Pick<Lowering, 'view' | 'moment'>,
  conditions: Conditions,
  keys?: PlainFilter,
): Narrowing {
  const { filter, search, searchExtended, segment } = conditions;
  if (filter) resolveFilter(view, filter, moment);
  const conditionTree = keys ?? (filter && insideFilter(view, filter));
  const asked: InsideFilter = Object.freeze({
    ...(conditionTree && { conditionTree }),
    ...(search !== undefined && { search }),
    ...(searchExtended !== undefined && { searchExtended }),
    ...(segment !== undefined && { segment }),
  });
  const more: PlainFilter[] = [];
  const all = (conditions: readonly PlainFilter[]): PlainFilter | null =>
    conditions.length === 0 ? null : { aggregator: 'And', conditions };
  return {
    told: { filter: asked, narrow: (condition) => void more.push(condition) },
    lower(lowering) {
      const narrowed = all(more);
      return narrowed ? lowerInside(narrowed, lowering, hookOf(view.collection, type)) : always;
    },
    filter() {
      if (more.length === 0) return asked;
      const conditionTree = all([...(asked.conditionTree ? [asked.conditionTree] : []), ...more])!;
      return { ...asked, conditionTree };
    },
  };
}

/** For messages: a hook before the operation, and where it may have been added. */
export function hookOf({ name, rules }: Collection, type: HookType): { readonly what: string; readonly at: string } {
  const at = rules.hooks.Before[type].map((hook) => hook.at).join(' or ');
  return { what: `the hook 'Before ${type}' of '${name}'`, at };
}

/** The records of a list as hooks after it see and change them, and as the caller gets them then. */
export interface Opened {
  /** Inside names. */
  readonly records: readonly OpenRecord[];
  /** Called when the hooks are done. */
  close(): { readonly rows: readonly Row[]; readonly records: Record<string, unknown>[] };
}

export function openRecords(view: View, rows: readonly Row[], { shape }: ReadPlan, select: readonly Named[]): Opened {
  const inside = insideShape(view, shape);
  const records = shapeRecords(rows, inside);
  return {
    records: Object.freeze(records),
    close() {
      const published = records.map((record) => publish(record, inside, shape));
      const dig = (record: Record<string, unknown>, { through, leaf }: Named): unknown => {
        let at: Record<string, unknown> | null = record;
        for (const { name } of through) at = (at?.[name] ?? null) as Record<string, unknown> | null;
        return at?.[leaf] ?? null;
      };
      return { rows: published.map((record) => select.map((named) => dig(record, named))), records: published };
    },
  };
}

/** What was read and nothing else, whatever else was put into the record. */
function publish(record: OpenRecord, inside: Shape, shape: Shape): Record<string, unknown> {
  const published: Record<string, unknown> = Object.create(null);
  for (const [at, [name]] of shape.leaves.entries()) published[name] = record[inside.leaves[at]![0]] ?? null;
  for (const [at, [name, , deeper]] of shape.nested.entries()) {
    const [insideName, , insideShape] = inside.nested[at]!;
    const related = record[insideName];
    const isThere = typeof related === 'object' && related !== null;
    published[name] = isThere ? publish(related as OpenRecord, insideShape, deeper) : null;
  }
  return published;
}
