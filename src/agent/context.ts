import type { Caller } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { CustomizationContext, HookContext, InsideCollection } from './customize/definitions.ts';

/** What customization code is given, made only when some code is called. */
export function createContext(
  caller: Caller,
  timezone: string,
  collection: (name: string) => InsideCollection,
): CustomizationContext {
  return Object.freeze({ caller, timezone, collection });
}

export function createHookContext(context: CustomizationContext): HookContext {
  return {
    ...context,
    throwError: (problem) => fail('REFUSED', { problem }),
    throwForbiddenError: (problem) => fail('DENIED', { problem }),
  };
}
