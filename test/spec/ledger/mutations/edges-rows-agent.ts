// Mutations of library rows that no test detected before: invalid
// options, the second of two, 0 and empty, closed access.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of src
import type { Points } from '../mutations.ts';

export const edgesOfAgentRows: Points = {
  'src/agent/actions/bounds.ts': {
    '2.4 · widget · ColorPicker': [': /^#[0-9a-f]{6}$/i;', ': /^#?[0-9a-f]{6}$/i;'],
    '2.4 · widget · FilePicker': ['content.length > most * 1_000_000', 'content.length >= most * 1_000_000'],
  },
  'src/agent/actions/elements.ts': {
    '2.4 · label': ["if (typeof label !== 'string' || label === '')", "if (typeof label !== 'string')"],
    '2.4 · layout · Page': [
      ['if (pages > 0 && pages < elements.length)', 'if (false)'],
      ["if (parent === 'Page' && component === 'Page')", 'if (false)'],
    ],
    '2.4 · layout · Row': ["if (parent === 'Row') throw", 'if (false) throw'],
  },
  'src/agent/actions/values.ts': {
    '2.4 · type · Dateonly': ['readDay(given.trim())', 'readDay(given.trim().slice(0, 10))'],
    '2.4 · type · File': ["mimeType: mimeType || 'application/octet-stream',", 'mimeType,'],
    '2.4 · type · String': ['if (given.length > TEXT_LIMIT)', 'if (false)'],
    '2.4 · type · StringList': ['if (items.length > LIST_LIMIT)', 'if (false)'],
    '2.4 · type · Time': ['readTime(given.trim())', 'readTime(given)'],
  },
  'src/agent/customize/option-rows.ts': {
    '2.2 · exclude': ['exclude: names,', "exclude: { expected: 'x', accepts: Array.isArray },"],
    '2.2 · include': ['include: names,', "include: { expected: 'x', accepts: Array.isArray },"],
    '2.2 · rename': ['!Array.isArray(value) && isNameList(Object.values(value ?? {}))', '!Array.isArray(value)'],
  },
  'src/agent/agent.ts': {
    '2.2 · factory': [
      ["if (typeof factory !== 'function')\n", 'if (!factory)\n'],
      ["if (typeof (source as Partial<Source> | null | undefined)?.describe !== 'function')", 'if (!source)'],
      ['for (const { factory, options = {}, at } of this.#factories) {', 'for (const { factory, options = {}, at } of this.#factories.toReversed()) {'],
    ],
    '4.1 · use': ['plugin.customizeAgent(this, options)', 'plugin.customizeAgent(this, options ?? ({} as never))'],
  },
  'src/agent/charts/charts.ts': {
    '4.2 · Charts · addChart': ['if (results.has(result)) return result;', 'return result;'],
  },
  'src/agent/charts/builder.ts': {
    '4.3 · leaderboard': ['compareDecimals(decimal(b.value), decimal(a.value))', 'compareDecimals(decimal(b.value), decimal(a.value)) || (a.key < b.key ? -1 : 1)'],
    '4.3 · multipleTimeBased': ["if (list('multipleTimeBased', line.values, 'numbers').length !== dates.length)", "if (list('multipleTimeBased', line.values, 'numbers').length < dates.length)"],
  },
  'src/agent/customize/customizer.ts': {
    '2.6 · external · schema': ['schema === null || Object.keys(schema).length === 0', 'schema === null'],
    '4.2 · Actions · addAction': ["if (typeof definition !== 'object' || definition === null) refuse(at, `The action", 'if (definition === null) refuse(at, `The action'],
  },
  'src/agent/customize/flatten.ts': {
    '2.8 · flattenJsonColumn · columnType': ["columnType: [shape[0], shape[1], 'needed'],", "columnType: [shape[0], (value) => typeof value === 'object', 'needed'],"],
  },
  'src/agent/operations/hooks.ts': {
    '2.7 · hook type · Aggregate': ['const each = more.map((condition) =>', 'const each = more.slice(0, 1).map((condition) =>'],
    '4.2 · Hooks · addHook': [
      ["const writes = type !== 'List' && type !== 'Aggregate';", "const writes = type === 'Create';"],
      ['if (filter) resolveUnambiguous(view, filter, moment);', ''],
    ],
  },
  'src/agent/model/added.ts': {
    '2.5 · columnType': ["if (Array.isArray(given) && given.length === 1 && typeof given[0] === 'string')", "if (Array.isArray(given) && typeof given[0] === 'string')"],
    '2.5 · dependencies': ['via: Object.freeze([...via, ...(route?.via ?? [])]),', 'via: Object.freeze([...via]),'],
    '2.8 · flattenColumn · columnType': ["if (type === 'Binary' || type === 'Enum') failMisuse", "if (type === 'Enum') failMisuse"],
    '4.2 · Fields · importField': ['via.length > 0 || field.nullable, isReadOnly', 'field.nullable, isReadOnly'],
    '4.2 · Relations · addExternalRelation': ["return type === 'Enum' ? 'String' : type;", 'return type;'],
  },
  'src/agent/model/chosen-tables.ts': {
    '2.2 · exclude': ['...exclude, ...renames.keys()])', '...exclude.slice(0, 1), ...renames.keys()])'],
    '2.2 · include': [
      ['(!include || include.includes(name))', '(!include?.length || include.includes(name))'],
      ['for (const name of [...(include ?? []), ...exclude, ...renames.keys()])', 'for (const name of [...(include ?? []).slice(0, 1), ...exclude, ...renames.keys()])'],
    ],
    '2.2 · rename': ['...exclude, ...renames.keys()])', '...exclude, ...[...renames.keys()].slice(0, 1)])'],
  },
  'src/agent/model/build.ts': {
    '2.6 · many-to-one': ['if (draft.internalFields.has(declared.name))', 'if (false)'],
    '4.2 · Fields · removeField': ["return (\n    field.to.isPublished &&\n    (field.inverse ||", "return (\n    field.to.isPublished &&\n    (true ||"],
  },
  'src/agent/model/declared.ts': {
    '2.6 · many-to-one · foreignKeyTarget': [
      ['if (key && more.length === 0) return key;', 'if (key) return key;'],
      ['if (String(from.type) !== String(to.type))', "if (String(from.type) !== String(to.type) && to.type === 'Number')"],
    ],
    '2.6 · one-to-one': [
      ["if (kind === 'many') return relation;", 'return relation;'],
      ['warn(`${what}: it leads', 'void (`${what}: it leads'],
    ],
  },
  'src/agent/model/flatten.ts': {
    '2.8 · flattenColumn · columnName': ["if (customizations.added.has(field)) failMisuse(`'${column}'", "if (false) failMisuse(`'${column}'"],
    '2.8 · flattenColumn · columnType': ['if (columnType) return readShape(columnType, at);', 'if (columnType && !(stored as { shape?: unknown } | undefined)?.shape) return readShape(columnType, at);'],
    '2.8 · flattenColumn · include': ['all.indexOf(name) === index', 'true'],
    '2.8 · flattenColumn · readonly': ["if (!isReadOnly && (stored?.kind !== 'column' || stored.readOnly))", 'if (false)'],
    '2.8 · flattenJsonColumn · readonly': ["options.readonly ?? !(stored?.kind === 'column' && !stored.readOnly && !stored.computedFrom)", "options.readonly ?? !(stored?.kind === 'column')"],
    '2.8 · flattenRelation · include': [
      ['return [...stored, ...customizations.added.keys()].filter((name) => !customizations.removed.has(name));', 'return [...stored, ...customizations.added.keys()];'],
      ['return [...stored, ...customizations.added.keys()].filter', 'return [...stored].filter'],
    ],
    '2.8 · flattenRelation · relationName': ["if (customizations.added.has(name)) failMisuse(`'${relationName}'", "if (false) failMisuse(`'${relationName}'"],
  },
  'src/agent/model/operators.ts': {
    '4.2 · Filtering · replaceFieldOperator': ["return takes === 'expression' && typeof by === 'object' ? 'text' : takes;", 'return takes;'],
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Fields · removeField': ["      const renamed = [...customizations.renames].find(([, { to }]) => to === what.name)?.[0] ?? what.name;\n      customizations.removed.set", "      const renamed = what.name;\n      customizations.removed.set"],
    '4.2 · Fields · renameField': ["      const renamed = [...customizations.renames].find(([, { to }]) => to === what.name)?.[0] ?? what.name;\n      customizations.renames.set", "      const renamed = what.name;\n      customizations.renames.set"],
    '4.2 · Fields · setFieldNullable': [".filter(({ operator }) => operator !== 'Present'),", ".filter(({ operator }) => operator === 'Present'),"],
    '4.2 · Filtering · emulateFieldFiltering': ["if (what.kind === 'emulateOperator' && !what.operator) {\n        known.emulatedAt = at;\n        return;", "if (what.kind === 'emulateOperator' && !what.operator) {\n        known.replacements.clear();\n        known.emulatedAt = at;\n        return;"],
    '4.2 · Other · disableCount': ['customizations.countable = false;', 'customizations.countable = !customizations.countable;'],
    '4.2 · Search · replaceSearch': ["customizations.search = what.replace ? { replace: what.replace, at } : 'none';", "if (customizations.search === 'columns') customizations.search = what.replace ? { replace: what.replace, at } : 'none';"],
    '4.2 · Sorting · replaceFieldSorting': ["if (typeof by === 'object' && by.some((clause) => clause?.field === name))", "if (typeof by === 'object' && by[0]?.field === name)"],
  },
  'src/agent/operations/link.ts': {
    '2.6 · external': ['if (relation.recordsColumn)', 'if (false)'],
    '2.6 · one-to-many · originKey': [
      ['const where = and(keysFilter(place.target, keys), scoped, ...(isOn ? [] : related));', 'const where = and(keysFilter(place.target, keys), scoped);'],
      ['if (!isOn && nullable.length === 0)', 'if (false)'],
    ],
    '2.6 · one-to-one': ['if (!lowestBy) return relation;', 'return relation;'],
  },
  'src/agent/operations/link-pairs.ts': {
    '2.6 · many-to-many': [
      ['if (!through.collection.isPublished && !linkAccess.isInternal)', 'if (false)'],
      ['const missing = completed.filter((_, at) => !linked.has(recordKey(columns, records[at]!)));', 'const missing = completed;'],
      ["if (missing.length) fail('RECORD_NOT_FOUND', { collection: to.name, id: missing[0]!, missing });", ''],
    ],
    '2.6 · many-to-many · foreignKey': ['const missing = ids.filter((_, at) => !linked.has(recordKey(columns, records[at]!)));', 'const missing: string[] = [];'],
  },
  'src/agent/write/overrides.ts': {
    '4.2 · Overrides · overrideCreate': ['!Array.isArray(given) || given.length !== count) refuse(', '!Array.isArray(returnedRows)) refuse('],
  },
  'src/agent/execute/compute.ts': {
    '2.5 · defaultValue': ['ready.push(read(value ?? computedFrom.definition.defaultValue))', 'ready.push(value == null ? computedFrom.definition.defaultValue ?? null : read(value))'],
    '2.5 · dependencies': ["if (from.length === 1 && (typeof value === 'number' || (typeof value === 'string' && value[0] !== '[')))", "if (from.length === 1 && (typeof value === 'number' || typeof value === 'string'))"],
    '4.2 · Fields · addField': ['place === NO_POSITION ? null : ready[place]', 'place === NO_POSITION ? computedFrom.definition.defaultValue ?? null : ready[place]'],
  },
  'src/agent/execute/external.ts': {
    '2.6 · external': ["if (typeof each !== 'object' || each === null || Array.isArray(each))", "if (typeof each !== 'object' || each === null)"],
    '2.6 · external · schema': ['readComputedValue(given ?? null, column, refuse)', 'readComputedValue(given || null, column, refuse)'],
  },
  'src/agent/lower/search.ts': {
    '2.7 · filter · search': ['const LENGTH_LIMIT = 1_000;', 'const LENGTH_LIMIT = 10;'],
  },
  'src/agent/write/field-writers.ts': {
    '4.2 · Fields · replaceFieldWriting': ['if (patch === undefined || patch === null) return newDraft();', 'if (patch === undefined) return newDraft();'],
  },
  'src/agent/write/validation.ts': {
    '4.2 · Fields · addFieldValidation': [
      ["value === null\n      ? rule.operator === 'Present'", "value === null\n      ? false"],
      ["answer.takes === 'values' ? (checked as unknown[]).filter((item) => item !== null) : checked", 'checked'],
      ['(value as string).length > MAX_MATCHED_LENGTH', '(value as string).length > 100'],
    ],
  },
  'src/agent/artifacts/schema-file.ts': {
    '4.2 · Search · disableSearch': ["isSearchable: rules.search !== 'none',", "isSearchable: rules.search === 'columns',"],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · generateSchemaOnly': ['writeTypings(opened.model, { typingsPath, typingsMaxDepth }, observe);', 'writeTypings(opened.model, { typingsPath, typingsMaxDepth: 5 }, observe);'],
    '4.1 · mountAiMcpServer': ['if (this.#mcp && !this.#mounts.isMounted)', 'if (false)'],
    '4.1 · restart': ['return this.#engine.enqueue(() => this.#rebuild(at));', 'return this.#rebuild(at);'],
    '4.1 · start': ["      this.reopenBuilder();\n", ''],
    '4.1 · stop': [
      ["      await this.#engine.closePending();\n", ''],
      ["    await this.#engine.settled();\n", ''],
    ],
    '4.1 · updateTypesOnFileSystem': ["    } finally {\n      await closeSources(opened.sources);", "    } finally {"],
    '9 · generateSchemaOnly': ['if (typingsPath !== null) writeTypings(', 'if (false) writeTypings('],
  },
  'src/server/agent/options.ts': {
    '2.1 · authSecret': ['authSecret: secret,', "authSecret: { ...secret, accepts: (value) => typeof value === 'string' },"],
    '4.1 · createAgent': ['typingsMaxDepth: options.typingsMaxDepth ?? 5', 'typingsMaxDepth: settingValues.typingsMaxDepth ?? 1'],
    '4.1 · updateTypesOnFileSystem': ['typingsMaxDepth: { ...depth, required: true }', 'typingsMaxDepth: { ...depth }'],
  },
  'src/cli/cloud/folder.ts': {
    '4.6 · bootstrap': [
      ["['.env', describeEnvironment(parts, sources), 0o600]", "['.env', describeEnvironment(parts, sources)]"],
      ['SERVICE_CLOUD_SERVER=${quote(server)}', "SERVICE_CLOUD_SERVER=${quote('')}"],
    ],
  },
  'src/cli/cloud/sign-in.ts': {
    '4.6 · login': ['if (before) await revoke(server, before.refreshToken);', ''],
  },
  'src/cli/cloud/commands.ts': {
    '4.6 · bootstrap': [
      ['const folder = readName(name ?? defaultFolder);', 'const folder = readName(defaultFolder);'],
      ['const secret = envSecret ?? readEnvironment().SERVICE_ENV_SECRET;', 'const secret = readEnvironment().SERVICE_ENV_SECRET ?? envSecret;'],
    ],
    '4.6 · login': [
      ['if (!options.again && (await findTokens(server, true)))', 'if (await findTokens(server, true))'],
      ['return printLine(`The sign-in to', 'return printLine(`No sign-in to'],
    ],
    '4.6 · update-typings': [
      ['const isNew = replaceTypings(folder, structure, typings);', 'const isNew = (replaceTypings(folder, structure, typings), true);'],
      ["existsSync(join(folder, 'src', 'index.ts')) && existsSync", 'true || existsSync'],
    ],
  },
  'src/mcp/results/action-result.ts': {
    '4.4 · tool · executeAction': ['message: message.slice(0, MAX_MESSAGE_CHARACTERS),', 'message,'],
  },
  'src/mcp/results/form-result.ts': {
    '4.4 · tool · getActionForm': ['...(problems.length > 0 && {', '...(problems.length > 1 && {'],
  },
  'src/mcp/input/arguments.ts': {
    '4.4 · tool · create': ['if (key && key.length > MAX_KEY_CHARACTERS)', 'if (key && key.length > 2 * MAX_KEY_CHARACTERS)'],
    '4.4 · tool · list': ["direction.toLowerCase() !== 'desc'", "direction !== 'desc'"],
  },
  'src/mcp/tools/describe-collection.ts': {
    '4.4 · tool · describeCollection': [
      ['...(!searchable && { searchable }),', ''],
      ['...(!countable && { countable }),', ''],
      ["const values = field.enumValues ? `(${field.enumValues.join('|')})` : '';", "const values = field.enumValues ? `(${field.enumValues[0]})` : '';"],
      ["...(charts.length > 0 && { charts }),\n    ...(!searchable", '...(!searchable'],
      ["const granted = (['add', 'edit', 'delete'] as const)", "const granted = (['add', 'edit'] as const)"],
      ["const kind = collection.kind === 'view' ? ['view'] : [];", 'const kind: string[] = [];'],
    ],
  },
  'src/mcp/tools/get-action-form.ts': {
    '4.4 · tool · getActionForm': ['...(changed !== undefined && { changed })', ''],
  },
  'src/mcp/tools/listing.ts': {
    '4.4 · tool · list': [
      ['if (limit > pageSizeLimit) {', 'if (limit >= pageSizeLimit) {'],
      ["number: readCount(page.number, 'pagination.number') ?? 1,", "number: readCount(page.number, 'pagination.number', 0) ?? 1,"],
      ['...(args.timezone && { timezone: args.timezone }),', ''],
    ],
    '4.4 · tool · listRelated': ['reads.count(conditions, {', 'reads.count({ ...conditions, segment: undefined as never }, {'],
  },
  'src/testing/agent-client.ts': {
    '4.7 · createAgentTestClient': ["await connection.request('GET', '/authentication/session');", ''],
  },
  'src/testing/collections.ts': {
    '4.7 · createAgentTestClient': ['search: (text: string, options: QueryOptions = {}) => lister.list({ ...options, search: text })', 'search: (text: string) => lister.list({ search: text })'],
  },
  'src/testing/connection.ts': {
    '2.9 · agentUrl': ["redirect: 'manual',", "redirect: 'follow',"],
    '4.7 · createAgentTestClient': ['if (reply.status < 200 || reply.status > 299) throw', 'if (reply.status > 499) throw'],
  },
  'src/testing/options.ts': {
    '2.9 · agentUrl': [
      ["url.pathname.replace(/\\/+$/, '')", "url.pathname.replace(/\\/$/, '')"],
      ['/^https?:\\/\\//.test(value)', '/^http:\\/\\//.test(value)'],
    ],
    '2.9 · serverUrl': ["options.serverUrl.replace(/\\/+$/, '')", 'options.serverUrl'],
    '4.7 · createAgentTestClient': ["timezone: options.timezone ?? 'UTC'", "timezone: 'UTC'"],
  },
  'src/testing/sandbox.ts': {
    '2.9 · serverUrl': ['if (!isSandbox) {', 'if (false) {'],
    '4.7 · createForestServerSandbox': [
      ['port >= 0 && port <= 65_535', 'port >= 0 && port < 65_536 && port !== 65_535'],
      ['Number.isInteger(port) &&', ''],
      ['(port = 0): Promise<Sandbox>', '(port = 3001): Promise<Sandbox>'],
    ],
  },
}; // biome-ignore format: a table
