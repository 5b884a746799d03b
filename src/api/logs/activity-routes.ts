// Activity log endpoints: a filtered list, newest first, and a streamed export.
import type { ActivityFilter } from '../../store/audit/activity-types.ts';
import type { Store } from '../../store/store.ts';
import { formatCursor, hashQuery, parseCursor } from '../list.ts';
import { email, integer, oneOf, type ParameterValues, parseInstants, text, timeParameters } from '../parameters.ts';
import { defineRoute } from '../route.ts';
import { actionNames, toOwnName } from './activity-actions.ts';
import { activityColumns, activityListSchema, showActivity } from './activity-schemas.ts';
import { exportLog, exportParameters, exportTypes } from './export.ts';

const path = '/v1/project/{projectName}/environment/{environmentName}/activity-logs';
const reading = { method: 'GET', scopes: ['activity_logs:read'], admin: true, status: 200 } as const;

const filters = {
  userEmail: email,
  userId: integer(1),
  teamName: text(),
  collectionName: text(),
  recordId: text(),
  action: oneOf(...(actionNames as [string, ...string[]])),
  type: oneOf('read', 'write'),
  outcome: oneOf('completed', 'failed', 'denied', 'unknown'),
  clientName: text(),
  ...timeParameters('createdAt'),
};
type FilterParameters = ParameterValues<typeof filters>;

/** Returns undefined if no entry can match: the address is unknown or belongs to another user id. */
async function toFilter(
  parameters: FilterParameters,
  { identity }: Pick<Store, 'identity'>,
): Promise<ActivityFilter | undefined> {
  const { userEmail, userId, teamName: team, collectionName: collection, recordId, action } = parameters;
  const { type, outcome, clientName } = parameters;
  const user = userEmail === undefined ? undefined : await identity.findUserByEmail(userEmail);
  if (userEmail !== undefined && (!user || (userId !== undefined && userId !== user.id))) return undefined;
  return {
    ...{ userId: user?.id ?? userId, team, collection, recordId, type, outcome, clientName },
    action: action === undefined ? undefined : toOwnName(action),
    times: parseInstants(parameters, 'createdAt'),
  };
}

export const activityRoutes = [
  defineRoute({
    ...reading,
    path,
    id: 'listActivityLogs',
    summary: 'Activity log: reads and writes of data, newest first',
    query: { limit: integer(1, 100, 10), cursor: text(), details: oneOf('true', 'false'), ...filters },
    answers: activityListSchema,
    async handle({ path, query }, { store }) {
      const { limit = 10, cursor, details, ...sent } = query;
      const queryHash = hashQuery('activity', path, sent);
      const [at, id] = cursor === undefined ? [] : parseCursor(cursor, queryHash, 2);
      const after = at === undefined || id === undefined ? undefined : { at, id };
      const filter = await toFilter(sent, store);
      const found = filter ? await store.activity.search({ ...filter, limit: limit + 1, after }) : [];
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const body = {
        hasMore: last !== undefined,
        ...(last && { nextCursor: formatCursor([last.startedAt, last.id], queryHash) }),
        parameters: { ...path, limit, ...(details !== undefined && { details }), ...sent },
        data: page.map((entry) => showActivity(entry, path.environmentName!, details === 'true')),
      };
      return { status: 200, body };
    },
  }),
  defineRoute({
    ...reading,
    path: `${path}/export`,
    id: 'exportActivityLogs',
    summary: 'The activity log as a file, in the order of writing',
    query: { ...exportParameters, ...filters },
    streams: exportTypes,
    async handle({ path, query }, { store }) {
      const { format = 'ndjson', since = 0, ...sent } = query;
      const filter = await toFilter(sent, store);
      return exportLog({
        ...{ name: 'activity-logs', format, since, columns: activityColumns },
        until: filter ? await store.activity.newestId() : 0,
        scan: (from, until) => store.activity.walk({ ...filter, since: from, until }),
        toObject: (entry) => showActivity(entry, path.environmentName!, true),
      });
    },
  }),
];
