// Admin log endpoints: a filtered list, newest first, and a streamed export.
import type { AdminLogFilter } from '../../store/audit/log-types.ts';
import type { Store } from '../../store/store.ts';
import { formatCursor, hashQuery, parseCursor } from '../list.ts';
import { email, integer, oneOf, type ParameterValues, parseInstants, text, timeParameters } from '../parameters.ts';
import { defineRoute } from '../route.ts';
import { adminColumns, adminListSchema, changeTypes, initiators, resources, showChange } from './admin-log-schemas.ts';
import { exportLog, exportParameters, exportTypes } from './export.ts';

const path = '/v1/project/{projectName}/admin-logs';
const reading = { method: 'GET', scopes: ['admin_logs:read'], admin: true, status: 200 } as const;

const filters = {
  userEmail: email,
  userId: integer(1),
  type: oneOf(...changeTypes),
  initiator: oneOf(...initiators),
  resource: oneOf(...resources),
  ...timeParameters('createdAt'),
};

/** Returns undefined if no entry can match: the address is unknown or belongs to another user id. */
async function toFilter(
  parameters: ParameterValues<typeof filters>,
  { identity }: Pick<Store, 'identity'>,
): Promise<AdminLogFilter | undefined> {
  const { userEmail, userId, type, initiator, resource } = parameters;
  const user = userEmail === undefined ? undefined : await identity.findUserByEmail(userEmail);
  if (userEmail !== undefined && (!user || (userId !== undefined && userId !== user.id))) return undefined;
  return { userId: user?.id ?? userId, type, initiator, resource, times: parseInstants(parameters, 'createdAt') };
}

export const adminLogRoutes = [
  defineRoute({
    ...reading,
    path,
    id: 'listAdminLogs',
    summary: 'Admin log: changes to the project, newest first',
    query: { limit: integer(1, 100, 10), cursor: text(), ...filters },
    answers: adminListSchema,
    async handle({ path, query }, { store }) {
      const { limit = 10, cursor, ...sent } = query;
      const queryHash = hashQuery('admin', path, sent);
      const [at, id] = cursor === undefined ? [] : parseCursor(cursor, queryHash, 2);
      const after = at === undefined || id === undefined ? undefined : { at, id };
      const filter = await toFilter(sent, store);
      const found = filter ? await store.adminLog.search({ ...filter, limit: limit + 1, after }) : [];
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const body = {
        hasMore: last !== undefined,
        ...(last && { nextCursor: formatCursor([last.at, last.id], queryHash) }),
        parameters: { ...path, limit, ...sent },
        data: page.map(showChange),
      };
      return { status: 200, body };
    },
  }),
  defineRoute({
    ...reading,
    path: `${path}/export`,
    id: 'exportAdminLogs',
    summary: 'The admin log as a file, in the order of writing',
    query: { ...exportParameters, ...filters },
    streams: exportTypes,
    async handle({ query }, { store }) {
      const { format = 'ndjson', since = 0, ...sent } = query;
      const filter = await toFilter(sent, store);
      return exportLog({
        ...{ name: 'admin-logs', format, since, columns: adminColumns },
        until: filter ? await store.adminLog.newestId() : 0,
        scan: (from, until) => store.adminLog.walk({ ...filter, since: from, until }),
        toObject: showChange,
      });
    },
  }),
];
