// Mutations for edge cases of charts, tools, data routes and the public API: the feature exists, but differs from the
// specification.
import type { Points } from '../mutations.ts';

export const edgesOfTools: Points = {
  'src/agent/charts/builder.ts': {
    '4.3 · value': [
      ['previousValue === undefined || previousValue === null', '!previousValue'],
      ["countPrevious: number('value', previousValue)", "countPrevious: number('value', value)"],
    ],
    '4.3 · distribution': ['Object.entries(values).map(([key, value])', 'Object.entries(values).sort().map(([key, value])'],
    '4.3 · timeBased': [
      ['labels.push(range.label(start)) - 1', 'labels.push(range.label(start))'],
      ['readLocal(text, timezone, false)', "readLocal(text, 'UTC', false)"],
      ['offsets: zoneOffsets(timezone)', "offsets: zoneOffsets('UTC')"],
    ],
    '4.3 · objective': ["value: number('objective', value)", "value: number('objective', objective)"],
    '4.3 · leaderboard': ['compareDecimals(decimal(b.value), decimal(a.value))', 'Number(b.value) - Number(a.value)'],
    '4.3 · smart': ['checkJson(data, []);', ''],
    '4.3 · percentage': ["percentage: (value) => number('percentage', value)", "percentage: (value) => Math.round(Number(number('percentage', value)))"],
  },
  'src/mcp/results/chart-result.ts': {
    '4.3 · value': ['return { value: result.countCurrent, previous: result.countPrevious };', 'return { value: result.countCurrent };'],
    '4.3 · multipleTimeBased': ['values[at]', 'values[at] ?? 0'],
    '4.3 · distribution': ["columns: ['key', 'value'], rows", "columns: ['value', 'key'], rows"],
  },
  'src/mcp/tools/listing.ts': {
    '4.4 · tool · list': [
      ['const skip = args.cursor ? 0 : (args.number - 1) * limit', 'const skip = args.cursor ? 0 : args.number * limit'],
      ['...(args.segment !== undefined && { segment: args.segment }),', ''],
      ['...(args.search && { search: args.search }),', ''],
    ],
    '4.4 · tool · listRelated': [
      ['...(args.sort && { sort: args.sort }),', ''],
      ['...(args.cursor && { cursor: args.cursor }),', ''],
    ],
  },
  'src/mcp/tools/list-related.ts': {
    '4.4 · tool · listRelated': ['engine.countRelated(access, { ...request, collection, relation, id }, options)', 'engine.count(access, { ...request, collection }, options)'],
  },
  'src/mcp/tools/describe-collection.ts': {
    '4.4 · tool · describeCollection': [
      ["field.nullable ? '?' : field.required ? '!' : ''", "field.required ? '!' : ''"],
      ['key: key.length === 1 ? key[0] : key,', 'key: key[0],'],
      ['...(segments.length > 0 && { segments: namedTexts(segments, hasMeanings) }),', ''],
    ],
  },
  'src/mcp/input/record-ids.ts': {
    '4.4 · tool · dissociate': ['const ids: readonly unknown[] = Array.isArray(value) ? value : [value];', 'const ids: readonly unknown[] = Array.isArray(value) ? value.slice(0, 1) : [value];'],
    '4.4 · tool · associate': ['const ids: readonly unknown[] = Array.isArray(value) ? value : [value];', 'const ids: readonly unknown[] = Array.isArray(value) ? value.slice(-1) : [value];'],
  },
  'src/mcp/results/write-result.ts': {
    '4.4 · tool · create': ['rows: records.slice(0, max)', 'rows: records.slice(0, 1)'],
    '4.4 · tool · update': ['    ids: ids.slice(0, max),', '    ids: ids.slice(0, 1),'],
  },
  'src/mcp/results/list-result.ts': {
    '4.4 · tool · list': ['const cursor = hasMore && items.length > 0', 'const cursor = items.length > 0'],
  },
  'src/mcp/results/form-result.ts': {
    '4.4 · tool · getActionForm': ['...(missing.length > 0 && { missing }),', ''],
  },
  'src/mcp/tools/execute-action.ts': {
    '4.4 · tool · executeAction': ['...(records !== null && { records }),', ''],
  },
  'src/api/notes/list.ts': {
    'api 2.1 · hasMore': ['hasMore: next !== undefined', 'hasMore: notes.length === limit'],
    'api 2.1 · parameters': ['parameters: { ...path, limit, ...sent }', 'parameters: { ...path, limit }'],
    'api 4.1 · archivedAt.gte': ["parseInstants(parameters, 'archivedAt')", "parseInstants(parameters, 'updatedAt')"],
    'api 4.1 · updatedAt.lte': ["parseInstants(parameters, 'updatedAt')", "parseInstants(parameters, 'createdAt')"],
    'api 4.1 · createdAt.gt': ["parseInstants(parameters, 'createdAt')", "parseInstants(parameters, 'updatedAt')"],
  },
  'src/api/parameters.ts': {
    'api 4.1 · createdAt.lt': ['T00:00Z`', 'T00:00+09:00`'],
    'api 4.1 · updatedAt.gte': ['Math.max(...lowerBounds)', 'Math.min(...lowerBounds)'],
    'api 4.1 · createdAt.gt': ['Math.min(...upperBounds)', 'Math.max(...upperBounds) + 9e15'],
    'api 4.1 · limit': ['/^(0|[1-9]\\d{0,9})$/', '/^\\d{1,10}$/'],
  },
  'src/store/notes/search.ts': {
    'api 4.1 · userId': ["for (const userId of userIds) found.where('user_id', userId);", "if (userIds.length > 0) found.whereIn('user_id', userIds);"],
    'api 2.1 · data': ["    .orderBy('notes.created_at', 'desc');", "    .orderBy('notes.updated_at', 'desc');"],
  },
  'src/api/notes/schemas.ts': {
    'api 2.2 · createdAt': ['createdAt: showTime(note.createdAt)', 'createdAt: showTime(note.updatedAt)'],
    'api 2.2 · archivedAt': ['{ archivedAt: showTime(note.archivedAt) }', '{ archivedAt: showTime(note.createdAt) }'],
    'api 2.2 · messages': ['messages: note.messages.map(showMessage)', 'messages: note.messages.toReversed().map(showMessage)'],
    'api 2.3 · Note message · user': ['messages: note.messages.map(showMessage)', 'messages: note.messages.map((each) => showMessage({ ...each, user: note.user }))'],
    'api 2.3 · Note message · createdAt': ['messages: note.messages.map(showMessage)', 'messages: note.messages.map((each) => showMessage({ ...each, createdAt: note.createdAt }))'],
  },
  'src/store/notes/rows.ts': {
    'api 2.3 · User · username': ["first_name ?? ''} ", "''} "],
  },
  'src/api/workflows/webhook.ts': {
    'api 7.3 · 404': ['if (!found || found.renderingId !== reference.renderingId) {', 'if (found === null) {'],
  },
  'src/oauth/tokens/application-token.ts': {
    'api 7.3 · 401': ['if (token.expiresAt !== null && !(token.expiresAt > clock.now())) {', 'if (false) {'],
  },
  'src/api/router.ts': {
    'api 8 · public API rate': ["res.setHeader('X-RateLimit-Reset'", "res.setHeader('X-RateLimit-Until'"],
  },
}; // biome-ignore format: a table
