// Mutations of the public API in states that no test had: archived notes, the third page, another environment, names
// of several words, runs of several origins.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of src
import type { Points } from '../mutations.ts';

export const edgesD: Points = {
  'src/store/notes/notes.ts': {
    'api 2.1 · hasMore': ['rows.length > filter.limit ? page.at(-1)', 'rows.length > filter.limit && filter.after === undefined ? page.at(-1)'],
    'api 3.3 · archivedAt': ['...(archived === true && row.archived_at === null && { archived_at: at }),', '...((archived ?? row.archived_at !== null) && { archived_at: at }),'],
  },
  'src/store/notes/search.ts': {
    'api 2.1 · data': ["'notes.environment_id': 'page.environment_id', ", ''],
    'api 4.1 · recordId': ["same('record_id', recordId)", "found.whereRaw('lower(record_id) = lower(?)', [recordId])"],
  },
  'src/api/notes/schemas.ts': {
    'api 2.2 · object': ["object: 'note',", "object: note.archivedAt === null ? 'note' : ('archived-note' as 'note'),"],
    'api 2.2 · id': ['id: note.id,', 'id: note.messages[0]?.id ?? note.id,'],
    'api 2.3 · Team · name': ['name: note.team }', "name: note.team.split(' ')[0]! }"],
    'api 2.3 · Team · object': ["team: { object: 'team', name", "team: { object: note.archivedAt ? ('teams' as 'team') : 'team', name"],
    'api 2.3 · Collection · object': ["{ collection: { object: 'collection', name", "{ collection: { object: note.archivedAt ? ('x' as 'collection') : 'collection', name"],
  },
  'src/api/notes/content.ts': {
    'api 2.2 · title': ['MAX_TITLE_LENGTH = 255', 'MAX_TITLE_LENGTH = 256'],
    'api 2.3 · Note message · content': ["  's',\n", ''],
  },
  'src/api/notes/writing.ts': {
    'api 2.2 · recordId': ['const recordId = packId(rows[0] ?? []);', 'const recordId = packId(rows[0] ?? []) && id;'],
    'api 2.3 · Collection · name': ['create({ title, collection, recordId', "create({ title, collection: collection.replaceAll('_', ' '), recordId"],
    'api 4.3 · notes': ["existing.user.id !== caller.id && caller.permissionLevel !== 'admin'", 'existing.user.id !== caller.id'],
  },
  'src/store/notes/rows.ts': {
    'api 2.2 · archivedAt': ['archivedAt: millis(row.archived_at),', 'archivedAt: row.archived_at === null ? null : Number(row.updated_at),'],
    'api 2.3 · User · email': ["email: email ?? '' }", "email: (email ?? '').replace(/\\+.*@/, '@') }"],
  },
  'src/store/oauth/tokens.ts': {
    'api 2.5 · name': ['/\\p{C}/u.test(name)', '/\\n/u.test(name)'],
    'api 2.5 · creation date': ['created_at: clock.now(),\n          expires_at', 'created_at: token.expiresAt ?? clock.now(),\n          expires_at'],
    'api 2.5 · scopes': ["scopes: token.scopes.join(' '),\n          created", "scopes: token.scopes.slice(0, 2).join(' '),\n          created"],
  },
  'src/api/logs/activity-schemas.ts': {
    'api 2.6 · Activity log': [
      ['name: team ?? removedTeam }', "name: team ?? '' }"],
      ['...(effects && { effects }),', ''],
    ],
  },
  'src/api/logs/admin-log-schemas.ts': {
    'api 2.6 · admin log': ['!contractResources.has(resource) && { details }', '{ details }'],
  },
  'src/workflows/triggers/trigger.ts': {
    'api 3.1 · an editor disables the trigger': ['const needsUrl = settings.isEnabled === true || settings.regenerate === true;', 'const needsUrl = settings.isEnabled !== undefined || settings.regenerate === true;'],
  },
  'src/store/workflows/runs.ts': {
    'api 3.2 · active run': ['hashToken(JSON.stringify([workflow.id, recordId]))', 'hashToken(JSON.stringify([workflow.id, recordId, run.origin]))'],
    'api 8 · active runs': ['hashToken(JSON.stringify([workflow.id, recordId]))', 'hashToken(JSON.stringify([workflow.id, recordId.slice(0, 1)]))'],
  },
  'src/api/notes/list.ts': {
    'api 4.1 · limit': ['const { limit = 10, cursor, ...sent } = query;', 'const { limit: asked = 10, cursor, ...sent } = query;\n  const limit = Math.min(asked, 50);'],
  },
  'src/api/parameters.ts': {
    'api 4.1 · limit': ['/^(0|[1-9]\\d{0,9})$/.test(text)', '/^\\s*(0|[1-9]\\d{0,9})$/.test(text)'],
    'api 4.1 · createdAt.eq': ["DateTime.fromISO(text, { zone: 'utc' })", 'DateTime.fromISO(text)'],
  },
  'src/api/authentication.ts': {
    'api 4.2 · authority': ["if (token.entrance !== 'api') return refuse", 'if (token.entrance === undefined) return refuse'],
  },
  'src/api/logs/activity-routes.ts': {
    'api 4.3 · activity-logs': ['...(details !== undefined && { details }), ', ''],
  },
  'src/api/logs/admin-log-routes.ts': {
    'api 4.3 · admin-logs': ['admin: true, status: 200', 'admin: false, status: 200'],
  },
  'src/api/endpoint.ts': {
    'api 5 · scope · all': ["!has('all') && !scopes.some(has)", "token.scopes[0] !== 'all' && !scopes.some(has)"],
    'api 5 · scope · activity_logs:read': ['!scopes.some(has)', '!scopes.includes(token.scopes.at(-1)!)'],
    'api 7.2 · 429': ['day: config.apiPerDay', 'day: config.apiPerHour * 24'],
    'api 1 · paths name · project': ['if (projectName !== project)', "if (projectName.replace('+', ' ') !== project)"],
  },
  'src/api/workflows/webhook.ts': {
    'api 5 · webhook': ["token.scopes.some((scope) => scope === 'workflows:trigger' || scope === 'all')", "['workflows:trigger', 'all'].includes(token.scopes[0]!)"],
  },
  'src/api/answer.ts': {
    'api 7.1 · 401': ["const errorParameter = authorization === undefined ? '' : ", "const errorParameter = !authorization?.startsWith('Bearer svc_') ? '' : "],
    'api 7.3 · 403': ["if (isAppError(error, 'DENIED')) {\n    res", "if (isAppError(error, 'UNAUTHENTICATED')) {\n    res"],
  },
  'src/api/paths.ts': {
    'api 9 · Public API paths': ['address: `${origin}${base}/v1`,', 'address: `${origin}${apiPath}/v1`,'],
  },
}; // biome-ignore format: a table
