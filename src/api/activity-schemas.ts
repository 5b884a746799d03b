// An entry of the activity log as the public API tells it. `call` is an addition of ours, sent where it is asked for: without it an
// entry has the members of the contract and no others.
import { z } from 'zod';
import type { LoggedActivity } from '../store/log-types.ts';
import { actionNames, showAction } from './activity-actions.ts';
import type { Columns } from './log-export.ts';
import {
  collectionSchema,
  environmentSchema,
  showTime,
  showUser,
  teamSchema,
  timeSchema,
  userSchema,
} from './schemas.ts';

const outcomes = ['completed', 'failed', 'denied', 'unknown'] as const;

const callSchema = z
  .strictObject({
    outcome: z.enum(outcomes).describe('unknown: it was cut off, and may have been done or not'),
    code: z.string().optional().describe('Of the error, such as FORBIDDEN'),
    durationMs: z.number(),
    client: z.strictObject({ id: z.string(), name: z.string() }),
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

/** Of a team that was removed before its name was kept. */
const removedTeam = '(removed)';

export function showActivity(entry: LoggedActivity, environment: string, details: boolean) {
  const { id, type, recordIds, startedAt, userId, user, collection, team, outcome, code, durationMs, workflow } = entry;
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
      },
    }),
  };
}

/** Of the CSV file. */
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
};
