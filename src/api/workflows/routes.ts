// Endpoints for workflows: those available to the token's user and, for editors, their triggers.
import { z } from 'zod';
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { Workflow } from '../../store/workflows/types.ts';
import { canEditWorkflows } from '../../workflows/triggers/trigger.ts';
import { text } from '../parameters.ts';
import { defineRoute, type RouteParts } from '../route.ts';
import { showTrigger, showWorkflow, triggerSchema, workflowSchema } from './schemas.ts';

const workflowsPath = '/v1/project/{projectName}/environment/{environmentName}/workflows';
const reading = { method: 'GET', scopes: ['workflows:trigger'], admin: false, status: 200 } as const;

/** Throws NOT_FOUND for a missing workflow and also for one that the user may not see. */
async function findWorkflow(
  access: Access,
  { workflowId = '' }: Readonly<Record<string, string>>,
  { workflows }: RouteParts,
) {
  return (await workflows.find(access, workflowId)) ?? fail('NOT_FOUND', { path: `workflow ${workflowId}` });
}

const toWorkflowBody = async (access: Access, workflow: Workflow, { triggers }: RouteParts) =>
  showWorkflow(workflow, canEditWorkflows(access) ? await triggers.addressOf(workflow) : null);

const changeSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe('false: calls return 404; the URL does not change'),
    regenerate: z.literal(true).optional().describe('true: creates a new URL; the previous one then returns 400'),
    needsSignature: z.boolean().optional(),
    callbackUrl: z.string().min(1).max(1000).nullable().optional().describe('An https URL; null: no callback'),
  })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'expected at least one property to change',
  );

export const workflowRoutes = [
  defineRoute({
    ...reading,
    path: workflowsPath,
    id: 'listWorkflows',
    summary: "Workflows of the user's team, on collections that the user can see, sorted by name",
    query: { collectionName: text() },
    answers: z.strictObject({ data: z.array(workflowSchema) }),
    async handle({ access, query }, parts) {
      const { collectionName: collection } = query;
      const found = await parts.workflows.list(access, collection === undefined ? {} : { collection });
      const data = [];
      for (const workflow of found) data.push(await toWorkflowBody(access, workflow, parts));
      return { status: 200, body: { data } };
    },
  }),
  defineRoute({
    ...reading,
    path: `${workflowsPath}/{workflowId}`,
    id: 'getWorkflow',
    summary: 'One workflow',
    answers: workflowSchema,
    async handle({ access, path }, parts) {
      return { status: 200, body: await toWorkflowBody(access, await findWorkflow(access, path, parts), parts) };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${workflowsPath}/{workflowId}/trigger`,
    id: 'changeTrigger',
    summary: 'Enables, disables or changes the webhook of a workflow',
    about: 'Enables, disables or changes the webhook of a workflow. For editors, developers and administrators.',
    scopes: ['all'],
    admin: false,
    body: changeSchema,
    status: 200,
    answers: triggerSchema,
    async handle({ access, path, body }, parts) {
      const { enabled, regenerate, needsSignature, callbackUrl } = body;
      const changed = await parts.triggers.change(access, await findWorkflow(access, path, parts), {
        ...(enabled !== undefined && { isEnabled: enabled }),
        ...(regenerate && { regenerate }),
        ...(needsSignature !== undefined && { needsSignature }),
        ...(callbackUrl !== undefined && { callbackUrl }),
      });
      return { status: 200, body: showTrigger(changed, await parts.triggers.addressOf(changed)) };
    },
  }),
];
