// Activity log entries in the public API. `call` is our extension, and only included on request. Without it, an entry
// has exactly the members of the contract.
import { z } from 'zod';
import type { LoggedActivity } from '../../store/audit/activity-types.ts';
import {
  collectionSchema,
  environmentSchema,
  showTime,
  showUser,
  teamSchema,
  timeSchema,
  userSchema,
} from '../schemas.ts';
import { actionNames, showAction } from './activity-actions.ts';
import type { Columns } from './export.ts';

const outcomes = ['completed', 'failed', 'denied', 'unknown'] as const;

const effectSchema = z
  .strictObject({
    collection: z.string(),
    change: z.enum(['created', 'updated', 'deleted']),
    cause: z
      .enum(['call', 'relation', 'cascade', 'code'])
      .describe('relation: written through a relation; cascade: by the database; code: by customization code'),
    count: z.int(),
    ids: z.array(z.string()).optional().describe('Absent where only the count is known'),
  })
  .meta({ id: 'ActivityEffect' });

const callSchema = z
  .strictObject({
    outcome: z
      .enum(outcomes)
      .describe(
        'denied: the user may not, or a yes that it needs was missing or refused; unknown: it was cut off, and may have been done or not',
      ),
    code: z.string().optional().describe('Of the error, such as FORBIDDEN'),
    durationMs: z.number(),
    client: z.strictObject({ id: z.string(), name: z.string() }),
    dryRun: z.boolean().optional().describe('true: nothing was written'),
    approvalId: z.string().optional().describe('Of the approval of a write that somebody approved'),
    effects: z.array(effectSchema).optional().describe('Records that were written besides recordIds'),
  })
  .meta({ id: 'ActivityCall' });

const workflowSchema = z
  .strictObject({
    object: z.literal('workflow'),
    name: z.string(),
    runId: z.string(),
    stepName: z.string().optional(),
    optionName: z.string().optional(),
  })
  .meta({ id: 'ActivityWorkflow' });

const activitySchema = z
  .strictObject({
    object: z.literal('activityLog'),
    id: z.string(),
    type: z.enum(['read', 'write']),
    action: z.enum(actionNames as [string, ...string[]]),
    recordIds: z.array(z.string()).optional(),
    createdAt: timeSchema,
    user: userSchema,
    environment: environmentSchema,
    collection: collectionSchema.optional(),
    workflow: workflowSchema.optional().describe('Of whose run it was done'),
    team: teamSchema.describe('Of the user at that time'),
    call: callSchema.optional().describe('With details=true'),
  })
  .meta({ id: 'ActivityLog' });

export const activityListSchema = z
  .strictObject({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('With hasMore'),
    parameters: z.object({ projectName: z.string(), environmentName: z.string(), limit: z.int() }).loose(),
    data: z.array(activitySchema).describe('Newest first; of equal times the larger id first'),
  })
  .meta({ id: 'ActivityLogList' });

/** The name of a team that was removed before names were stored with entries. */
const removedTeam = '(removed)';

export function showActivity(entry: LoggedActivity, environment: string, details: boolean) {
  const { id, type, recordIds, startedAt, userId, user, collection, team, outcome, code, durationMs, workflow } = entry;
  const { dryRun, approvalId, effects } = entry;
  return {
    object: 'activityLog',
    id: `${id}`,
    type,
    action: showAction(entry.action),
    ...(recordIds && { recordIds }),
    createdAt: showTime(startedAt),
    user: showUser(user ?? { id: userId, name: '', email: '' }),
    environment: { object: 'environment', name: environment },
    ...(collection !== undefined && { collection: { object: 'collection', name: collection } }),
    ...(workflow && { workflow: { object: 'workflow', ...workflow } }),
    team: { object: 'team', name: team ?? removedTeam },
    ...(details && {
      call: {
        outcome,
        ...(code !== undefined && { code }),
        durationMs,
        client: { id: entry.clientId, name: entry.clientName },
        ...(dryRun && { dryRun }),
        ...(approvalId !== undefined && { approvalId }),
        ...(effects && { effects }),
      },
    }),
  };
}

/** Columns of the CSV file. */
export const activityColumns: Columns<LoggedActivity> = {
  id: ({ id }) => id,
  createdAt: ({ startedAt }) => showTime(startedAt),
  type: ({ type }) => type,
  action: ({ action }) => showAction(action),
  userId: ({ userId }) => userId,
  userEmail: ({ user }) => user?.email,
  team: ({ team }) => team ?? removedTeam,
  collection: ({ collection }) => collection,
  recordIds: ({ recordIds }) => recordIds && JSON.stringify(recordIds),
  outcome: ({ outcome }) => outcome,
  code: ({ code }) => code,
  durationMs: ({ durationMs }) => durationMs,
  clientId: ({ clientId }) => clientId,
  clientName: ({ clientName }) => clientName,
  workflow: ({ workflow }) => workflow?.name,
  workflowRunId: ({ workflow }) => workflow?.runId,
  workflowStep: ({ workflow }) => workflow?.stepName,
  dryRun: ({ dryRun }) => (dryRun ? 'true' : undefined),
  approvalId: ({ approvalId }) => approvalId,
  effects: ({ effects }) => effects && JSON.stringify(effects),
};
