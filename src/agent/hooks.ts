// Hooks run one after another, in the order in which they were added. One that throws stops the call.
import type { PlainFilter } from '../core/filter.ts';
import { createHookContext } from './context.ts';
import type {
  AfterListContext,
  BeforeListContext,
  CodeRecord,
  CustomizationContext,
  Hook,
} from './customize/definitions.ts';
import type { Collection } from './model/types.ts';
import { callCode } from './query/code.ts';

/** What the hooks narrow the list by; null when they do not. */
export async function runBeforeList(
  { name }: Collection,
  hooks: readonly Hook<BeforeListContext>[],
  code: () => CustomizationContext,
): Promise<PlainFilter | null> {
  const conditions: PlainFilter[] = [];
  const context = { ...createHookContext(code()), narrow: (filter: PlainFilter) => void conditions.push(filter) };
  for (const { handler, at } of hooks) await callCode(`a hook before lists of '${name}'`, at, () => handler(context));
  return conditions.length ? { aggregator: 'And', conditions } : null;
}

export async function runAfterList(
  { name }: Collection,
  hooks: readonly Hook<AfterListContext>[],
  code: () => CustomizationContext,
  records: readonly CodeRecord[],
): Promise<void> {
  const context = { ...createHookContext(code()), records };
  for (const { handler, at } of hooks) await callCode(`a hook after lists of '${name}'`, at, () => handler(context));
}
