// Mutations of somebody who had not read the tests, at further edges of rows that had only one mutation.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of src/ contain templates.
import type { Points } from '../mutations.ts';

export const edgesDrawnF: Points = {
  'src/agent/actions/actions.ts': {
    'decisions · MCP · what one may not use is not shown': ["engine.names().filter((name) => access.can('browse', name)),", 'engine.names(),'],
    '2.3 · context · caller': [[`const { caller } = access;
  const progress`, `const caller = { ...access.caller, tags: {} };
  const progress`], [`const { caller } = access;
  const progress`, `const { permissionLevel: _, ...caller } = access.caller;
  const progress`]],
  },
  'src/agent/actions/bounds.ts': {
    '2.4 · widget · TextInputList': ["items).size < items.length ? 'send each value once'", "items).size < items.length - 1 ? 'send each value once'"],
    '2.4 · widget · NumberInputList': ['return itemsOf(value).some((item) => isBefore(max, item))', 'return isBefore(max, itemsOf(value)[0])'],
  },
  'src/agent/actions/catalogue.ts': {
    '7 · useUnsafeActionEndpoint': ['useUnsafeActionEndpoint && toSlug(other.name) === toSlug(name)', 'toSlug(other.name) === toSlug(name)'],
  },
  'src/agent/actions/elements.ts': {
    '2.4 · widget': [[`  if (!types.includes(type))
`, `  if (false)
`], [`const options = [...(typeOptions[type] ?? []), ...(widget ? widgets[widget].options : [])];
  checkProps(props, [...commonOptions, ...options]`, `const options = [...(typeOptions[type] ?? []), ...(widget ? widgets[widget].options : [])];
  checkProps(props, [...commonOptions, ...options, 'placeholder']`]],
    '2.4 · widget · RadioGroup': [["RadioGroup: { types: ['String', 'Number'], options: ['options'] }", "RadioGroup: { types: ['String'], options: ['options'] }"], ["RadioGroup: { types: ['String', 'Number'], options: ['options'] }", "RadioGroup: { types: ['String', 'Number', 'Boolean'], options: ['options'] }"]],
    '2.4 · widget · TextInput': [["TextInput: { types: ['String'], options: ['placeholder'] }", "TextInput: { types: ['String', 'Number'], options: ['placeholder'] }"], ["TextInput: { types: ['String'], options: ['placeholder'] }", "TextInput: { types: ['String'], options: [] }"]],
    '2.4 · widget · TextArea': [["TextArea: { types: ['String'], options: ['placeholder', 'rows'] }", "TextArea: { types: ['String'], options: ['placeholder'] }"], ["TextArea: { types: ['String'], options: ['placeholder', 'rows'] }", "TextArea: { types: ['String', 'Json'], options: ['placeholder', 'rows'] }"]],
    '2.4 · widget · RichText': [["RichText: { types: ['String'], options: ['placeholder'] }", "RichText: { types: ['String'], options: [] }"], ["RichText: { types: ['String'], options: ['placeholder'] }", "RichText: { types: ['String', 'StringList'], options: ['placeholder'] }"]],
    '2.4 · widget · NumberInputList': ["options: ['placeholder', 'enableReorder', 'allowDuplicates', 'min', 'max', 'step'],", "options: ['placeholder', 'enableReorder', 'allowDuplicates', 'min', 'max'],"],
    '2.4 · widget · AddressAutocomplete': [["AddressAutocomplete: { types: ['String'], options: ['placeholder'] }", "AddressAutocomplete: { types: ['String'], options: [] }"], ["AddressAutocomplete: { types: ['String'], options: ['placeholder'] }", "AddressAutocomplete: { types: ['String', 'Json'], options: ['placeholder'] }"]],
    '2.4 · widget · UserDropdown': [["UserDropdown: { types: ['String', 'StringList'], options: ['placeholder'] }", "UserDropdown: { types: ['String'], options: ['placeholder'] }"], ["UserDropdown: { types: ['String', 'StringList'], options: ['placeholder'] }", "UserDropdown: { types: ['String', 'StringList'], options: [] }"]],
    '2.4 · widget · Dropdown': [["types: ['String', 'Number', 'Date', 'Dateonly', 'Time', 'StringList', 'NumberList'],", "types: ['String', 'Number', 'Date', 'Dateonly', 'StringList', 'NumberList'],"], ["types: ['String', 'Number', 'Date', 'Dateonly', 'Time', 'StringList', 'NumberList'],", "types: ['String', 'Number', 'Boolean', 'Date', 'Dateonly', 'Time', 'StringList', 'NumberList'],"]],
    '2.4 · search · disabled': ["oneOf(search, ['static', 'dynamic', 'disabled'], `", "oneOf(search, ['static', 'dynamic'], `"],
    '2.4 · widget · TextInputList': ["options: ['placeholder', 'enableReorder', 'allowEmptyValues', 'allowDuplicates'],", "options: ['placeholder', 'allowEmptyValues', 'allowDuplicates'],"],
  },
  'src/agent/actions/form.ts': {
    '2.4 · search · disabled': ["field.props.search !== 'static' && field.props.search !== 'dynamic'", 'field.props.search === undefined'],
  },
  'src/agent/actions/records.ts': {
    '2.3 · context · getRecordIds': [['(key.length === 1 ? key[0]! : packId(key))', '(key.length === 1 ? String(key[0]!) : packId(key))'], ['(key.length === 1 ? key[0]! : packId(key))', "(key.length === 1 ? key[0]! : key.join('|'))"], ['if (selected !== null) return batch(fields);', 'if (selected !== undefined) return batch(fields);']],
    '2.3 · context · getCompositeRecordIds': [[`return records.map((record) => keyOfRecord(columns, record));
  };`, `return records.map((record) => [...keyOfRecord(columns, record)].reverse());
  };`], [`return records.map((record) => keyOfRecord(columns, record));
  };`, `return records.map((record) => keyOfRecord(columns, record).map(String));
  };`]],
    '2.3 · context · getRecord': [['const getRecord = async (fields: readonly string[]) => single(await list(fields));', 'const getRecord = async (fields: readonly string[]) => single(await list(fields.slice(0, 1)));'], ["items[0] ?? fail('RECORD_NOT_FOUND', { collection: name, id: selected?.[0] ? packId(selected[0]) : '' })", 'items[0]!']],
    '2.3 · context · getCompositeRecordId': [['getCompositeRecordId: async () => single(await listIds()),', 'getCompositeRecordId: async () => [...single(await listIds())].reverse(),'], ['getCompositeRecordId: async () => single(await listIds()),', 'getCompositeRecordId: async () => [idOf(single(await listIds()))],']],
  },
  'src/agent/actions/values.ts': {
    '2.4 · type · Date': [['readInstant(text, zone, true)', 'readInstant(text, zone, false)'], ['given instanceof Date && !Number.isNaN(given.getTime()) ? given.toISOString() : given', 'given']],
  },
  'src/agent/agent.ts': {
    '7 · addAi': ['if (this.#ai) failMisuse(`', 'if (this.#ai && this.#ai.provider !== provider) failMisuse(`'],
  },
  'src/agent/charts/builder.ts': {
    'decisions · changes · calendar dates are never shifted': ['if (readDay(text)) return bucketOf(text, { unit })!;', ''],
    '2.7 · time range · Day': [["label: (start) => start.split('-').reverse().join('/') },", "label: (start) => start.split('-').join('/') },"], ['offsets: zoneOffsets(timezone) }', "offsets: zoneOffsets('UTC') }"]],
    '2.7 · time range · Quarter': [['`Q${monthOf(start) / 3 + 1}-${start.slice(0, 4)}`', '`Q${monthOf(start) / 3}-${start.slice(0, 4)}`'], ['`Q${monthOf(start) / 3 + 1}-${start.slice(0, 4)}`', '`Q${monthOf(start) / 3 + 1} ${start.slice(0, 4)}`']],
    '2.7 · time range · Year': [[`label: (start) => start.slice(0, 4) },
};`, `label: (start) => start.slice(2, 4) },
};`], ['offsets: zoneOffsets(timezone) }', "offsets: zoneOffsets('UTC') }"]],
  },
  'src/agent/customize/customizer.ts': {
    'decisions · HTTP API · unknown properties of definitions end the start': ["for (const clause of clauses) checkDefinition('sort', `replaceFieldSorting('${name}')`, clause, at);", ''],
    '4.2 · Relations · addOneToManyRelation': ["checkDefinition('oneToMany', `addOneToManyRelation('${name}')`, options, at);", ''],
    '4.2 · Relations · addOneToOneRelation': ["checkDefinition('oneToMany', `addOneToOneRelation('${name}')`, options, at);", ''],
    '4.2 · Other · use': ["requireFunction(plugin, 'The plugin', at);", ''],
    '4.2 · Other · chaining': [[`inner) => plugin(new CollectionCustomizer(this.name, inner), options));
    return this;`, `inner) => plugin(new CollectionCustomizer(this.name, inner), options));
    return undefined as never;`], ["return this.#add(at, { kind: 'external', name, definition });", "return this.#add(at, { kind: 'external', name, definition }) && (undefined as never);"], ["return this.#add(at, { kind: 'binaryMode', name, mode });", "return this.#add(at, { kind: 'binaryMode', name, mode }) && (undefined as never);"]],
    '4.2 · Relations · addManyToOneRelation': ["checkDefinition('manyToOne', `addManyToOneRelation('${name}')`, options, at);", ''],
  },
  'src/agent/customize/option-checks.ts': {
    'decisions · HTTP API · unknown properties of definitions end the start': ["return refuseOption(`${problem}. ${near.length ? `Near: ${near.join(', ')}` : `Known: ${known.join(', ')}`}`, at);", 'return refuseOption(problem, at);'],
  },
  'src/agent/customize/option-rows.ts': {
    'decisions · HTTP API · unknown properties of definitions end the start': [['  } else checkOptions(call, given, leaf, at);', '  }'], ['    for (const each of conditions) checkPlainFilter(call, each, at);', '']],
  },
  'src/agent/customize/recording.ts': {
    '4.2 · Other · use': [['for (const wait of this.#waits) await wait;', ''], ['return `${used}, by a plugin at ${at}`;', 'return at;'], [`    this.#entries.push(inner);
`, `    this.#entries.unshift(inner);
`]],
  },
  'src/agent/execute/computed-values.ts': {
    '2.5 · columnType · Uuid': ["Uuid: (value) => (typeof value === 'string' ? value.toLowerCase() : undefined),", 'Uuid: (value) => String(value).toLowerCase(),'],
  },
  'src/agent/lower/dates.ts': {
    '2.7 · operator · Past': ['day: formatDay(dayIn(zone, time)),', 'day: formatDay(dayOf(time)),'],
    '2.7 · operator · Future': ['day: formatDay(dayIn(zone, time)),', 'day: formatDay(dayOf(time)),'],
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Sorting · emulateFieldSorting': [["requireFirst(customizations.sorts.get(what.name), `sorting of '${what.name}'`);", ''], [`  for (const [name, { at, by }] of customizations.sorts) {
    requireColumn(name, at);`, `  for (const [name, { at, by }] of customizations.sorts) {
    requireField(name, at);`]],
  },
  'src/agent/model/declared.ts': {
    '4.2 · Relations · addManyToOneRelation': ['const target = onlyKeyColumn(to, declared.options.foreignKeyTarget, at);', 'const target = onlyKeyColumn(to, undefined, at);'],
    '4.2 · Relations · addManyToManyRelation': [['onlyKeyColumn(to, options?.foreignKeyTarget, at),', 'onlyKeyColumn(to, undefined, at),'], ['onlyKeyColumn(home, options?.originKeyTarget, at),', 'onlyKeyColumn(home, undefined, at),']],
    '4.2 · Relations · addOneToManyRelation': ['const from = onlyKeyColumn(home, declared.options?.originKeyTarget, at);', 'const from = onlyKeyColumn(home, undefined, at);'],
    '4.2 · Relations · addOneToOneRelation': ['return { ...relation, ...chooseLowest(home, relation, [origin, ...(only ? [only.column] : [])], declared, warn) };', 'return relation;'],
    '2.6 · one-to-many': [['const from = onlyKeyColumn(home, declared.options?.originKeyTarget, at);', 'const from = onlyKeyColumn(home, undefined, at);'], ['createRelation(kind, home, to, from, origin, true, at)', 'createRelation(kind, home, to, from, origin, false, at)']],
  },
  'src/agent/model/operators.ts': {
    'decisions · changes · calendar dates are never shifted': ["type === 'Dateonly' ? moment.startOf('day', 1).day : moment.now().instant", "type === 'Dateonly' ? moment.startOf('day', 0).day : moment.now().instant"],
    '2.7 · operator · Blank': ["toCondition: () => or(test('Missing'), empty) }", "toCondition: () => test('Missing') }"],
    '2.7 · operator · Before': ["rules: [{ needs: ['LessThan'], toCondition: (given) => test('LessThan', given) }],", "rules: [{ needs: ['LessThanOrEqual'], toCondition: (given) => test('LessThanOrEqual', given) }],"],
    '2.7 · operator · PreviousMonth': ["...previous('month', 'PreviousMonth'", "...previous('quarter', 'PreviousMonth'"],
    '2.7 · operator · PreviousQuarter': ["...previous('quarter', 'PreviousQuarter'", "...previous('month', 'PreviousQuarter'"],
    '2.7 · operator · PreviousYear': ["...previous('year', 'PreviousYear'", "...previous('quarter', 'PreviousYear'"],
    '2.7 · operator · Past': ["Past: relative(dated(['LessThan'], (_, moment, type) => test('LessThan', value(moment.now(), type)))),", "Past: relative(dated(['LessThanOrEqual'], (_, moment, type) => test('LessThanOrEqual', value(moment.now(), type)))),"],
    '2.7 · operator · Future': ["Future: relative(dated(['GreaterThan'], (_, moment, type) => test('GreaterThan', value(moment.now(), type)))),", "Future: relative(dated(['GreaterThanOrEqual'], (_, moment, type) => test('GreaterThanOrEqual', value(moment.now(), type)))),"],
    '2.7 · operator · LessThan': ["  LessThan: { takes: 'value', types: ordered },", "  LessThan: { takes: 'value', types: ['Number', 'Date', 'Dateonly', 'Time'] },"],
  },
  'src/agent/operations/call.ts': {
    'decisions · MCP · what one may not use is not shown': ['[...model.collections].filter(([, other]) => mayBrowse(access, other)).map(([other]) => other)', '[...model.collections].map(([other]) => other)'],
  },
  'src/agent/operations/context.ts': {
    '2.7 · caller · id': ['Object.freeze({ caller, timezone, collection, ai })', 'Object.freeze({ caller: { ...caller, id: String(caller.id) as never }, timezone, collection, ai })'],
    '2.7 · caller · team': ['Object.freeze({ caller, timezone, collection, ai })', 'Object.freeze({ caller: { ...caller, team: caller.team.toLowerCase() }, timezone, collection, ai })'],
    '2.7 · caller · role': ['Object.freeze({ caller, timezone, collection, ai })', 'Object.freeze({ caller: { ...caller, role: caller.role.toLowerCase() }, timezone, collection, ai })'],
  },
  'src/agent/operations/hooks.ts': {
    '2.7 · hook position · Before': [['const hooks = rules.hooks[position][type] as readonly Hook<HookContexts[P][T]>[];', "const hooks = (position === 'Before' ? rules.hooks[position][type].slice(0, 1) : rules.hooks[position][type]) as readonly Hook<HookContexts[P][T]>[];"], [`  for (const { handler, at } of hooks)
`, `  for (const { handler, at } of position === 'Before' ? [...hooks].reverse() : hooks)
`]],
  },
  'src/agent/operations/internal.ts': {
    '2.7 · filter · conditionTree': [['if (filter?.conditionTree || filter?.search || filter?.segment !== undefined) return conditionsOf(filter);', 'return conditionsOf(filter);'], ["problem: `send a condition for the records of '${name}'. For all of them: { conditionTree: { aggregator: 'And', conditions: [] } }.`,", "problem: 'send a condition.',"]],
  },
  'src/agent/operations/write.ts': {
    '2.7 · hook type · Update': ['const hookArguments = { filter: narrowing.filter(), patch, records: toInternalRecords(target, rows) };', 'const hookArguments = { filter: narrowing.filter(), patch, records: [] };'],
    '2.7 · hook type · Delete': [['const where = and(keysFilter(place.target, keys), scoped, narrowed);', 'const where = and(keysFilter(place.target, keys), scoped);'], ['const hookArguments = { ...restrictions.hookArguments, isPreview: options.preview ?? false };', 'const hookArguments = { ...restrictions.hookArguments, isPreview: false };']],
  },
  'src/agent/resolve/filter.ts': {
    '2.7 · condition · leaf': [['operatorsByFoldedName.get(fold(String(text))) ??', ''], ['const present = items.filter((item) => item !== null);', 'const present = items;']],
    '2.7 · condition · And': [['/^(and|or|not)$/i.exec', '/^(And|Or|Not)$/.exec'], ['const DEPTH_LIMIT = 32;', 'const DEPTH_LIMIT = 31;']],
    '2.7 · operator · Equal': [["return is === 'Equal' ? test('Missing') : not(test('Missing'));", "return is === 'Equal' ? never : not(test('Missing'));"], ["return is === 'Equal' ? test('Missing') : not(test('Missing'));", "return test('Missing');"]],
    '2.7 · operator · NotEqual': ["return is === 'Equal' ? test('Missing') : not(test('Missing'));", "return is === 'Equal' ? test('Missing') : always;"],
  },
  'src/agent/resolve/values.ts': {
    'decisions · changes · calendar dates are never shifted': ['readDay(withoutMidnight(given.trim()))', 'readDay(given.trim())'],
  },
  'src/agent/sources/evaluate.ts': {
    '2.7 · validation · LongerThan': ['return countCharacters(text) > (operand as number);', 'return countCharacters(text) >= (operand as number);'],
  },
  'src/agent/sources/sql/statements/patterns.ts': {
    '2.7 · operator · ILike': ['const forms = new Set([char, char.toLowerCase(), char.toUpperCase()]', 'const forms = new Set([char, /[a-z]/i.test(char) ? char.toLowerCase() : char, /[a-z]/i.test(char) ? char.toUpperCase() : char]'],
  },
  'src/agent/sources/sql/statements/terms.ts': {
    '2.7 · operator · LessThan': ["LessThan: compare('<'),", "LessThan: compare('<='),"],
    '2.7 · operator · Contains': ['{ sql: `instr(${text}, ?) > 0`, encode: String }', '{ sql: `instr(lower(${text}), lower(?)) > 0`, encode: String }'],
    '2.7 · operator · NotEqual': ["  NotEqual: 'Equal',", "  NotEqual: 'In',"],
  },
  'src/agent/write/cascades.ts': {
    'decisions · changes · cascades': [['if (count > limit)', 'if (false)'], ["access.can(isDelete ? 'delete' : 'edit', name)", "access.can('delete', name)"], ['isAllowed && fields.every((column) => isOpen(collection, column))', 'isAllowed'], ['if (seen.length < count) refuseHidden();', ''], ['if (!isInside) refuseHidden();', '']],
  },
  'src/agent/write/drafts.ts': {
    'decisions · MCP · what one may not use is not shown': ['[...visibility.fields(collection)].filter(([, field]) => visibility.canSee(collection, field))', '[...visibility.fields(collection)]'],
    'decisions · changes · writes through relations': ["return `nested writes to '${to.name}' are off. To link: list '${to.name}', then ${link}. To change it: update '${to.name}'.`;", "return `nested writes to '${to.name}' are off.`;"],
  },
  'src/agent/write/prepare.ts': {
    '2.7 · hook type · Update': [`    draft = readHookResult(site, patch, 'Update');
`, ''],
  },
  'src/agent/write/target.ts': {
    'decisions · changes · writes through relations': [['!options.onlyAllowedRelations || isWritten === true', 'true'], ["access.field(collection.name, column.name) === 'write' && (!column.route || canWrite(column.route));", "access.field(collection.name, column.name) === 'write';"], ["return !to.isPublished || !to.fields.has(field.name) || access.field(to.name, field.name) === 'write';", 'return true;']],
  },
  'src/agent/write/validation.ts': {
    '2.7 · validation · Present': ["const isMissing = isRequired || field.rules?.some(({ operator }) => operator === 'Present');", 'const isMissing = isRequired;'],
    '2.7 · validation · Like': ['Like: (value) => `send a string like ${JSON.stringify(value)}, where % is any string and _ is one character`', 'Like: (value) => `send a string like ${JSON.stringify(value)}`'],
    '2.7 · validation · Before': ['Before: (value) => `send a value before ${value}`', 'Before: (value) => `send a value after ${value}`'],
  },
  'src/api/answer.ts': {
    'api 4.2 · 409': ['status === 409 ? message : statusMeanings[status]', 'statusMeanings[status]'],
  },
  'src/api/authentication.ts': {
    'api 5 · SSO': ['sso: hasSso(config)', 'sso: false'],
  },
  'src/api/logs/activity-routes.ts': {
    'api 5 · scope · activity_logs:read': [["scopes: ['activity_logs:read']", "scopes: ['activity_logs:read', 'notes:read']"], ["scopes: ['activity_logs:read']", 'scopes: null']],
    'api 5 · Admin role': ["scopes: ['activity_logs:read'], admin: true", "scopes: ['activity_logs:read'], admin: false"],
  },
  'src/api/logs/admin-log-routes.ts': {
    'api 5 · Admin role': ["scopes: ['admin_logs:read'], admin: true", "scopes: ['admin_logs:read'], admin: false"],
  },
  'src/api/notes/list.ts': {
    'api 8 · limit query parameter': [['limit: integer(1, 100, 10)', 'limit: integer(0, 100, 10)'], ['limit: integer(1, 100, 10)', 'limit: integer(1, 99, 10)'], ['limit: integer(1, 100, 10)', 'limit: integer(1, 100, 20)'], ['limit: integer(1, 100, 10)', 'limit: integer(1, 101, 10)']],
    'api 4.1 · collectionName': [['{ collection: collectionName }', '{ collection: collectionName.toLowerCase() }'], ['collectionName: text(),', 'collectionName: text(20),']],
    'api 4.1 · archivedAt.eq': ["parseInstants(parameters, 'archivedAt')", "parseInstants(parameters, 'updatedAt')"],
  },
  'src/api/notes/routes.ts': {
    'api 5 · Admin role': ["if (caller.permissionLevel === 'admin') return;", 'return;'],
    'api 5 · scope · notes:read': [["scopes: ['notes:read']", "scopes: ['notes:read', 'notes:write']"], ["scopes: ['notes:read']", "scopes: ['notes:read', 'activity_logs:read']"], ["scopes: ['notes:write'], admin: true", "scopes: ['notes:write', 'notes:read'], admin: true"]],
  },
  'src/api/notes/schemas.ts': {
    'api 2.2 · collection': [["...(note.collection !== null && { collection: { object: 'collection', name: note.collection } }),", "collection: note.collection === null ? (null as never) : { object: 'collection', name: note.collection },"], ["...(note.collection !== null && { collection: { object: 'collection', name: note.collection } }),", "collection: { object: 'collection', name: note.collection ?? '' },"], ["{ object: 'collection', name: note.collection }", "{ object: 'collection', name: note.collection.toLowerCase() }"]],
    'api 2.3 · Team · object': ["team: { object: 'team', name: note.team }", 'team: { name: note.team } as never'],
    'api 2.3 · Collection · object': ["{ object: 'collection', name: note.collection }", '({ name: note.collection } as never)'],
    'api 3.3 · archivedAt': [['{ archivedAt: showTime(note.archivedAt) }', '{ archivedAt: showTime(note.updatedAt) }'], ['...(note.archivedAt !== null && { archivedAt: showTime(note.archivedAt) }),', 'archivedAt: note.archivedAt === null ? (null as never) : showTime(note.archivedAt),']],
  },
  'src/api/parameters.ts': {
    'api 4.1 · archivedAt.eq': [['eq: ({ ms, next }) => ({ from: next, to: ms })', 'eq: ({ ms, next }) => ({ from: next - 1, to: ms })'], ['eq: ({ ms, next }) => ({ from: next, to: ms })', 'eq: ({ ms, next }) => ({ from: next, to: ms + 1 })']],
    'api 4.1 · archivedAt.lt': [['lt: ({ next }) => ({ to: next - 1 })', 'lt: ({ next }) => ({ to: next - 2 })'], ['{ to: Math.min(...upperBounds) }', '{ to: Math.max(...upperBounds) }']],
  },
  'src/api/paths.ts': {
    'api 9 · Public API paths': [['`${apiPath}/v1`', '`${apiPath}`'], ['address: origin + publicPrefix', 'address: origin']],
  },
  'src/api/router.ts': {
    'api 5 · Admin role': ["admin && access.caller.permissionLevel !== 'admin'", "admin && !['admin', 'developer'].includes(access.caller.permissionLevel)"],
    'api 4.1 · Admin role': [["admin && access.caller.permissionLevel !== 'admin'", "admin && access.caller.permissionLevel === 'user'"], ["problem: 'The user of the token needs the Admin role on the project.'", "problem: 'The user of the token may not do this.'"], ["if (admin && access.caller.permissionLevel !== 'admin') {", "if (admin && access.caller.permissionLevel !== 'admin' && !token.scopes.includes('all')) {"]],
    'api 1 · paths name · environment': [['environmentName !== environment)', 'environmentName.toLowerCase() !== environment.toLowerCase())'], ["path: `environment '${environmentName}'`", "path: 'environment'"], ["fail('NOT_FOUND', { path: `environment '${environmentName}'` })", "fail('DENIED', { problem: `environment '${environmentName}'` })"]],
    'api 5 · scope · activity_logs:read': ["problem: `The token needs the scope ${scopes.join(' or ')}.`", "problem: 'The token needs another scope.'"],
  },
  'src/api/schemas.ts': {
    'api 2.3 · Team · object': [["z.literal('team'), name", "z.literal('team').optional(), name"], ["z.literal('team'), name", 'z.string(), name']],
    'api 2.3 · Collection · object': [["z.literal('collection'), name", "z.literal('collection').optional(), name"], ["z.literal('collection'), name", 'z.string(), name']],
  },
  'src/api/workflows/run-routes.ts': {
    'decisions · public API · runs are listed': [['limit: limit + 1 }', 'limit }'], ['found.length > limit ? page.at(-1) : undefined', 'found.length >= limit ? page.at(-1) : undefined'], ['limit: integer(1, 100, 10),', 'limit: integer(1, 100, 20),'], ["scopes: ['workflows:trigger'], admin: false, status: 200", 'scopes: null, admin: false, status: 200'], [`    scopes: ['workflows:trigger'],
    admin: false,
    status: 200,
    answers: tracedRunSchema,
    async handle(call, parts) {`, `    scopes: null,
    admin: false,
    status: 200,
    answers: tracedRunSchema,
    async handle(call, parts) {`]],
  },
  'src/api/workflows/webhook.ts': {
    'api 3.1 · an editor regenerates the URL': [['trigger.version !== reference.version', 'trigger.version < reference.version'], [`    return fail('INVALID_WEBHOOK_ADDRESS', {});
  }
  if (!found.isActive)`, `    return fail('UNKNOWN_WEBHOOK', { problem: 'old' });
  }
  if (!found.isActive)`]],
    'api 4.2 · unknown fields': [['const bodyLimits = { bytes: 65_536, depth: 20 };', 'const bodyLimits = { bytes: 65_536, depth: 1 };'], ['const bodyLimits = { bytes: 65_536, depth: 20 };', 'const bodyLimits = { bytes: 100, depth: 20 };']],
    'api 4.2 · 409': ["fail('RUN_ONGOING', { run: created.runId });", 'return sendAnswer(req, res, { status: 202, body: { runId: created.runId } });'],
    'decisions · public API · Idempotency-Key of a webhook': [['key.length >= 1 && key.length <= 255', 'key.length >= 1 && key.length <= 256'], ['key.length >= 1 && key.length <= 255', 'key.length <= 255'], ["if (created.state === 'repeated') res.setHeader('Idempotency-Replayed', 'true');", '']],
    'decisions · public API · signature of a webhook': [['presentHeaders.length === 0 && !trigger.needsSignature', 'presentHeaders.length < 3 && !trigger.needsSignature'], ['presentHeaders.length === 0 && !trigger.needsSignature', 'presentHeaders.length === 0'], ['if (isSigned && headerKey !== undefined && headerKey !== key) {', 'if (false) {'], ["const key = isSigned ? headers['webhook-id'] : headerKey;", 'const key = headerKey;']],
    'api 4.2 · latest': ['if (cached && sameWorkflows(cached.versions, versions) && at - cached.at < CACHE_MS) return cached.workflow;', 'if (cached && at - cached.at < CACHE_MS) return cached.workflow;'],
  },
  'src/cli/served.ts': {
    'decisions · start · --database serves another database': [['const database = config.database ?? `sqlite:${await prepareDemo(config, clock)}`;', 'const demo = await prepareDemo(config, clock); const database = config.database ?? `sqlite:${demo}`;'], ['const database = config.database ?? (existsSync(demo) ? `sqlite:${demo}` : undefined);', 'const database = existsSync(demo) ? `sqlite:${demo}` : (config.database ?? undefined);']],
  },
  'src/console/pages/tokens/new-token.ts': {
    'api 5 · SSO': [['sso: tokenRights.sso }', 'sso: true }'], ['providers.length > 0 && !sso', 'false']],
  },
  'src/core/config/checks.ts': {
    '4.4 · rule · prefix': [`const path = \`/\${value}\`.replace(/\\/+/g, '/').replace(/\\/$/, '');
  if (path !== '' && !/^`, `const path = \`\${value}\`.replace(/\\/$/, '');
  if (path !== '' && !/^`],
    '7 · basePath': ["problem: 'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',", "problem: 'basePath is not allowed.',"],
    '2.1 · prefix': [`  if (taken !== undefined) problem(\`expected a path outside of \${taken}\`);
  return path;
}

/** The platform endpoint`, `  return path;
}

/** The platform endpoint`],
  },
  'src/core/sqlite.ts': {
    'decisions · start · one environment with SQLite without a compiler': [["if (choice !== 'auto') throw new AppError('CONFIGURATION', { problem: problems[choice] }, cause);", ''], ["if (kind === 'wasm') observe({ type: 'warning', message: wasmWarning });", '']],
  },
  'src/http/prefixes.ts': {
    '4.5 · prefix': ['path === prefix || path.startsWith(`${prefix}/`)', 'path.startsWith(prefix)'],
  },
  'src/mcp/approvals/execution.ts': {
    'decisions · changes · approvals are executed by the server': [['if (tokenId !== undefined) return findToken(tokenId);', ''], ['const access = restrictions ? restrictAccess(unrestricted, restrictions) : unrestricted;', 'const access = unrestricted;'], ['if (grantId !== undefined) return findGrant({ userId, clientId, grantId });', 'if (grantId !== undefined) { const found = await store.permissions.accessOf(userId); if (found) return { access: found, scopes: new Set<string>(resourceScopes) }; }'], ["if (committedText === '') return settleFailure(approval, failure);", 'return settleFailure(approval, failure);']],
  },
  'src/mcp/call-log.ts': {
    'decisions · MCP · a write is marked before it is done': [[`    if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
    throw markLogged(new AppError('SOURCE_UNAVAILABLE', {}, cause));`, '    return { complete: async () => undefined } as never;'], ['...(recordIds && { recordIds }), ...effects };', '...effects };'], ["waits ? ({ outcome: 'denied', code: 'APPROVAL_PENDING' } as const) : outcomeOfCode(failure?.code)", 'outcomeOfCode(undefined)']],
  },
  'src/mcp/tools/listing.ts': {
    'decisions · HTTP API · bounded pages': ['  if (limit > pageSizeLimit) {', '  if (limit > pageSizeLimit + 1) {'],
  },
  'src/mcp/transport/json-rpc.ts': {
    'decisions · MCP · both generations of the protocol at one address': [['if (version !== MODERN_VERSION || !isEnvelope(meta)) return undefined;', 'if (!isEnvelope(meta)) return undefined;'], ["if (req.headers['mcp-method'] !== method) return undefined;", ''], ["return method === 'tools/list' || req.headers['mcp-name'] === name ? 'modern' : undefined;", "return 'modern';"], ["return accept.includes(JSON_TYPE) && accept.includes(STREAM_TYPE) ? 'legacy' : undefined;", "return 'legacy';"], ["if (info !== undefined && !(isRecord(info) && typeof info.name === 'string' && typeof info.version === 'string')) {", 'if (false) {']],
  },
  'src/mcp/visibility/visibility.ts': {
    'decisions · MCP · what one may not use is not shown': [["create: someCollection(({ name, writable }, access) => writable && access.can('add', name)),", "create: someCollection(({ name, writable }, access) => writable && access.can('edit', name)),"], ["update: someCollection(({ name, writable }, access) => writable && access.can('edit', name)),", 'update: someCollection(({ writable }) => writable),'], ["delete: someCollection(({ name, writable }, access) => writable && access.can('delete', name)),", "delete: someCollection(({ name }, access) => access.can('delete', name)),"], ["through === undefined ? access.can('edit', to) : access.can(verb, through)", "access.can('edit', to)"]],
  },
  'src/oauth/clients/display-name.ts': {
    'decisions · OAuth · consent says who asks': [["const isVerified = verifiedHost !== undefined && destination?.kind === 'web';", 'const isVerified = verifiedHost !== undefined;'], ["if (destination && destination.kind !== 'web') return ON_DEVICE;", ''], ["const claim = title === name ? 'The name was not verified.' : `Calls itself “${name}”.`;", "const claim = 'The name was not verified.';"], ["if (kind === 'device') return html`This device<small>${name}</small>`;", '']],
  },
  'src/oauth/consent/consent.ts': {
    'decisions · changes · consent offers what the rights allow, one page of one button': [["if (returnsTo.kind !== 'web') return undefined;", ''], ['if (!isDocumentClient(client.clientId)) return undefined;', '']],
  },
  'src/oauth/consent/first-site.ts': {
    'decisions · changes · consent offers what the rights allow, one page of one button': [["['none', 'same-origin'].includes(", "['none', 'same-origin', 'same-site'].includes("], ["['none', 'same-origin'].includes(", "['none', 'same-origin', ''].includes("], ["['none', 'same-origin'].includes(", "['none'].includes("]],
  },
  'src/oauth/server/metadata.ts': {
    '5 · discovery': ["token_endpoint: paths.url('token'),", "token_endpoint: paths.url('authorize') as never,"],
  },
  'src/oauth/server/paths.ts': {
    '4.4 · endpoint · /.well-known/oauth-protected-resource/mcp': ['resourceMetadata: `${url.origin}${protectedResource}${prefix}/mcp`', 'resourceMetadata: `${url.origin}${protectedResource}${prefix}`'],
    '4.4 · basePath · <prefix>/oauth/authorize': ['prefixes: prefixesOf(publicUrl, `${basePath}/oauth`).prefixes', "prefixes: [...prefixesOf(publicUrl, `${basePath}/oauth`).prefixes, '/oauth']"],
    '4.4 · basePath · /.well-known/oauth-authorization-server<prefix>': [`  if (basePath === '') {
`, `  if (true) {
`],
    '4.4 · basePath · /.well-known/oauth-protected-resource<prefix>/mcp': ["publish(`${protectedResource}${prefix}/mcp`, 'protectedResource');", "publish(`${prefix}${protectedResource}/mcp`, 'protectedResource');"],
    '4.4 · rule · capture': ["wellKnown: basePath === '' ? prefixesOf(publicUrl, '/.well-known').prefixes : [],", "wellKnown: prefixesOf(publicUrl, '/.well-known').prefixes,"],
  },
  'src/oauth/tokens/access-token.ts': {
    'decisions · OAuth · token classes are kept apart': ["if (payload.aud !== paths.resource) return refuse('The token was issued for another resource.');", ''],
  },
  'src/oauth/tokens/application-token.ts': {
    'decisions · OAuth · token classes are kept apart': [['if (token.entrance !== entrance) {', "if (token.entrance !== entrance && entrance !== 'mcp') {"], ['if (token.entrance !== entrance) {', "if (token.entrance !== entrance && entrance !== 'agent') {"], ['if (token.entrance !== entrance) {', "if (token.entrance !== entrance && entrance !== 'api') {"]],
    'api 7.1 · An expired token': [['token.expiresAt > clock.now()', 'token.expiresAt > clock.now() - 60_000'], ['token.expiresAt > clock.now()', 'token.expiresAt >= clock.now()'], ['return refuse(`The token has expired.', "return fail('DENIED', { problem: `The token has expired.` }); refuse(`"], ['token.expiresAt !== null &&', "token.expiresAt !== null && entrance !== 'api' &&"]],
  },
  'src/oauth/tokens/session-token.ts': {
    'decisions · OAuth · token classes are kept apart': [`if (testingSecret === undefined) return refuse('Tokens of the testing client work only in a sandbox.');
        return readTestingToken(token, testingSecret, clock);`, 'return readTestingToken(token, testingSecret ?? all[0]!, clock);'],
  },
  'src/rest/parameters.ts': {
    'decisions · HTTP API · bounded pages': ['|| Number(text) < 1) return refuse(name', '|| Number(text) < 0) return refuse(name'],
  },
  'src/rest/records/listing.ts': {
    'decisions · HTTP API · bounded pages': [['if (limit > pageSizeLimit)', 'if (limit > pageSizeLimit + 1)'], ['skip: (listing.number - 1) * limit,', 'skip: listing.number * limit - limit + (listing.number > 1 ? 1 : 0),']],
  },
  'src/rest/records/related.ts': {
    'decisions · HTTP API · related records': [["if (related.kind === 'one') return readToOne(reference, listing, related.description, call);", ''], ["  if (kind === 'many') return description;", '  return description;'], ['const zone = conditions.timezone === undefined ? {} : { timezone: conditions.timezone };', 'const zone = {};'], ['engine.countRelated(access, { ...reference, ...request }, options)', 'engine.count(access, { collection: related.description.name, ...request } as never, options)']],
  },
  'src/rest/reserved.ts': {
    'decisions · HTTP API · reserved names of collections': [["[signInSegment, '_actions', '_charts', '_internal', ", "[signInSegment, '_actions', '_charts', "], ["[signInSegment, '_actions', ", "['_actions', "], ["...['_api', '_console', '_platform'],", "...['_api', '_console'],"], [", 'stats'],", '],']],
  },
  'src/server/agent/config.ts': {
    'decisions · public API · in a host application it lies under the prefix': [['consolePath: `${prefix}/_console`', "consolePath: '/_console'"], ['apiPath: `${prefix}/_api`', "apiPath: '/_api'"], ['platformPath: `${prefix}/_platform`', "platformPath: '/_platform'"], ["file: defaultsBelow('/service') }).prefix", "file: defaultsBelow('/agent') }).prefix"]],
    '2.1 · prefix': ["file: defaultsBelow('/service') }).prefix", "file: defaultsBelow('/forest') }).prefix"],
  },
  'src/server/agent/options.ts': {
    '5 · authSecret': ["const secret: OptionRule = { required: true, expected: 'a string that is not empty', accepts: isText };", "const secret: OptionRule = { required: true, expected: 'a string that is not empty', accepts: (value) => typeof value === 'string' };"],
    '5 · envSecret': ["const secret: OptionRule = { required: true, expected: 'a string that is not empty', accepts: isText };", "const secret: OptionRule = { required: true, expected: 'a string that is not empty', accepts: (value) => typeof value === 'string' };"],
    '2.1 · schemaPath': [["schemaPath = '.service-schema.json'", "schemaPath = 'service-schema.json'"], ['accepts: (value) => isText(value) && existsSync(dirname(resolve(value))),', 'accepts: isText,']],
    '2.1 · prefix': [`accepts: (value) => typeof value === 'string' && /^\\/*[-~\\w]+(\\/+[-~\\w]+)*\\/*$|^\\/*$/.test(value),
  },
  consolePath`, `accepts: (value) => typeof value === 'string',
  },
  consolePath`],
  },
  'src/server/route.ts': {
    '4.4 · basePath · <prefix>/mcp': ['const endpoints = servesMcp ? at(`${basePath}/mcp`) : [];', "const endpoints = servesMcp ? [...at(`${basePath}/mcp`), ...at('/mcp')] : [];"],
  },
  'src/store/audit/activity.ts': {
    'decisions · MCP · a write is marked before it is done': ["rows.insert({ ...entry, outcome: 'unknown', durationMs: 0 })", "rows.insert({ ...entry, outcome: 'completed', durationMs: 0 })"],
  },
  'src/store/notes/notes.ts': {
    'api 3.3 · archivedAt': [['archived === true && row.archived_at === null && { archived_at: at }', 'archived === true && { archived_at: at }'], ['archived === false && row.archived_at !== null && { archived_at: null }', 'false && { archived_at: null }']],
  },
  'src/store/notes/search.ts': {
    'api 4.1 · collectionName': ["if (collection !== undefined) same('collection', collection);", "if (collection !== undefined) found.where('collection', 'like', `%${collection}%`);"],
  },
  'src/store/oauth/tokens.ts': {
    'api 5 · SSO': [['if (!sso || token.sso) return undefined;', "if (!sso || token.entrance === 'api') return undefined;"], ['if (!sso || token.sso) return undefined;', 'if (!sso) return undefined;'], ["'Single sign-on is required, and this token was created without it. Sign in through it and create another token.'", "'The token is invalid.'"]],
  },
  'src/store/permissions/permissions.ts': {
    '2.7 · caller · id': ['    id: member.id,', '    id: member.rendering_id,'],
    '2.7 · caller · email': ['    email: member.email,', '    email: member.email.toUpperCase(),'],
    '2.7 · caller · firstName': ['    firstName: member.first_name,', '    firstName: member.last_name,'],
    '2.7 · caller · team': ['    team: member.team,', '    team: member.role,'],
    '2.7 · caller · role': ['    role: member.role,', '    role: member.level,'],
  },
  'src/store/permissions/scopes.ts': {
    '2.7 · caller · email': ['email: (caller) => caller.email,', 'email: (caller) => caller.email.toUpperCase(),'],
    '2.7 · caller · firstName': ['  firstName: (caller) => caller.firstName,', '  firstName: (caller) => caller.lastName,'],
  },
  'src/store/workflows/run-writes.ts': {
    'api 3.2 · fresh run': [[`        ...ending(now),
        step_id: claim.run.stepId,
        state: 'failed',`, `        finished_at: now, owner: null,
        step_id: claim.run.stepId,
        state: 'failed',`], ["...ending(clock.now()), state: 'cancelled'", "finished_at: clock.now(), owner: null, state: 'cancelled'"], ["{ ...ending(now), state: 'succeeded' }", "{ finished_at: now, owner: null, state: 'succeeded' }"]],
  },
  'src/store/workflows/runs.ts': {
    'decisions · public API · runs are listed': ['.limit(Math.min(Math.max(1, limit), MAX_LISTED + 1));', '.limit(Math.min(Math.max(1, limit), MAX_LISTED));'],
    'api 4.2 · latest': ['version: workflow.version,', 'version: Math.max(1, workflow.version - 1),'],
    'api 4.2 · 409': [['hashToken(JSON.stringify([workflowId, recordId]))', 'hashToken(JSON.stringify([workflowId]))'], ['hashToken(JSON.stringify([workflowId, recordId]))', 'hashToken(JSON.stringify([recordId]))']],
    'decisions · public API · Idempotency-Key of a webhook': [['JSON.stringify([workflow.id, userId, idempotencyKey])', 'JSON.stringify([workflow.id, idempotencyKey])'], ['JSON.stringify([workflow.id, userId, idempotencyKey])', 'JSON.stringify([userId, idempotencyKey])'], ['KEY_MS = 24 * 3600_000', 'KEY_MS = 3600_000']],
  },
  'src/store/workflows/workflows.ts': {
    'api 4.2 · latest': ['.update({ name, collection, concurrency, version, active: true, updated_at: clock.now() });', '.update({ name, collection, concurrency, active: true, updated_at: clock.now() });'],
    'api 3.1 · an editor regenerates the URL': [['const isNew = regenerate === true || isFirst;', 'const isNew = isFirst;'], ['...(isEnabled !== undefined && { trigger_enabled: isEnabled }),', '...(isEnabled !== undefined && { trigger_enabled: isEnabled }), ...(regenerate && { trigger_enabled: false }),']],
  },
  'src/testing/options.ts': {
    '2.9 · agentSchemaPath': [`  agentSchemaPath: {
    required: true,`, '  agentSchemaPath: {'],
    '4.7 · workflow': ["agentUrl: url.origin + (path === '' ? defaultPrefix : path),", 'agentUrl: url.origin + path,'],
  },
  'src/testing/schema.ts': {
    '2.9 · agentSchemaPath': ['if (read?.mark !== mark) read =', 'read ??='],
  },
  'src/workflows/workflows.ts': {
    'decisions · public API · runs are listed': [["permissionLevel === 'user' ? { userId: id } : {}", '{}'], ["(run.userId === access.caller.id || access.caller.permissionLevel !== 'user')", 'true']],
  },
}; // biome-ignore format: a table
