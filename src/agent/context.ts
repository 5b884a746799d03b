import type { Caller } from '../core/caller.ts';
import { AppError, fail } from '../core/errors.ts';
import type { AiProvider } from './ai/definitions.ts';
import type { CustomizationContext, InsideCollection } from './customize/definitions.ts';
import type { HookContext } from './customize/hooks.ts';
import { stopCall } from './query/code.ts';

/** What customization code is given, made only when some code is called. */
export function createContext(
  caller: Caller,
  timezone: string,
  collection: (name: string) => InsideCollection,
  ai: AiProvider | null,
): CustomizationContext {
  return Object.freeze({ caller, timezone, collection, ai });
}

/** `writes`: whether the hook is about a write, whose records can be wrong. */
export function createHookContext(context: CustomizationContext, collectionName: string, writes: boolean): HookContext {
  return {
    ...context,
    collectionName,
    throwError: (problem) => fail('REFUSED', { problem }),
    throwForbiddenError: (problem) => fail('DENIED', { problem }),
    throwValidationError(problem, field) {
      if (!writes) fail('REFUSED', { problem: field === undefined ? problem : `${field}: ${problem}` });
      const problems = [{ field: field ?? 'the record', problem }];
      return stopCall(new AppError('INVALID_RECORD', { collection: collectionName, problems }));
    },
  };
}
