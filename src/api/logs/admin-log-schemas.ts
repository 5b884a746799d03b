// Admin log entries in the public API. Project members, roles, teams and environments have the formats of the contract.
// Other resources have no format in the contract and are shown with a name and details.
import { z } from 'zod';
import type { LoggedChange, LogValue } from '../../store/audit/log-types.ts';
import { showTime, showUser, teamSchema, timeSchema, userSchema } from '../schemas.ts';
import type { Columns } from './export.ts';

export const changeTypes = ['add', 'remove', 'update', 'initial'] as const;
export const initiators = ['administrator', 'identityProvider', 'serviceAdmin'] as const;
/** The four resources of the contract, then our own. */
export const resources = [
  ...['user-project', 'role', 'team', 'environment'],
  ...['organization', 'project', 'network', 'permission', 'scope', 'account', 'token', 'app', 'key', 'log', 'meaning'],
] as [string, ...string[]];

const userProjectSchema = z
  .strictObject({
    user: userSchema,
    permissionLevel: z.enum(['admin', 'editor', 'user', 'developer', 'manager']).optional(),
    tags: z.array(z.strictObject({ key: z.string(), value: z.string() })).optional(),
    role: z.strictObject({ object: z.literal('role'), name: z.string() }).optional(),
    teams: z.array(teamSchema).optional(),
  })
  .meta({ id: 'UserProjectValue' });
const namedSchema = z
  .strictObject({
    name: z.string(),
    codeCustomizationVersion: z.number().optional().describe('Only for environments: always 0'),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('For resources other than role, team and environment'),
  })
  .meta({ id: 'NamedValue' });
const valueSchema = z.union([userProjectSchema, namedSchema]);

export const adminListSchema = z
  .strictObject({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('Present if hasMore is true'),
    parameters: z.object({ projectName: z.string(), limit: z.int() }).loose(),
    data: z
      .array(
        z
          .strictObject({
            object: z.literal('adminLog'),
            id: z.string(),
            type: z.enum(changeTypes),
            resource: z.string().describe(`Such as ${resources.slice(0, 4).join(', ')}`),
            initiator: z
              .enum(initiators)
              .describe('serviceAdmin: no user was signed in, for example on the command line'),
            createdAt: timeSchema,
            user: userSchema.optional().describe('The user who made the change'),
            newValue: valueSchema.optional(),
            previousValue: valueSchema.optional(),
          })
          .meta({ id: 'AdminLog' }),
      )
      .describe('Newest first; entries with the same time in descending order of id'),
  })
  .meta({ id: 'AdminLogList' });

export function showChange({ id, type, resource, initiator, at, user, newValue, previousValue }: LoggedChange) {
  return {
    object: 'adminLog',
    id: `${id}`,
    type,
    resource,
    initiator,
    createdAt: showTime(at),
    ...(user && { user: showUser(user) }),
    ...(newValue && { newValue: showValue(resource, newValue) }),
    ...(previousValue && { previousValue: showValue(resource, previousValue) }),
  };
}

const contractResources: ReadonlySet<string> = new Set(['role', 'team', 'environment']);

function showValue(resource: string, value: LogValue): object {
  if (!('member' in value)) {
    const { name, details } = value;
    const version = resource === 'environment' && { codeCustomizationVersion: 0 };
    return { name, ...version, ...(details && !contractResources.has(resource) && { details }) };
  }
  const { level, role, team, tags, ...user } = value.member;
  return {
    user: showUser(user),
    permissionLevel: level,
    tags: Object.entries(tags).map(([key, tag]) => ({ key, value: tag })),
    role: { object: 'role', name: role },
    teams: [{ object: 'team', name: team }],
  };
}

/** Columns of the CSV file. */
export const adminColumns: Columns<LoggedChange> = {
  id: ({ id }) => id,
  createdAt: ({ at }) => showTime(at),
  type: ({ type }) => type,
  resource: ({ resource }) => resource,
  action: ({ action }) => action,
  subject: ({ subject }) => subject,
  initiator: ({ initiator }) => initiator,
  userId: ({ user }) => user?.id,
  userEmail: ({ user }) => user?.email,
  previousValue: ({ resource, previousValue }) => previousValue && JSON.stringify(showValue(resource, previousValue)),
  newValue: ({ resource, newValue }) => newValue && JSON.stringify(showValue(resource, newValue)),
};
