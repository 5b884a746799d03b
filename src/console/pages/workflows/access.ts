// Checks of permissions on workflows, and the lookup of the workflow of a page.
import type { Access } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import type { Workflow } from '../../../store/workflows/types.ts';
import { parseDefinition, type WorkflowDefinition } from '../../../workflows/definition/definition.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';

export const under = '/workflows';
export const runsPage = '/runs';
export const workflowPage = (id: string): string => `${under}/${id}`;

/** Behaviour api 3.1: permission level editor or above. */
export const mayEdit = ({ caller }: Access): boolean => caller.permissionLevel !== 'user';

/** Unknown workflows and those of another view return the same 404 (CWE-639). */
export async function findWorkflow({ id, access }: SignedInRequest, { workflows }: Parts): Promise<Workflow> {
  return (await workflows.find(access, id)) ?? fail('NOT_FOUND', { path: workflowPage(id) });
}

/** Definition of a workflow that the caller may see. */
export async function definitionOf(
  { id, version }: Pick<Workflow, 'id' | 'version'>,
  { store }: Parts,
): Promise<WorkflowDefinition> {
  const text = await store.workflows.definition(id, version);
  return text === undefined ? fail('NOT_FOUND', { path: workflowPage(id) }) : parseDefinition(JSON.parse(text));
}

/** Throws DENIED unless the user may edit workflows. */
export function requireEditor(access: Access): void {
  if (!mayEdit(access)) fail('DENIED', { problem: 'Only editors, developers and administrators can edit workflows.' });
}
