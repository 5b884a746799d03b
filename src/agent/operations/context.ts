import type { Caller } from '../../core/caller.ts';
import { AppError, fail } from '../../core/errors.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { CustomizationContext, UnscopedCollection } from '../customize/context.ts';
import type { HookContext } from '../customize/hooks.ts';
import { stopCall } from '../customize/user-code.ts';

/** The context of customization code, created only when code is called. */
export function createContext(
  caller: Caller,
  timezone: string,
  collection: (name: string) => UnscopedCollection,
  ai: AiProvider | null,
): CustomizationContext {
  return Object.freeze({ caller, timezone, collection, ai });
}

/** `writes`: whether the hook belongs to a write and may report invalid records. */
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
