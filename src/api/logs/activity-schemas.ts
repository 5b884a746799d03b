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
import { actionNames, toContractName } from './activity-actions.ts';
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
    ids: z.array(z.string()).optional().describe('Absent if only the count is known'),
  })
  .meta({ id: 'ActivityEffect' });

const callSchema = z
  .strictObject({
    outcome: z
      .enum(outcomes)
      .describe(
        'denied: the user lacks the permission, or a required approval was missing or refused; unknown: the call was interrupted, and may or may not have taken effect',
      ),
    code: z.string().optional().describe('The error code, such as FORBIDDEN'),
    durationMs: z.number(),
    client: z.strictObject({ id: z.string(), name: z.string() }),
    dryRun: z.boolean().optional().describe('true: no data was written'),
    approvalId: z.string().optional().describe('The id of the approval, for an approved write'),
    effects: z.array(effectSchema).optional().describe('Written records other than recordIds'),
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
    workflow: workflowSchema.optional().describe('The workflow and the run that made the call'),
    team: teamSchema.describe('The team of the user at that time'),
    call: callSchema.optional().describe('Present with details=true'),
  })
  .meta({ id: 'ActivityLog' });

export const activityListSchema = z
  .strictObject({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('Present if hasMore is true'),
    parameters: z.object({ projectName: z.string(), environmentName: z.string(), limit: z.int() }).loose(),
    data: z.array(activitySchema).describe('Newest first; entries with the same time in descending order of id'),
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
    action: toContractName(entry.action),
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
  action: ({ action }) => toContractName(action),
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
