// Checks and publishes a definition. The JSON editor and the forms save through it: both have the same checks, and make
// a new version.
import { isAppError } from '../../../../core/errors.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import { checkAgainstModel } from '../../../../workflows/definition/check-model.ts';
import { parseDefinition, type WorkflowDefinition } from '../../../../workflows/definition/definition.ts';
import type { Parts, SignedInRequest } from '../../../page-request.ts';

/** Throws INVALID_ARGUMENT with the position in the definition. */
export function checkDefinition(input: unknown, { access }: SignedInRequest, { engine }: Parts): WorkflowDefinition {
  const definition = parseDefinition(input);
  // Validate with the rights of the user who saves: hidden names count as unknown.
  checkAgainstModel(definition, access, engine, { isSaved: true });
  return definition;
}

interface Published {
  readonly saved: Workflow;
}

/** `name`: it is taken. `version`: another user has saved in the meantime. */
interface Refused {
  readonly argument: string;
  readonly problem: string;
}

/** `of`: the workflow and the version that the change is based on; absent for a new workflow. */
export async function publishDefinition(
  definition: WorkflowDefinition,
  of: { readonly id: string; readonly since: number } | undefined,
  { access }: SignedInRequest,
  { store }: Parts,
): Promise<Published | Refused> {
  const { name, collection, concurrency = null } = definition;
  try {
    const saved = await store.workflows.publish({
      ...{ renderingId: access.caller.renderingId, name, collection, concurrency, by: access.caller.id },
      definition: JSON.stringify(definition),
      ...(of && { of }),
    });
    return { saved };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    return error.details;
  }
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The version that a form is based on, 0 for none. */
export const readSince = (form: URLSearchParams): number => Number(/^\d{1,9}$/.exec(form.get('since') ?? '')?.[0] ?? 0);
