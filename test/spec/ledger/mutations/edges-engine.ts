// Mutations for edge cases of 2.5 to 2.8, of options and of operations: the feature exists, but differs from the
// specification.
import type { Points } from '../mutations.ts';

export const edgesOfEngine: Points = {
  'src/agent/model/flatten.ts': {
    '2.8 · flattenColumn · columnName': [
      ['return at ?? null;', "return at ?? '';"],
      ['if (!keepOriginalColumn) customizations.removed.set(column, at);', ''],
    ],
    '2.8 · flattenColumn · include': [
      '(include?.map(read) ?? names).filter',
      'names.filter((n) => !include || include.map(read).includes(n)).filter',
    ],
    '2.8 · flattenColumn · exclude': ['new Set(exclude.map(read))', 'new Set(include ? [] : exclude.map(read))'],
    '2.8 · flattenColumn · level': [
      ['level = 1, keep', 'level = 2, keep'],
      ['level > 1 ? partsOf(type, level - 1, path)', 'level > 1 ? partsOf(type, level, path)'],
    ],
    '2.8 · flattenColumn · readonly': [
      ['options.readonly ?? !(stored', 'options.readonly ?? (stored'],
      ['rest.length ? setAt(current[key], rest, value) : value', 'rest.length ? setAt(null, rest, value) : value'],
    ],
    '2.8 · flattenColumn · columnType': ['return isObject && level > 1', 'return !Array.isArray(type) && level > 1'],
    '2.8 · flattenRelation · include': ["text.replaceAll(SEPARATOR, ':')", 'text'],
    '2.8 · flattenRelation · exclude': ['!without.has(name) &&', '!(exclude[0] && read(exclude[0]) === name) &&'],
    '2.8 · flattenRelation · readonly': [
      '...(readonly && { readonly })',
      '...(readonly !== undefined && { readonly: true })',
    ],
    '2.8 · flattenRelation · relationName': ["if (relation.kind !== 'one')", 'if (false)'],
    '2.8 · flattenJsonColumn · keepOriginalColumn': ['keepOriginalColumn = false', 'keepOriginalColumn = true'],
    '2.8 · flattenJsonColumn · readonly': ['if (!isReadOnly)\n', 'if (isReadOnly === undefined)\n'],
  },
  'src/agent/customize/flatten.ts': {
    '2.8 · flattenJsonColumn · level': ['Number(value) >= 1', 'Number(value) >= 0'],
  },
  'src/agent/execute/computed-values.ts': {
    '2.5 · columnType · Date': [
      'Number.isNaN(date.getTime())) return undefined;',
      "Number.isNaN(date.getTime())) return '';",
    ],
    '2.5 · columnType · Dateonly': ['text(/^\\d{4}-\\d{2}-\\d{2}$/)', 'text(/^\\d{4}-\\d{2}-\\d{2}/)'],
    '2.5 · columnType · Time': ['text(/^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?$/)', 'text(/^\\d{2}:\\d{2}/)'],
    '2.5 · columnType · Point': ['value.length === 2', 'value.length > 0'],
    '2.5 · columnType · Number': ['Number.isFinite(value) ? value : undefined', 'value'],
    '2.5 · columnType · Boolean': ["(typeof value === 'boolean' ? value : undefined)", 'Boolean(value)'],
    '2.5 · columnType · Enum': ['(enumValues.includes(value as string) ? value : undefined)', 'value'],
    '2.5 · columnType · String': [
      "typeof value === 'bigint'\n      ? String(value)",
      "typeof value === 'bigint'\n      ? value",
    ],
    '2.5 · columnType · Json': ['Json: (value) => value', 'Json: (value) => value || null'],
    '2.5 · columnType': ['readShape(object[key], of, refuse)]', "readShape(object[key] ?? '', of, refuse)]"],
  },
  'src/agent/model/added.ts': {
    '2.5 · columnType · File': [
      "if (given === 'File') return { type: 'Binary' };",
      "if (given === 'File') return { type: 'String' };",
    ],
    '4.2 · Fields · importField': [
      'const isReadOnly = definition?.readonly ?? isFixed;',
      'const isReadOnly = isFixed;',
    ],
  },
  'src/agent/execute/compute.ts': {
    '4.2 · Fields · addField': [
      'awaitAll(await computedFrom.definition.getValues(records, context))',
      '(await computedFrom.definition.getValues(records, context), records.map(() => null))',
    ],
    '2.5 · defaultValue': [
      ['value ?? computedFrom.definition.defaultValue', 'value || computedFrom.definition.defaultValue'],
      [
        'value ?? computedFrom.definition.defaultValue',
        'value === undefined ? computedFrom.definition.defaultValue : value',
      ],
    ],
    '2.5 · getValues': ['values.length === distinct.length', 'values.length >= distinct.length'],
    '2.5 · dependencies': [
      ['if (place === undefined) {', 'if (true) {'],
      ['if (guard !== null && row[guard] === null) return NO_POSITION;', ''],
    ],
  },
  'src/agent/artifacts/schema-file.ts': {
    '2.5 · enumValues': ['[...(column.enumValues ?? [])].sort()', '[]'],
  },
  'src/agent/model/declared.ts': {},
  'src/agent/execute/external.ts': {
    '2.6 · external · schema': [
      'columns.map(({ name }, at) => [name, row[at]])',
      'columns.slice(1).map(({ name }, at) => [name, row[at]])',
    ],
    '2.6 · external · listRecords': ['found[index] =', 'found[0] ='],
  },
  'src/agent/resolve/names.ts': {
    '4.2 · Sorting · replaceFieldSorting': [
      'ascending: (clause.ascending ?? true) === ascending,',
      'ascending: clause.ascending ?? true,',
    ],
  },
  'src/agent/lower/filter.ts': {
    '4.2 · Search · replaceSearch': [
      'rule.replace(search, extended, lowering.code())',
      'rule.replace(search, false, lowering.code())',
    ],
    '2.7 · filter · segment': ['(parts) => and(...parts),', '(parts) => parts[1]!,'],
  },
  'src/agent/write/overrides.ts': {
    '4.2 · Overrides · overrideUpdate': [
      'filter, patch: patch! }',
      "filter: { conditionTree: { aggregator: 'And', conditions: [] } }, patch: patch! }",
    ],
  },
  'src/agent/write/field-writers.ts': {
    '4.2 · Fields · replaceFieldWriting': ['action: replacing.action,', "action: 'update',"],
  },
  'src/rest/records/listing.ts': {
    '4.2 · Other · disableCount': ["'deactivated'", "'inactive'"],
  },
  'src/agent/resolve/filter.ts': {
    '2.7 · operator · NotIn': [
      "and(not(missing), present.length ? test('NotIn', present) : always)",
      "present.length ? test('NotIn', present) : always",
    ],
    '2.7 · condition · Or': ['plain.conditions.map((condition)', 'plain.conditions.slice(0, 2).map((condition)'],
  },
  'src/agent/sources/evaluate.ts': {
    '2.7 · validation · ShorterThan': [
      'countCharacters(text) < (operand as number)',
      'countCharacters(text) <= (operand as number)',
    ],
  },
  'src/agent/charts/builder.ts': {
    '2.7 · time range · Week': ['+ 3 * 86_400_000', '+ 6 * 86_400_000'],
  },
  'src/agent/operations/hooks.ts': {
    '2.7 · hook type · Create': [
      'for (const { handler, at } of hooks)',
      'for (const { handler, at } of hooks.slice(0, 1))',
    ],
  },
  'src/server/agent/config.ts': {
    '2.1 · environment · MCP_SERVER_PORT': ['...standalone,\n', ''],
    '2.1 · environment · SERVICE_MCP_ENABLED_TOOLS': [
      'loadConfig({ code, env, file: defaultsBelow(prefixOf({ code, env })) })',
      'loadConfig({ code, env: {}, file: defaultsBelow(prefixOf({ code, env })) })',
    ],
    '2.1 · loggerLevel': ["logLevel: 'Info'", "logLevel: 'Warn'"],
  },
  'src/agent/operations/context.ts': {
    '2.7 · caller · timezone': [
      'Object.freeze({ caller, timezone, collection, ai })',
      "Object.freeze({ caller: { ...caller, timezone: 'UTC' }, timezone, collection, ai })",
    ],
  },
  'src/rest/parameters.ts': {
    '2.7 · filter · searchExtended': [
      "isFlag(parameters.get('searchExtended')) && { searchExtended: true }",
      "parameters.has('searchExtended') && { searchExtended: true }",
    ],
  },
};
