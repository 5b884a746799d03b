// Random mutations that the tests of their rows did not detect at first (bench/RESULTS.md).
import type { Points } from '../mutations.ts';

export const edgesDrawn: Points = {
  'src/agent/actions/actions.ts': {
    '2.3 · execute': ['if (result === undefined || result === null) return builder.success();', 'if (result === undefined) return builder.success();'],
  },
  'src/agent/actions/bounds.ts': {
    '2.4 · type · StringList': ['if (value.length < fewest)', 'if (value.length < fewest - 1)'],
    '2.4 · type · Enum': ['find((item) => !known.includes(item as string))', 'find((item) => !known.some((each) => each.toLowerCase() === String(item).toLowerCase()))'],
    '2.4 · widget · Checkbox': ["value === undefined || value === null || value === '' ||", "value === undefined || value === null || value === '' || value === false ||"],
  },
  'src/agent/actions/elements.ts': {
    '2.4 · widget · Checkbox': ["Checkbox: { types: ['Boolean'], options: [] }", "Checkbox: { types: ['Boolean', 'String'], options: [] }"],
    '2.4 · options': ["if (typeof option === 'string' || typeof option === 'number') return {", "if (typeof option === 'string') return {"],
  },
  'src/agent/actions/present.ts': {
    '2.4 · description': ["description: typeof props.description === 'string' ? props.description : undefined,", 'description: props.description as string | undefined,'],
    '2.4 · widget · CurrencyInput': ['/^[A-Z]{3}$/', '/^[A-Z]{3}$/i'],
  },
  'src/agent/actions/records.ts': {
    '2.3 · context · getField': ['const value = record[name] ?? null;', 'const value = record[name] || null;'],
    '2.3 · context · getRecords': ['to[name] ??= {};', 'to[name] = {};'],
  },
  'src/agent/agent.ts': {
    '4.1 · addDataSource': ['await abandon(opened.map(([source]) => source));', ''],
  },
  'src/agent/charts/charts.ts': {
    '4.1 · addChart': ['if (other) refuse(', 'if (false) refuse('],
  },
  'src/agent/charts/builder.ts': {
    '4.3 · timeBased': ['if (value === null) sums[place] ??= null;', 'if (value === null) sums[place] = null;'],
  },
  'src/agent/operations/hooks.ts': {
    '4.2 · Hooks · addHook': ['for (const { handler, at } of hooks)', 'for (const { handler, at } of hooks.toReversed())'],
  },
  'src/agent/model/chosen-tables.ts': {
    'decisions · contract · two data sources with one name': ['if (sources.has(name)) return true;', 'if (sources.has(name) && !tables.some((each) => each.name === name && each.table.name !== name)) return true;'],
  },
  'src/agent/model/declared.ts': {
    '2.6 · many-to-one': ["return home.source === to.source ? 'join' : 'fetch';", "return 'join';"],
  },
  'src/agent/model/flatten.ts': {
    '2.8 · flattenJsonColumn · columnName': ["if (stored && stored.type !== 'Json')", "if (stored && stored.type === 'Point')"],
    '2.8 · flattenColumn · columnName': ['const added = customizations.added.get(columnName);', 'const added = undefined as ReturnType<typeof customizations.added.get>;'],
  },
  'src/agent/model/operators.ts': {
    'decisions · changes · calendar dates are never shifted': ["(type === 'Dateonly' ? edge.day : edge.instant)", "(type === 'Dateonly' ? edge.instant.slice(0, 10) : edge.instant)"],
    '2.7 · operator · Present': ["const empty = and(test('Equal', ''), test('ShorterThan', 1));", "const empty = test('Equal', '');"],
  },
  'src/agent/operations/link-pairs.ts': {
    '2.6 · many-to-many · originKeyTarget': ['if (missingValue)', 'if (false)'],
  },
  'src/agent/execute/compute.ts': {
    '2.5 · dependencies': ['return JSON.stringify(from.map((slot) => row[slot]));', 'return JSON.stringify(row[from[0]!]);'],
  },
  'src/agent/artifacts/schema-file.ts': {
    '4.2 · Sorting · disableFieldSorting': ['isSortable: column.sortable,', 'isSortable: true,'],
    '4.2 · Fields · replaceFieldBinaryMode': ['{ binaryMode: column.binary }', "{ binaryMode: 'hex' }"],
  },
  'src/agent/operations/segments.ts': {
    '4.2 · Segments · addSegment': ["if (typeof definition === 'function') continue;", 'if (definition) continue;'],
  },
  'src/agent/write/target.ts': {
    'decisions · changes · writes through relations': ['forCollection: (other) => createCallerWriter(access, viewOf(access, other), moment, verb, options),', 'forCollection: (other) => createCallerWriter(access, viewOf(access, other), moment, verb),'],
  },
  'src/api/logs/activity-routes.ts': {
    'api 4.3 · activity-logs': ['if (userEmail !== undefined && (!user || (userId !== undefined && userId !== user.id))) return undefined;', 'if (userEmail !== undefined && !user) return undefined;'],
  },
  'src/api/logs/activity-schemas.ts': {
    'api 2.6 · Activity log': ["user ?? { id: userId, name: '', email: '' }", "user ?? { id: 0, name: '', email: '' }"],
  },
  'src/api/logs/admin-log-routes.ts': {
    'api 4.3 · admin-logs': ['found.length > limit ?', 'user.length >= limit ?'],
    'api 5 · scope · admin_logs:read': ["scopes: ['admin_logs:read']", "scopes: ['admin_logs:read', 'activity_logs:read']"],
  },
  'src/api/router.ts': {
    'api 4.1 · projectName': ['if (projectName !== project)', 'if (!project.startsWith(projectName))'],
  },
  'src/api/authentication.ts': {
    'api 7.1 · 401': ['/^Bearer +(\\S{1,4096})$/i', '/^\\w+ +(\\S{1,4096})$/i'],
  },
  'src/api/notes/schemas.ts': {
    'api 2.3 · Collection · name': ['name: note.collection }', 'name: note.collection.toLowerCase() }'],
  },
  'src/api/parameters.ts': {
    'api 4.1 · createdAt.eq': ['eq: ({ ms, next }) => ({ from: next, to: ms })', 'eq: ({ ms, next }) => ({ from: next, to: ms + 1 })'],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · restart': ["if (!running || this.#state !== 'started')", "if (!running) return;\n    if (this.#state !== 'started')"],
    '2.1 · typingsPath': ['if (typingsPath !== null) writeTypings(', 'if (false) writeTypings('],
    '9 · generateSchemaOnly': ['this.#engine.closeLater(opened.sources);', 'await closeSources(opened.sources);'],
  },
  'src/server/environment.ts': {
    '2.1 · envSecret': ['const secretHash = sign(ENVIRONMENT, configuredSecret);', 'const secretHash = sign(ENVIRONMENT, configuredSecret.toLowerCase());'],
  },
  'src/core/config/exposure.ts': {
    'decisions · start · wide binding without https warns': ["!publicUrl?.startsWith('https:')", '!publicUrl'],
  },
  'src/core/observe.ts': {
    '2.1 · loggerLevel': ['index >= logLevels.indexOf(level)', 'index > logLevels.indexOf(level)'],
  },
  'src/mcp/visibility/visibility.ts': {
    'decisions · MCP · what one may not use is not shown': ["dissociate: someLink('delete')", "dissociate: someLink('add')"],
  },
  'src/mcp/tools/delete.ts': {
    '4.4 · tool · delete': ['writeOptions(call, dryRun)', 'writeOptions(call, false)'],
  },
  'src/mcp/tools/listing.ts': {
    '4.4 · tool · listRelated': ['reads.count(conditions, {', 'reads.count({}, {'],
  },
  'src/mcp/transport/json-rpc.ts': {
    'decisions · MCP · both generations of the protocol at one address': ['if (version !== undefined && !legacyVersions.has(String(version))) return undefined;', ''],
  },
  'src/rest/ai-query.ts': {
    'decisions · HTTP API · AI queries in the form of chat completions': ['if (model !== undefined && model !== ai.model)', 'if (false)'],
  },
  'src/rest/charts/statistics.ts': {
    'decisions · HTTP API · statistics and charts': ['  value: await measure(chart, call, filterOf(chart, call).filter),', '  value: await measure(chart, call, undefined),'],
  },
  'src/store/notes/search.ts': {
    'api 2.1 · hasMore': ['knex(some.limit(2 * maxRows).as', 'knex(some.limit(search.limit).as'],
  },
  'src/store/notes/notes.ts': {
    'api 2.2 · archivedAt': ['...(archived === false && row.archived_at !== null && { archived_at: null }),', ''],
  },
  'src/store/workflows/runs.ts': {
    'api 8 · active runs': ['hashToken(JSON.stringify([workflowId, recordId]))', 'hashToken(JSON.stringify([workflowId]))'],
  },
  'src/store/oauth/tokens.ts': {
    'api 2.5 · expiration date': ['if (expiresAt !== null && !(expiresAt > now))', 'if (false)'],
    'api 2.5 · value': ['const secret = PREFIX + randomToken();', 'const secret = PREFIX + hashToken(token.name);'],
  },
  'src/testing/options.ts': {
    '4.7 · createAgentTestClient': ["url.origin + (path === '' ? defaultPrefix : path)", 'url.origin + defaultPrefix'],
  },
}; // biome-ignore format: a table
