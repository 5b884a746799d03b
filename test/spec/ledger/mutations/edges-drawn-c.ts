// Random mutations of somebody who had not read the tests: 45 of 60 were noticed at first (bench/RESULTS.md).
import type { Points } from '../mutations.ts';

export const edgesDrawnC: Points = {
  'src/agent/actions/bounds.ts': {
    '2.4 · options': ['return itemsOf(value).find((item) => !options.some(', 'return itemsOf(value).slice(0, 1).find((item) => !options.some('],
    '2.4 · type · FileList': ['Math.min(number(maxItems) ?? Infinity, number(maxCount) ?? Infinity),', 'number(maxItems) ?? number(maxCount) ?? Infinity,'],
  },
  'src/agent/actions/catalogue.ts': {
    '2.1 · useUnsafeActionEndpoint': ['if (useUnsafeActionEndpoint && toSlug(other.name) === toSlug(name))', 'if (useUnsafeActionEndpoint && other.name.toLowerCase() === name.toLowerCase())'],
  },
  'src/agent/actions/form.ts': {
    '2.3 · context · formValues': ['filter(([, value]) => value !== undefined));', 'filter(([, value]) => value !== undefined && value !== null));'],
    '2.4 · isReadOnly': ['    if (!locked) {', '    if (!locked || submitted.get(id) === null) {'],
  },
  'src/agent/actions/present.ts': {
    '2.4 · value': ['const given = props.value ?? props.defaultValue;', 'const given = props.defaultValue ?? props.value;'],
  },
  'src/agent/actions/records.ts': {
    '2.3 · context · collection': [`    ...rest,
    ...(conditionTree && { conditionTree }),`, '    ...(conditionTree && { conditionTree }),'],
    'decisions · rights · an action under a condition of the role': ['if (failing.length === 0) return;', 'if (failing.length < selected.length) return;'],
  },
  'src/agent/actions/values.ts': {
    '2.4 · type · File': ["const name = parameters.find((parameter) => parameter.startsWith('name='))?.slice('name='.length);", "const name = parameters[0]?.startsWith('name=') ? parameters[0].slice('name='.length) : undefined;"],
  },
  'src/agent/ai/anthropic.ts': {
    'decisions · HTTP API · AI queries in the form of chat completions': [".filter(({ role }) => role === 'system' || role === 'developer')", ".filter(({ role }) => role === 'system')"],
  },
  'src/agent/artifacts/schema-file.ts': {
    '4.2 · Search · disableSearch': ["isSearchable: rules.search !== 'none',", 'isSearchable: rules.search !== null,'],
  },
  'src/agent/artifacts/typings.ts': {
    'decisions · HTTP API · typings stay small': ['counts[depth] = Math.min(total, PATHS_LIMIT + 1);', 'counts[depth] = Math.min(total, PATHS_LIMIT);'],
  },
  'src/agent/charts/charts.ts': {
    '4.2 · Charts · addChart': ['return run(entry, context, call.moment.zone);', 'return run(entry, context, access.caller.timezone);'],
  },
  'src/agent/live-engine.ts': {
    '4.1 · restart': ['this.#queue = next.catch(() => undefined);', 'this.#queue = next;'],
  },
  'src/agent/lower/calendar.ts': {
    '2.7 · operator · PreviousWeek': ['return day - ((date.getUTCDay() + 6) % 7) * DAY;', 'return day - (date.getUTCDay() - 1) * DAY;'],
  },
  'src/agent/lower/dates.ts': {
    '2.7 · operator · Yesterday': ['return { instant: new Date(startOfDay(day, zone)).toISOString(), day: formatDay(day) };', 'return { instant: new Date(day - offsetAt(zone, now)).toISOString(), day: formatDay(day) };'],
  },
  'src/agent/lower/filter.ts': {
    '4.2 · Filtering · replaceFieldOperator': ['activeReplacements: [...under, id] }, { what, at }, path.via),', 'activeReplacements: [...under, id] }, { what, at }, path.via.slice(-1)),'],
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Fields · setFieldNullable': ["        (customizations.validations.get(what.name) ?? []).filter(({ operator }) => operator !== 'Present'),", '        [],'],
    '4.2 · Fields · removeField': ['customizations.removed.set(renamed, at);', 'customizations.removed.set(what.name, at);'],
  },
  'src/agent/model/declared.ts': {
    '2.6 · many-to-one': ['inverse, reach: reachOf(home, to), enforced: false };', 'inverse, reach: reachOf(home, to), enforced: true };'],
  },
  'src/agent/model/flatten.ts': {
    '2.8 · flattenJsonColumn · columnType': ["const isObject = typeof type === 'object' && !Array.isArray(type);", "const isObject = typeof type === 'object';"],
    '2.8 · flattenColumn · include': ["const name = text.replaceAll(SEPARATOR, ':');", "const name = text.replace(SEPARATOR, ':');"],
  },
  'src/agent/model/operators.ts': {
    '2.7 · operator · Today': [`      test('LessThan', value(to(moment), type)),
    ),
  );
/** A period up to now`, `      test('LessThanOrEqual', value(to(moment), type)),
    ),
  );
/** A period up to now`],
    '2.7 · operator · After': ["toCondition: (given) => test('GreaterThan', given) }],", "toCondition: (given) => test('GreaterThanOrEqual', given) }],"],
    '2.7 · operator · Present': ["test('ShorterThan', 1));", "test('ShorterThan', 0));"],
  },
  'src/agent/operations/aggregate-hooks.ts': {
    '2.7 · hook type · Aggregate': ['      value: values[index],', '      value: values[index] ?? 0,'],
  },
  'src/agent/operations/call.ts': {
    '2.7 · caller · timezone': [`export function scopesOf({ ops, access, code }: Call): ScopeOf {
  const moment = createMoment(ops.clock.now(), zoneOf(access));`, 'export function scopesOf({ access, code, moment }: Call): ScopeOf {'],
  },
  'src/agent/operations/link-pairs.ts': {
    '2.6 · many-to-many · throughCollection': ['const missing = completed.filter((_, at) => !linked.has(recordKey(columns, records[at]!)));', 'const missing = linked.size > 0 ? [] : completed;'],
  },
  'src/agent/operations/set-relation.ts': {
    '2.6 · many-to-one · foreignKeyTarget': ['const columns = on.map((pair) => pathTo(to, [], pair.to));', 'const columns = to.key.map((column) => pathTo(to, [], column));'],
  },
  'src/agent/resolve/names.ts': {
    '4.2 · Sorting · disableFieldSorting': ['if (!path.field.sortable)', 'if (!path.field.sortable && path.via.length === 0)'],
  },
  'src/agent/resolve/visibility.ts': {
    '4.1 · removeCollection': ["if (relation.to.isPublished && (!access.can('browse', relation.to.name) || hasOnlyAggregates(relation.to)))", "if (!access.can('browse', relation.to.name) || hasOnlyAggregates(relation.to))"],
  },
  'src/agent/sources/evaluate.ts': {
    '2.7 · operator · NotContains': ["is === 'NotIn' || is === 'NotContains' || is === 'NotIContains';", "is === 'NotIn' || is === 'NotIContains';"],
  },
  'src/agent/sources/sql/statements/patterns.ts': {
    '2.7 · operator · Like': ["else if (char === '\\\\') found.push({ literal: pattern[++at] ?? '' });", "else if (char === '\\\\' && /[%_]/.test(pattern[at + 1] ?? '')) found.push({ literal: pattern[++at]! });"],
  },
  'src/agent/write/overrides.ts': {
    '4.2 · Overrides · overrideDelete': ["const conditions = isBranch(scope) && scope.aggregator === 'And' ? scope.conditions : [scope];", 'const conditions = isBranch(scope) ? scope.conditions : [scope];'],
  },
  'src/api/parameters.ts': {
    'api 4.1 · createdAt.eq': ['eq: ({ ms, next }) => ({ from: next, to: ms }),', 'eq: ({ ms }) => ({ from: ms, to: ms }),'],
    'decisions · public API · unknown parameters are 400 with their name': ['if (!Object.hasOwn(known, name)) {', 'if (!(name in known)) {'],
  },
  'src/api/router.ts': {
    'api 4.1 · environmentName': ['if (environmentName !== undefined && environmentName !== environment) {', 'if (environmentName !== undefined && environmentName.toLowerCase() !== environment.toLowerCase()) {'],
  },
  'src/http/error-reply.ts': {
    'decisions · HTTP API · errors as JSON everywhere': ['const error = reportFailure(observe, operation, toRequestError(thrown), requestId?.(res));', 'const error = reportFailure(observe, operation, thrown, requestId?.(res));'],
  },
  'src/mcp/results/list-result.ts': {
    'decisions · MCP · one text block of compact JSON within a budget': ['return render(answer, options, shown.slice(0, count), true, note);', 'return render(answer, options, shown.slice(0, count), answer.hasMore, note);'],
  },
  'src/mcp/webhook.ts': {
    'decisions · MCP · webhooks of actions are sent through the guard': ["redirect: 'manual',", "redirect: 'follow',"],
  },
  'src/oauth/consent/connection.ts': {
    'decisions · OAuth · connected apps': ['if (found.length >= limit || rows.length < Math.min(PAGE_SIZE, limit)) break;', 'if (found.length > 0 || rows.length < Math.min(PAGE_SIZE, limit)) break;'],
  },
  'src/oauth/server/authorization-request.ts': {
    '4.4 · endpoint · /oauth/authorize': ["const openidParameters = ['nonce', 'claims',", "const openidParameters = ['claims',"],
  },
  'src/oauth/server/authorization-server.ts': {
    '4.4 · endpoint · /oauth/token': ["form.get('grant_type') === 'authorization_code' && !form.get('redirect_uri')) {", "form.get('grant_type') === 'authorization_code') {"],
  },
  'src/oauth/server/paths.ts': {
    '4.4 · basePath · <prefix>/oauth/token': [`prefixes: prefixesOf(publicUrl, \`\${basePath}/oauth\`).prefixes,`, `prefixes: [...new Set([...prefixesOf(publicUrl, \`\${basePath}/oauth\`).prefixes, '/oauth'])],`],
  },
  'src/oauth/server/router.ts': {
    '7 · namespaces': ["allowMethods('GET', 'HEAD'));", "allowMethods('GET', 'HEAD', 'POST'));"],
  },
  'src/oauth/tokens/session-gate.ts': {
    'api 5 · expire': ['return { ...holder, expiresAt: expiresAt ?? Number.POSITIVE_INFINITY };', 'return { ...holder, expiresAt: Number.POSITIVE_INFINITY };'],
  },
  'src/rest/records/listing.ts': {
    '4.5 · collections': ['if (limit > pageSizeLimit)', 'if (limit >= pageSizeLimit)'],
  },
  'src/rest/records/related.ts': {
    'decisions · HTTP API · related records': ['const exists = row !== undefined && row[root.key[0]!] !== null;', 'const exists = row !== undefined;'],
  },
  'src/server/agent/config.ts': {
    'decisions · public API · in a host application it lies under the prefix': ['file: defaultsBelow(prefixOf({ code, env })) });', 'file: defaultsBelow(prefixOf({ code })) });'],
  },
  'src/server/agent/create-agent.ts': {
    '9 · generateSchemaOnly': ['if (typingsPath !== null) writeTypings(opened.model, {', 'if (typingsPath !== null && !this.#options.isProduction) writeTypings(opened.model, {'],
  },
  'src/server/agent/options.ts': {
    '2.1 · typingsMaxDepth': ['(value as number) <= 10,', '(value as number) < 10,'],
  },
  'src/store/notes/notes.ts': {
    'api 2.2 · updatedAt': ['await update(trx, row, { characters, updated_at: now });', 'await update(trx, row, { characters });'],
  },
  'src/store/notes/rows.ts': {
    'api 2.3 · Note message · user': [`const name = \`\${first_name ?? ''} \${last_name ?? ''}\`.trim();`, `const name = \`\${first_name ?? ''} \${last_name ?? ''}\`;`],
  },
  'src/store/oauth/tokens.ts': {
    'decisions · OAuth · token classes are kept apart': ['scopes.every((scope) => tokenScopes[one].includes(scope))', 'scopes.some((scope) => tokenScopes[one].includes(scope))'],
  },
  'src/store/permissions/roles.ts': {
    'decisions · start · one process serves one environment': ['requestedName === null ? (all.length === 1 ? all[0] : undefined) : all.find(', 'requestedName === null ? all[0] : all.find('],
  },
  'src/store/permissions/scopes.ts': {
    '2.7 · caller · lastName': ["if (value === undefined || value === '') return missing;", 'if (value === undefined) return missing;'],
  },
  'src/store/workflows/workflows.ts': {
    'decisions · workflows · a superseded address is 400 also when disabled': ['const isNew = regenerate === true || isFirst;', 'const isNew = (regenerate === true && Boolean(row.trigger_enabled)) || isFirst;'],
  },
  'src/testing/options.ts': {
    '2.9 · agentForestEnvSecret': ['if (one !== undefined && other !== undefined)', "if (what === 'Auth' && one !== undefined && other !== undefined)"],
  },
}; // biome-ignore format: a table
