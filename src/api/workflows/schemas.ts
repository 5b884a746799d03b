// Workflows and their runs in the public API. A run shows states, names, counts and times, never values of records.
import { z } from 'zod';
import {
  awaitReasons,
  type Run,
  type RunStep,
  runOrigins,
  runStates,
  type Workflow,
} from '../../store/workflows/types.ts';
import { collectionSchema, showTime, teamSchema, timeSchema } from '../schemas.ts';

export const triggerSchema = z
  .strictObject({
    object: z.literal('trigger'),
    enabled: z.boolean(),
    url: z.string().optional().describe('The URL of the webhook; absent until it is first enabled'),
    needsSignature: z.boolean().describe('Calls without a Standard Webhooks signature are refused'),
    callbackUrl: z.string().optional().describe('Receives the outcome of each run that the webhook started'),
  })
  .meta({ id: 'Trigger' });

export const workflowSchema = z
  .strictObject({
    object: z.literal('workflow'),
    id: z.string(),
    name: z.string(),
    collection: collectionSchema,
    team: teamSchema,
    source: z.enum(['code', 'console']),
    active: z.boolean().describe('Whether runs can be started'),
    version: z.int().describe('The version that new runs use'),
    createdAt: timeSchema,
    updatedAt: timeSchema,
    trigger: triggerSchema.optional().describe('Absent for users of the level `user`'),
  })
  .meta({ id: 'Workflow' });

export function showTrigger({ trigger }: Workflow, url: string | undefined): z.infer<typeof triggerSchema> {
  return {
    object: 'trigger',
    enabled: trigger.isEnabled,
    ...(url !== undefined && { url }),
    needsSignature: trigger.needsSignature,
    ...(trigger.callbackUrl !== null && { callbackUrl: trigger.callbackUrl }),
  };
}

/** `url`: the URL of the trigger. Null hides the trigger from the user. */
export function showWorkflow(workflow: Workflow, url: string | undefined | null): z.infer<typeof workflowSchema> {
  const { id, name, collection, team, source, isActive, version, createdAt, updatedAt } = workflow;
  return {
    object: 'workflow',
    id,
    name,
    collection: { object: 'collection', name: collection },
    team: { object: 'team', name: team },
    source,
    active: isActive,
    version,
    createdAt: showTime(createdAt),
    updatedAt: showTime(updatedAt),
    ...(url !== null && { trigger: showTrigger(workflow, url) }),
  };
}

const runSchema = z.strictObject({
  object: z.literal('run'),
  id: z.string(),
  workflowId: z.string(),
  workflowName: z.string(),
  version: z.int().describe('The version of the workflow when the run started; it never changes'),
  collection: collectionSchema,
  recordId: z.string(),
  userId: z.int().describe('The run reads and writes with the permissions of this user'),
  origin: z.enum(runOrigins),
  startedBy: z.string().describe('The name of the token or the app'),
  state: z.enum(runStates),
  reason: z.enum(awaitReasons).optional().describe('With awaiting-input: what a person must enter or decide'),
  stepId: z.string().optional().describe('The current or next step'),
  failure: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  answerBy: timeSchema.optional().describe('The deadline for the answer'),
  createdAt: timeSchema,
  startedAt: timeSchema.optional(),
  updatedAt: timeSchema,
  finishedAt: timeSchema.optional(),
});
const stepSchema = z
  .strictObject({
    position: z.int(),
    stepId: z.string(),
    state: z.enum(['begun', 'waiting', 'done', 'skipped', 'failed']),
    startedAt: timeSchema,
    finishedAt: timeSchema.optional(),
    answeredBy: z.int().optional().describe('The id of the user who answered'),
  })
  .meta({ id: 'RunStep' });

export const listedRunSchema = runSchema.meta({ id: 'Run' });
export const tracedRunSchema = runSchema
  .extend({ steps: z.array(stepSchema).describe('The started steps, in order') })
  .meta({ id: 'RunWithSteps' });

const optionalTime = <N extends string>(name: N, at: number | null) =>
  (at === null ? {} : { [name]: showTime(at) }) as { [K in N]?: string };

export function showRun(run: Run): z.infer<typeof runSchema> {
  const { id, workflowId, name, version, collection, recordId, userId, origin, originName, state } = run;
  return {
    object: 'run',
    ...{ id, workflowId, workflowName: name, version, collection: { object: 'collection', name: collection } },
    ...{ recordId, userId, origin, startedBy: originName, state },
    ...(run.reason !== null && { reason: run.reason }),
    ...(run.stepId !== null && { stepId: run.stepId }),
    ...(run.failure && { failure: { code: run.failure.code, message: run.failure.message } }),
    ...optionalTime('answerBy', run.answerBy),
    createdAt: showTime(run.createdAt),
    ...optionalTime('startedAt', run.startedAt),
    updatedAt: showTime(run.updatedAt),
    ...optionalTime('finishedAt', run.finishedAt),
  };
}

/** Omits results and data of a step. The console shows them, because it checks the viewer's rights. */
export function showStep({ position, stepId, state, startedAt, finishedAt, answeredBy }: RunStep) {
  return {
    ...{ position, stepId, state, startedAt: showTime(startedAt) },
    ...optionalTime('finishedAt', finishedAt),
    ...(answeredBy !== null && { answeredBy }),
  };
}
