// Mutations of public API rows that no test detected before: limits, blanks, removed users, each filter, each error.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of src
import type { Points } from '../mutations.ts';

export const edgesOfApiRows: Points = {
  'src/api/logs/activity-routes.ts': {
    'api 4.3 · activity-logs': [
      ['formatCursor([last.startedAt, last.id], queryHash)', 'formatCursor([last.startedAt, last.id + 1], queryHash)'],
      ["times: parseInstants(parameters, 'createdAt'),", ''],
      ['recordId, type, outcome, clientName }', 'recordId, type, clientName }'],
      ['userId: user?.id ?? userId, team,', 'userId: user?.id ?? userId,'],
    ],
  },
  'src/api/logs/activity-schemas.ts': {
    'api 2.6 · Activity log': [
      ['...(recordIds && { recordIds }),', 'recordIds: recordIds ?? [],'],
      ['collection !== undefined && { collection', '{ collection'],
      ["createdAt: showTime(startedAt),\n    user", "createdAt: showTime(startedAt + durationMs),\n    user"],
    ],
  },
  'src/api/logs/admin-log-routes.ts': {
    'api 4.3 · admin-logs': [
      ['limit: integer(1, 100, 10)', 'limit: integer(1, 100, 20)'],
      ["resource, times: parseInstants(parameters, 'createdAt') }", 'resource }'],
      ['userId: user?.id ?? userId, type', 'userId, type'],
      ['formatCursor([last.at, last.id], queryHash)', 'formatCursor([last.at, last.id + 1], queryHash)'],
    ],
  },
  'src/api/logs/admin-log-schemas.ts': {
    'api 2.6 · admin log': [
      ["...(previousValue && { previousValue: showValue(resource, previousValue) }),\n  };", "previousValue: previousValue ? showValue(resource, previousValue) : null,\n  };"],
      ['...(user && { user: showUser(user) }),', 'user: user ? showUser(user) : null,'],
    ],
  },
  'src/api/answer.ts': {
    'api 7.1 · 403': ["403: 'Forbidden',", ''],
    'api 7.2 · 4XX': [
      ["405: 'Method not allowed',", ''],
    ],
  },
  'src/api/router.ts': {
    'api 1 · paths name · project': ['if (projectName !== project)', 'if (projectName.trim() !== project)'],
  },
  'src/oauth/tokens/application-token.ts': {
    'api 2.5 · expiration date': ['!(token.expiresAt > clock.now())', '!(token.expiresAt >= clock.now())'],
  },
  'src/api/authentication.ts': {
    'api 5 · Bearer': ["(token === undefined) return refuse('The Authorization header", "(token === undefined && false) return refuse('The Authorization header"],
  },
  'src/api/notes/list.ts': {
    'api 2.1 · parameters': ['const { limit = 10, cursor, ...sent } = query;', 'const { limit = 10, ...parameters } = query; const { cursor } = query;'],
  },
  'src/api/notes/routes.ts': {
    'api 5 · scope · notes:write': ["const writing = { scopes: ['notes:write'], admin: true }", "const writing = { scopes: ['notes:write', 'workflows:trigger'], admin: true }"],
  },
  'src/api/notes/schemas.ts': {
    'api 2.2 · environment': ["environment: { object: 'environment', name: note.environment }", "environment: { object: 'environment', name: 'Production' }"],
    'api 2.3 · Environment · name': ["environment: { object: 'environment', name: note.environment }", "environment: { object: 'environment', name: 'Production' }"],
    'api 4.3 · notes': ['.refine((change) => Object.keys(change).length > 0', '.refine((change) => Object.keys(change).length >= 0'],
  },
  'src/api/parameters.ts': {
    'api 4.1 · archivedAt.lte': ['return Number.isNaN(time) ? undefined : time;', 'return time;'],
    'api 4.1 · createdAt.gte': ['gte: ({ next }) => ({ from: next })', 'gte: ({ ms }) => ({ from: ms })'],
    'api 4.1 · createdAt.lt': ['return Number.isNaN(time) ? undefined : time;', 'return time;'],
    'api 4.1 · createdAt.lte': ['lte: ({ ms }) => ({ to: ms })', 'lte: ({ next }) => ({ to: next })'],
    'api 4.1 · updatedAt.gt': ['gt: ({ ms }) => ({ from: ms + 1 })', 'gt: ({ next }) => ({ from: next + 1 })'],
  },
  'src/api/token-routes.ts': {
    'api 5 · level · read-only': ["  'workflows:trigger',\n  'all',\n", "  'all',\n"],
    'api 5 · revoked': ["if (!isRevoked) fail('NOT_FOUND', { path: `token ${tokenId}` });", ''],
  },
  'src/api/workflows/webhook.ts': {
    'api 4.2 · authority': ['const holder = await countFailures(failureLimiter, client, () => checkHolder(req.headers.authorization));', "const holder = await countFailures(failureLimiter, client, () => checkHolder(req.headers.authorization ?? `Bearer ${new URL(req.url ?? '/', 'http://x').searchParams.get('token')}`));"],
    'api 4.2 · record_id': ["argument: path.length > 0 ? path.join('.') : 'body'", "argument: 'body'"],
    "api 4.2 · the token's user": ["origin: 'webhook', clientId", "origin: 'mcp' as 'webhook', clientId"],
    'api 5 · webhook': ["scope === 'workflows:trigger' || scope === 'all'", "scope === 'workflows:trigger'"],
    'api 7.3 · 400': [
      ["argument: path.length > 0 ? path.join('.') : 'body'", "argument: path.join('.')"],
      ['if (!isKeyValid || trigger.version !== reference.version || trigger.keyId !== reference.keyId)', 'if (trigger.version !== reference.version)'],
    ],
    'api 7.3 · 403': [
      ["scope === 'workflows:trigger' || scope === 'all'", "scope !== 'notes:read'"],
      ['if (canSeeWorkflow(access, workflow)) return;', "if (canSeeWorkflow(access, workflow) || access.caller.permissionLevel === 'admin') return;"],
    ],
    'api 7.3 · 429': ['await calls.consume(workflow.id);', 'await calls.consume(workflow.id + holder.token.id);'],
    'api 8 · webhook rate': ['await calls.consume(workflow.id);', 'await calls.consume(workflow.id + reference.version);'],
  },
  'src/store/notes/rows.ts': {
    'api 2.2 · user': [
      ["email: email ?? ''", "email: email ?? 'gone'"],
      ['name || (email ?? `user ${user_id}`)', 'name'],
    ],
    'api 2.3 · User · email': ["email: email ?? ''", 'email: email!'],
    'api 2.3 · User · id': ['return { id: user_id,', 'return { id: email === null ? 0 : user_id,'],
    'api 2.3 · User · username': [
      ["const name = `${first_name ?? ''} ${last_name ?? ''}`.trim();", "const name = `${first_name ?? ''} ${last_name ?? ''}`;"],
      ['name || (email ?? `user ${user_id}`)', "name || ''"],
    ],
  },
  'src/store/notes/search.ts': {
    'api 2.2 · team': [
      ['coalesce(teams.name, notes.team_name) as team', 'notes.team_name as team'],
      ['coalesce(teams.name, notes.team_name) as team', 'teams.name as team'],
    ],
    'api 2.3 · Team · name': ['coalesce(teams.name, notes.team_name) as team', 'notes.team_name as team'],
    'api 4.1 · sorted by id descending': ["const page = found.select('environment_id', 'created_at').orderBy('created_at', 'desc')", "const page = found.select('environment_id', 'created_at').orderBy('created_at', 'asc')"],
  },
  'src/store/notes/notes.ts': {
    'api 2.2 · messages': ['withThreads(page)', 'withThreads(page.slice(0, 1)).then((one) => [...one, ...page.slice(1).map((row) => toNote(row, []))])'],
    'api 2.2 · title': ['title !== undefined && title !== row.title && { title }', 'title !== undefined && title.toLowerCase() !== row.title.toLowerCase() && { title }'],
    'api 2.2 · updatedAt': [
      ['if (Object.keys(values).length > 0) await', 'await'],
      ['if (message.content === content) return true;', ''],
    ],
  },
  'src/store/workflows/runs.ts': {
    'api 3.2 · active run': [
      ['activeKey(workflow.id, recordId)', 'activeKey(workflow.id, recordId + userId)'],
      ['activeKey(workflow.id, recordId)', 'activeKey(workflow.id + workflow.version, recordId)'],
    ],
  },
  'src/store/oauth/tokens.ts': {
    'api 2.5 · creation date': ['createdAt: Number(row.created_at),', 'createdAt: Number(row.last_used_at ?? row.created_at),'],
    'api 2.5 · last used': ["orWhere('last_used_at', '<', at)", "orWhere('last_used_at', '>', at)"],
    'api 2.5 · name': [
      ['const name = input.name.trim();', 'const name = input.name;'],
      ['name.length > MAX_NAME_LENGTH', 'name.length > 200'],
    ],
    'api 2.5 · project': ['.where({ token_hash: hash, project_id: projectId })', '.where({ token_hash: hash })'],
    'api 2.5 · scopes': [
      ['const scopes = [...new Set(input.scopes)];', 'const scopes = [...input.scopes];'],
      ['scopes.length > 0 && scopes.every((scope)', 'scopes.some((scope)'],
    ],
  },
  'src/workflows/triggers/trigger-address.ts': {
    'api 4.2 · {webhook_url}': ['/^(([\\w-]{16})\\.([\\w-]{20,400}))\\.([\\w-]{43})$/', '/^(([\\w-]{16})\\.([\\w-]{20,400}))\\.([\\w-]{43})/'],
  },
}; // biome-ignore format: a table
