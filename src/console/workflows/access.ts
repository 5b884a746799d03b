// Who may do what with workflows, and the one that a page is about.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { Workflow } from '../../store/workflow-types.ts';
import { readDefinition, type WorkflowDefinition } from '../../workflow/definition.ts';
import type { MemberVisit, Parts } from '../visit.ts';

export const under = '/workflows';
export const runsPage = '/runs';
export const workflowPage = (id: string): string => `${under}/${id}`;

/** Spec public-http-api 3.1: editors, and those above. */
export const mayEdit = ({ caller }: Access): boolean => caller.permissionLevel !== 'user';

/** One of another view and one that is not there look the same (CWE-639). */
export async function findWorkflow({ id, access }: MemberVisit, { workflows }: Parts): Promise<Workflow> {
  return (await workflows.find(access, id)) ?? fail('NOT_FOUND', { path: workflowPage(id) });
}

/** Of one that the caller may see. */
export async function definitionOf(
  { id, version }: Pick<Workflow, 'id' | 'version'>,
  { store }: Parts,
): Promise<WorkflowDefinition> {
  const text = await store.workflows.definition(id, version);
  return text === undefined ? fail('NOT_FOUND', { path: workflowPage(id) }) : readDefinition(JSON.parse(text));
}

/** DENIED; for what only those who edit may do. */
export function needEditor(access: Access): void {
  if (!mayEdit(access)) fail('DENIED', { problem: 'Workflows are edited by editors, developers and administrators.' });
}
