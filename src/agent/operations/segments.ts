// Checks segments with a fixed filter, and metrics, when the model is built. Segments that are functions are checked when
// they are called.
import { type Caller, fullAccess } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { Model, Moment } from '../model/types.ts';
import { resolveUnambiguous } from '../resolve/ambiguity.ts';
import { resolveFilter } from '../resolve/filter.ts';
import { resolveGroups } from '../resolve/groups.ts';
import { resolveMeasures } from '../resolve/measures.ts';
import { internalViewOf } from '../resolve/visibility.ts';

/** Throws CONFIGURATION, with the line in the user's code, for unknown names and invalid operators and values. */
export function checkSegments({ internalCollections: internalFields }: Model, moment: Moment): void {
  const access = fullAccess({} as Caller);
  for (const collection of internalFields.values())
    for (const [name, { definition, at }] of collection.rules.segments) {
      if (typeof definition === 'function') continue;
      try {
        resolveFilter(internalViewOf(access, collection), definition, moment);
      } catch (error) {
        const problem = `The segment '${name}' of '${collection.name}': ${(error as Error).message} (${at})`;
        fail('CONFIGURATION', { problem }, error);
      }
    }
}

/** Throws CONFIGURATION, with the line in the user's code, for metrics that cannot be computed. */
export function checkMetrics({ internalCollections }: Model, moment: Moment): void {
  const access = fullAccess({} as Caller);
  for (const collection of internalCollections.values())
    for (const [name, { at }] of collection.rules.metrics) {
      const view = internalViewOf(access, collection);
      try {
        for (const measure of resolveMeasures(view, { [name]: { metric: name } }, moment))
          if (measure.kind === 'base') for (const where of measure.where ?? []) resolveUnambiguous(view, where, moment);
      } catch (error) {
        const problem = `The metric '${name}' of '${collection.name}': ${(error as Error).message} (${at})`;
        fail('CONFIGURATION', { problem }, error);
      }
    }
}

/** Throws CONFIGURATION, with the line in the user's code, for a minimum group size that could not be kept. */
export function checkMinGroupSizes({ internalCollections }: Model, moment: Moment): void {
  const access = fullAccess({} as Caller);
  for (const collection of internalCollections.values()) {
    const { minGroupSize } = collection.rules;
    if (!minGroupSize) continue;
    const { at, by, fields = [] } = minGroupSize;
    const refuse = (problem: string, cause?: unknown): never =>
      fail('CONFIGURATION', { problem: `setMinGroupSize of '${collection.name}': ${problem} (${at})` }, cause);
    if (collection.query?.parameters.length) refuse('a query with parameters cannot have one.');
    for (const name of fields) {
      const field = collection.fields.get(name);
      if (field?.kind === 'column' && field.route) refuse(`'${name}' is imported: set it on its collection.`);
    }
    try {
      const many = resolveGroups(internalViewOf(access, collection), by, moment).find((group) => group.many);
      if (many) refuse(`'${many.field}' leads to many records.`);
    } catch (error) {
      if (isAppError(error, 'CONFIGURATION')) throw error;
      refuse((error as Error).message, error);
    }
  }
}
