// Endpoints for workflows: those available to the token's user and, for editors, their triggers.
import { z } from 'zod';
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { Workflow } from '../../store/workflows/types.ts';
import { mayEditWorkflows } from '../../workflows/triggers/trigger.ts';
import { text } from '../parameters.ts';
import { defineRoute, type RouteParts } from '../route.ts';
import { showTrigger, showWorkflow, triggerSchema, workflowSchema } from './schemas.ts';

const under = '/v1/project/{projectName}/environment/{environmentName}/workflows';
const reading = { method: 'GET', scopes: ['workflows:trigger'], admin: false, status: 200 } as const;

/** Throws NOT_FOUND for a missing workflow and also for one that the user may not see. */
async function find(access: Access, { workflowId = '' }: Readonly<Record<string, string>>, { workflows }: RouteParts) {
  return (await workflows.find(access, workflowId)) ?? fail('NOT_FOUND', { path: `workflow ${workflowId}` });
}

const show = async (access: Access, workflow: Workflow, { triggers }: RouteParts) =>
  showWorkflow(workflow, mayEditWorkflows(access) ? await triggers.addressOf(workflow) : null);

const changeSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe('Disabled, calls are 404; the address stays'),
    regenerate: z.literal(true).optional().describe('Another address; the one of before is 400 from then on'),
    needsSignature: z.boolean().optional(),
    callbackUrl: z.string().min(1).max(1000).nullable().optional().describe('https; null: nobody is told'),
  })
  .refine((sent) => Object.values(sent).some((value) => value !== undefined), 'expected something to change');

export const workflowRoutes = [
  defineRoute({
    ...reading,
    path: under,
    id: 'listWorkflows',
    summary: "Workflows of the user's team, on collections that the user sees, by name",
    query: { collectionName: text() },
    answers: z.strictObject({ data: z.array(workflowSchema) }),
    async handle({ access, query }, parts) {
      const { collectionName: collection } = query;
      const found = await parts.workflows.list(access, collection === undefined ? {} : { collection });
      const data = [];
      for (const workflow of found) data.push(await show(access, workflow, parts));
      return { status: 200, body: { data } };
    },
  }),
  defineRoute({
    ...reading,
    path: `${under}/{workflowId}`,
    id: 'getWorkflow',
    summary: 'One workflow',
    answers: workflowSchema,
    async handle({ access, path }, parts) {
      return { status: 200, body: await show(access, await find(access, path, parts), parts) };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${under}/{workflowId}/trigger`,
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
      const changed = await parts.triggers.change(access, await find(access, path, parts), {
        ...(enabled !== undefined && { isEnabled: enabled }),
        ...(regenerate && { regenerate }),
        ...(needsSignature !== undefined && { needsSignature }),
        ...(callbackUrl !== undefined && { callbackUrl }),
      });
      return { status: 200, body: showTrigger(changed, await parts.triggers.addressOf(changed)) };
    },
  }),
];
