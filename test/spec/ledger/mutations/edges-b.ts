// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of src/ contain templates.
// Small wrong changes at the edges of the rows of 2.6 to 2.9 and 4.1.
import type { Points } from '../mutations.ts';

export const edgesB: Points = {
  'src/agent/model/declared.ts': {
    '2.6 · many-to-one · foreignKeyTarget': [
      'if (String(from.type) !== String(to.type))',
      "if (String(from.type) !== String(to.type) && from.type !== 'String')",
    ],
    '2.6 · one-to-one': [
      "const kind = declared.single ? 'one' : 'many';",
      "const kind = declared.single && to !== home ? 'one' : 'many';",
    ],
    '2.6 · one-to-one · originKey': [
      'if (to.uniqueKeys.some((key) => key.every((column) => columns.includes(column)))) return {};',
      'if (to.uniqueKeys.some((key) => key.some((column) => columns.includes(column)))) return {};',
    ],
  },
  'src/agent/operations/set-relation.ts': {
    '2.6 · many-to-one · foreignKey': [
      "if (!row) return fail('RECORD_NOT_FOUND', { collection: to.name, id: packKey(target, key) });\n  if (relation.lowestBy)",
      'if (!row) return [null];\n  if (relation.lowestBy)',
    ],
    '2.6 · many-to-one · foreignKeyTarget': ['if (relation.lowestBy) {', 'if (false as boolean) {'],
    '2.6 · one-to-one · originKey': [
      'if (relation.inverse) return setInverseRelation(',
      'if (relation.inverse && relation.enforced) return setInverseRelation(',
    ],
    '2.6 · one-to-one · originKeyTarget': [
      'const values = await readOriginValues({ call, home }, referencedColumns(relation), id, options);',
      'const values = await readOriginValues({ call, home }, home.collection.key, id, options);',
    ],
  },
  'src/agent/operations/link.ts': {
    '2.6 · one-to-many · originKey': ['if (!isOn && nullable.length === 0)', 'if (nullable.length === 0)'],
  },
  'src/agent/operations/link-pairs.ts': {
    '2.6 · many-to-many · foreignKeyTarget': [
      'record.set(pair.from, byKey.get(rowKey(target.key, key))![at]);',
      'record.set(pair.from, key[at]);',
    ],
  },
  'src/agent/execute/external.ts': {
    '2.6 · external': ['const MAX_CONCURRENT_CALLS = 4;', 'const MAX_CONCURRENT_CALLS = 1000;'],
  },
  'src/core/filter.ts': {
    '2.7 · condition · Or': ['export const MAX_CONDITIONS = 500', 'export const MAX_CONDITIONS = 50'],
  },
  'src/agent/resolve/values.ts': {
    '2.7 · operator · Like': ['if (/(?<!\\\\)(?:\\\\\\\\)*\\\\$/.test(pattern))', 'if (false as boolean)'],
    '2.7 · operator · IncludesAll': [
      'if (Array.isArray(context.column.type) && (items.length === 0 || items.includes(null)))',
      'if (Array.isArray(context.column.type) && items.length === 0)',
    ],
    '2.7 · binary mode · datauri': [
      'const found = /^data:[^,]*;base64,([A-Za-z0-9+/_-]*={0,2})$/.exec(given);',
      'const found = /^data:[^,]*;base64,([A-Za-z0-9]*={0,2})$/.exec(given);',
    ],
    '2.7 · binary mode · hex': ['return /^(?:[0-9a-f]{2})*$/i.test(given)', 'return /^(?:[0-9a-f]{2})*$/.test(given)'],
  },
  'src/agent/write/validation.ts': {
    '2.7 · validation · Match': ['const MAX_MATCHED_LENGTH = 100_000;', 'const MAX_MATCHED_LENGTH = 100_000_000;'],
  },
  'src/agent/lower/filter.ts': {
    '2.7 · filter · segment': [
      '(plain) => lowerInternal(plain, { ...lowering, acceptsAmbiguity: true }, { what, at }),',
      '(plain) => (plain ? lowerInternal(plain, { ...lowering, acceptsAmbiguity: true }, { what, at }) : always),',
    ],
  },
  'src/agent/operations/aggregate-hooks.ts': {
    '2.7 · hook type · Aggregate': ['result[at]!.value ?? null)', 'result[at]!.value || found[at]!.values[0])'],
  },
  'src/testing/options.ts': {
    '2.9 · agentForestAuthSecret': [
      "agentForestAuthSecret: secretOf('authSecret'),",
      "agentForestAuthSecret: { ...secretOf('authSecret'), accepts: () => true },",
    ],
    '2.9 · agentUrl': [
      "agentUrl: url.origin + (path === '' ? defaultPrefix : path),",
      "agentUrl: url.origin + (path === '' ? defaultPrefix : path.split('/').slice(0, 2).join('/')),",
    ],
  },
  'src/server/agent/options.ts': {
    '4.1 · createAgent': ['envSecret: secret,', 'envSecret: { ...secret, accepts: () => true },'],
    '4.1 · mountAiMcpServer': [
      "enabledTools: { expected: `a list of tools, from ${toolNames.join(', ')}`, accepts: isList },",
      "enabledTools: { expected: `a list of tools, from ${toolNames.join(', ')}`, accepts: () => true },",
    ],
  },
  'src/agent/agent.ts': {
    '4.1 · addDataSource': [
      'opened.push([source, { options, at }]);',
      'opened.push([source, { options: opened.length > 1 ? {} : options, at }]);',
    ],
    '4.1 · removeCollection': ['removed: [...this.#removed]', 'removed: this.#removed.slice(0, 2)'],
    '4.1 · use': ['this.#plugins.shift();', ''],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · stop': [
      'this.#app = this.#address = this.#platform = undefined;\n    this.#engine.forget();\n    try {',
      'this.#app = undefined;\n    this.#engine.forget();\n    try {',
    ],
    '4.1 · restart': [['await this.#sendSchema(running);\n    } catch (cause) {', '} catch (cause) {']],
    '4.1 · updateTypesOnFileSystem': [
      'const options = { typingsPath: resolve(typingsPath), typingsMaxDepth };',
      'const options = { typingsPath: resolve(this.#options.typingsPath ?? typingsPath), typingsMaxDepth };',
    ],
  },
  'src/agent/live-engine.ts': {
    '4.1 · restart': [
      ['running.schema = schema;', ''],
      [
        'const abandon = (sources: readonly Source[]) => closeSources(sourcesMissingIn(sources, previous.sources));',
        'const abandon = (sources: readonly Source[]) => closeSources(sources);',
      ],
      ['const unused = sourcesMissingIn(previous.sources, next.sources);', 'const unused = previous.sources;'],
    ],
  },
  'src/server/agent/config.ts': {
    '4.1 · mountAiMcpServer': [
      '? intersect(enabledTools, options.enabledTools,',
      '? intersect(enabledTools, enabledTools,',
    ],
  },
  'src/store/permissions/access.ts': {
    '2.7 · caller · tags': ['tags: Object.freeze({ ...facts.caller.tags })', 'tags: { ...facts.caller.tags }'],
  },
  'src/agent/encode/records.ts': {
    '2.7 · binary mode · datauri': ["['application/pdf', /^255044462d/],", ''],
  },
  'src/rest/records/projection.ts': {
    '2.7 · projection': ['if (header !== undefined) {', "if (header !== undefined && !header.includes(',')) {"],
  },
  'src/agent/resolve/names.ts': {
    '2.7 · sort · field': ['if (sorts.length > MAX_SORTS)', 'if (sorts.length > 2)'],
  },
  'src/rest/parameters.ts': {
    '2.7 · sort · ascending': [
      "const [, minus, name = ''] = /^\\s*(-?)(.*?)\\s*$/s.exec(clause)!;",
      "const [, minus, name = ''] = /^(-?)(.*?)\\s*$/s.exec(clause)!;",
    ],
    '2.7 · filter · searchExtended': ['!/^(?:|0|false)$/i.test(text.trim());', '!/^(?:|0|false)$/.test(text.trim());'],
  },
  'src/agent/charts/builder.ts': {
    '2.7 · time range · Month': ['const PERIODS_LIMIT = 10_000;', 'const PERIODS_LIMIT = 10;'],
  },
};
