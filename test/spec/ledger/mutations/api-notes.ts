// Mutations for notes, logs and errors of the public API.
import type { Points } from '../mutations.ts';

/** One function compares all three times. */
const comparing = (comparison: string, point: readonly [text: string, into: string]) =>
  Object.fromEntries(
    ['createdAt', 'updatedAt', 'archivedAt'].map((time) => [`api 4.1 · ${time}.${comparison}`, point] as const),
  );

export const apiNotes: Points = {
  'src/api/notes/list.ts': {
    'api 2.1 · hasMore': ['hasMore: next !== undefined', 'hasMore: false'],
    'api 2.1 · parameters': ['parameters: { ...path, limit, ...sent }', 'parameters: {}'],
    'api 2.1 · data': ['data: notes.map(showNote)', 'data: notes.map(showNote).reverse()'],
    'api 4.1 · limit': ['limit: integer(1, 100, 10)', 'limit: integer(1, 101, 10)'],
    'api 8 · limit query parameter': ['limit: integer(1, 100, 10)', 'limit: integer(1, 1000, 10)'],
    'api 4.1 · userEmail': ['...(userEmail !== undefined && { userEmail }),', ''],
    'api 4.1 · userId': ['...(userId !== undefined && { userId }),', ''],
    'api 4.1 · teamName': ['...(teamName !== undefined && { teamName }),', ''],
    'api 4.1 · collectionName': ['...(collectionName !== undefined && { collection: collectionName }),', ''],
    'api 4.1 · recordId': ['...(recordId !== undefined && { recordId }),', ''],
  },
  'src/api/notes/schemas.ts': {
    'api 2.2 · object': ["object: 'note',", "object: 'notes',"],
    'api 2.2 · id': ['id: note.id,', 'id: -note.id,'],
    'api 2.2 · title': ['title: note.title,', "title: '',"],
    'api 2.2 · recordId': ['recordId: note.recordId,', "recordId: '',"],
    'api 2.2 · createdAt': ['createdAt: showTime(note.createdAt)', 'createdAt: showTime(0)'],
    'api 2.2 · updatedAt': ['updatedAt: showTime(note.updatedAt)', 'updatedAt: showTime(note.createdAt)'],
    'api 2.2 · archivedAt': ['...(note.archivedAt !== null && { archivedAt: showTime(note.archivedAt) }),', ''],
    'api 3.3 · archivedAt': ['...(note.archivedAt !== null && { archivedAt: showTime(note.archivedAt) }),', ''],
    'api 2.2 · user': ['user: showUser(note.user),', 'user: showUser({ ...note.user, email: note.title }),'],
    'api 2.2 · environment': ['name: note.environment }', "name: '' }"],
    'api 2.2 · team': ['name: note.team }', "name: '' }"],
    'api 2.2 · collection': ['name: note.collection }', "name: '' }"],
    'api 2.2 · messages': ['messages: note.messages.map(showMessage)', 'messages: []'],
    'api 2.3 · Environment · object': ["{ object: 'environment', name: note", "{ object: 'place', name: note"],
    'api 2.3 · Environment · name': ['name: note.environment }', "name: '' }"],
    'api 2.3 · Team · object': ["{ object: 'team', name: note", "{ object: 'teams', name: note"],
    'api 2.3 · Team · name': ['name: note.team }', "name: '' }"],
    'api 2.3 · Collection · object': ["{ object: 'collection', name: note", "{ object: 'table', name: note"],
    'api 2.3 · Collection · name': ['name: note.collection }', "name: '' }"],
    'api 2.3 · Note message · object': ["object: 'note-message',", "object: 'message',"],
    'api 2.3 · Note message · content': ['  content,\n  createdAt', "  content: '',\n  createdAt"],
    'api 2.3 · Note message · createdAt': ['createdAt: showTime(createdAt)', 'createdAt: showTime(0)'],
    'api 2.3 · Note message · user': ['user: showUser(user)', 'user: showUser({ ...user, id: 0 })'],
  },
  'src/api/schemas.ts': {
    'api 2.3 · User · object': ["{ object: 'user', id: user.id", "{ object: 'person', id: user.id"],
    'api 2.3 · User · id': ['id: user.id', 'id: 0'],
    'api 2.3 · User · username': ['username: user.name', "username: ''"],
    'api 2.3 · User · email': ['email: user.email', "email: ''"],
  },
  'src/api/parameters.ts': {
    ...comparing('eq', ['eq: ({ ms, next }) => ({ from: next, to: ms })', 'eq: ({ next }) => ({ from: next })']),
    ...comparing('lt', ['lt: ({ next }) => ({ to: next - 1 })', 'lt: ({ next }) => ({ to: next })']),
    ...comparing('lte', ['lte: ({ ms }) => ({ to: ms })', 'lte: ({ ms }) => ({ to: ms - 1 })']),
    ...comparing('gt', ['gt: ({ ms }) => ({ from: ms + 1 })', 'gt: ({ ms }) => ({ from: ms })']),
    ...comparing('gte', ['gte: ({ next }) => ({ from: next })', 'gte: ({ next }) => ({ from: next + 1 })']),
  },
  'src/store/notes/search.ts': {
    'api 4.1 · sorted by id descending': [
      ".orderBy('notes.created_at', 'desc')",
      ".orderBy('notes.created_at', 'asc')",
    ],
  },
  'src/api/notes/routes.ts': {
    'api 4.1 · Admin role': ["scopes: ['notes:read'], admin: true", "scopes: ['notes:read'], admin: false"],
    'api 4.3 · notes': ["method: 'POST',\n    path: notesPath,", "method: 'POST',\n    path: '/v1/elsewhere',"],
  },
  'src/api/logs/activity-routes.ts': {
    'api 4.3 · activity-logs': ['{environmentName}/activity-logs', '{environmentName}/activities'],
  },
  'src/api/logs/admin-log-routes.ts': {
    'api 4.3 · admin-logs': ['{projectName}/admin-logs', '{projectName}/changes'],
  },
  'src/api/logs/activity-schemas.ts': {
    'api 2.6 · Activity log': ["object: 'activityLog',", "object: 'activity',"],
  },
  'src/api/logs/admin-log-schemas.ts': {
    'api 2.6 · admin log': ["object: 'adminLog',", "object: 'change',"],
  },
  'src/api/router.ts': {
    'api 4.1 · projectName': [
      'if (projectName !== project)',
      'if (projectName.toLowerCase() !== project.toLowerCase())',
    ],
    'api 4.1 · environmentName': [
      'environmentName !== environment)',
      'environmentName.toLowerCase() !== environment.toLowerCase())',
    ],
    'api 8 · public API rate': ["res.setHeader('X-RateLimit-Remaining'", "res.setHeader('X-RateLimit-Left'"],
  },
  'src/api/answer.ts': {
    'api 7.1 · 401': ["'Refused' : 'Failed'), message, code", "'Refused' : 'Failed'), code"],
    'api 7.1 · 403': ["'Refused' : 'Failed'), message, code", "'Refused' : 'Failed'), code"],
    'api 7.2 · 4XX': ["'Refused' : 'Failed'), message, code", "'Refused' : 'Failed'), message"],
    'api 7.2 · 5XX': ["'Refused' : 'Failed'), message, code", "'Refused' : 'Failed'), message"],
  },
  'src/oauth/tokens/application-token.ts': {
    'api 7.1 · An expired token': ['The token has expired. ', ''],
  },
  'src/api/paths.ts': {
    'api 9 · Public API paths': ['/v1`);', '/v2`);'],
  },
  'src/http/error-reply.ts': {
    'api 7.2 · 429': ["res.setHeader('Retry-After'", "res.setHeader('X-Retry-After'"],
    'api 7.2 · 4XX': ["error.details.allow.join(', ')", 'error.details.allow[0]!'],
  },
};
