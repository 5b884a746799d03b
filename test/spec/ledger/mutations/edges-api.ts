// Mutations for edge cases of the public API: the feature exists, but differs from the specification.
import type { Points } from '../mutations.ts';

export const edgesOfApi: Points = {
  'src/store/notes/search.ts': {
    'api 4.1 · teamName': ['.where({ name: team })', ".whereRaw('lower(name) = ?', [team.toLowerCase()])"],
    'api 4.1 · recordId': ["same('record_id', recordId)", "found.where('record_id', 'like', recordId.concat('%'))"],
    'api 4.1 · userEmail': ['.where({ email: fold(userEmail) })', '.where({ email: userEmail })'],
    'api 4.1 · userId': [
      "for (const userId of userIds) found.where('user_id', userId);",
      "if (userIds[0] !== undefined) found.where('user_id', userIds.at(-1));",
    ],
    'api 4.1 · archivedAt.gte': ['createdAt?.from !== undefined', 'createdAt?.from !== undefined && !archivedAt'],
    'api 2.1 · hasMore': [
      'showPage(database, few ? few() : walk(database, environmentId, resolved), resolved.limit + 1)',
      'showPage(database, few ? few() : walk(database, environmentId, search), search.limit)',
    ],
  },
  'src/api/parameters.ts': {
    'api 4.1 · createdAt.eq': [
      'eq: ({ ms, next }) => ({ from: next, to: ms })',
      'eq: ({ ms }) => ({ from: ms, to: ms })',
    ],
    'api 4.1 · updatedAt.lt': ['lt: ({ next }) => ({ to: next - 1 })', 'lt: ({ ms }) => ({ to: ms - 1 })'],
    'api 4.1 · archivedAt.gt': ['const form = text.toUpperCase();', 'const form = text.toUpperCase().slice(0, 23);'],
    'api 4.1 · createdAt.gte': ['{ from: Math.max(...lowerBounds) }', '{ from: lowerBounds[0]! }'],
    'api 4.1 · createdAt.lte': ['{ to: Math.min(...upperBounds) }', '{ to: upperBounds[0]! }'],
  },
  'src/store/notes/notes.ts': {
    'api 2.2 · archivedAt': ['archived === true && row.archived_at === null', 'archived === true'],
    'api 2.2 · updatedAt': [
      'await update(trx, row, { ...values, updated_at: at })',
      'await update(trx, row, { ...values, ...(title !== undefined && { updated_at: at }) })',
    ],
  },
  'src/store/notes/rows.ts': {
    'api 2.3 · Note message · user': [".orderBy('note_messages.id')", ".orderBy('note_messages.id', 'desc')"],
  },
  'src/store/workflows/runs.ts': {
    'api 3.2 · queued': ["state: 'queued',\n    position: 0,", "state: 'running',\n    position: 0,"],
  },
  'src/api/router.ts': {
    'api 7.2 · 429': ['retryAfterSeconds: resetSeconds', 'retryAfterSeconds: 60'],
  },
  'src/api/answer.ts': {
    'api 7.2 · 4XX': ['message, code, ...retryPart }', 'message, ...(status !== 404 && { code }), ...retryPart }'],
  },
  'src/api/authentication.ts': {
    'api 5 · Bearer': ['(\\S{1,4096})$/i.exec', '(\\S{1,4096})$/.exec'],
  },
};
