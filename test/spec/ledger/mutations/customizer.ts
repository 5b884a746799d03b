// Mutations for the rows of 2.6 and 4.2.
import type { Points } from '../mutations.ts';

const withoutSort = (by: string): readonly [string, string] => [
  'customizations.sorts.set(what.name, { by: what.by, at });',
  `if (what.by !== '${by}') customizations.sorts.set(what.name, { by: what.by, at });`,
];
const withoutAnswer = (kept: string): readonly [string, string] => [
  'known.replacements.set(operator, { by, at });',
  `if (${kept}) known.replacements.set(operator, { by, at });`,
];

export const customizer: Points = {
  'src/agent/model/declared.ts': {
    '2.6 · many-to-one': ["if (declared.kind === 'toOne') {", 'if (false) {'],
    '2.6 · many-to-one · foreignKey': ['columnOf(home, declared.options?.foreignKey, at)', "columnOf(home, 'id', at)"],
    '2.6 · many-to-one · foreignKeyTarget': [
      'onlyKeyColumn(to, declared.options.foreignKeyTarget, at)',
      'onlyKeyColumn(to, undefined, at)',
    ],
    '2.6 · one-to-many': ["declared.single ? 'one' : 'many'", "'one'"],
    '2.6 · one-to-many · originKey': ['columnOf(to, declared.options?.originKey, at)', "columnOf(to, 'id', at)"],
    '2.6 · one-to-many · originKeyTarget': [
      'onlyKeyColumn(home, declared.options?.originKeyTarget, at)',
      'onlyKeyColumn(home, undefined, at)',
    ],
    '2.6 · one-to-one': ["declared.single ? 'one' : 'many'", "'many'"],
    '2.6 · one-to-one · originKey': ['columnOf(to, declared.options?.originKey, at)', "columnOf(to, 'id', at)"],
    '2.6 · one-to-one · originKeyTarget': [
      'onlyKeyColumn(home, declared.options?.originKeyTarget, at)',
      'onlyKeyColumn(home, undefined, at)',
    ],
    '2.6 · many-to-many': ["kind: 'many', to, on: Object.freeze([])", "kind: 'one', to, on: Object.freeze([])"],
    '2.6 · many-to-many · throughCollection': ['find(declared.through)', 'find(declared.foreign)'],
    '2.6 · many-to-many · originKey': [
      'columnOf(collection, options?.originKey, at)',
      "columnOf(collection, 'id', at)",
    ],
    '2.6 · many-to-many · foreignKey': [
      'columnOf(collection, options?.foreignKey, at)',
      "columnOf(collection, 'id', at)",
    ],
    '2.6 · many-to-many · originKeyTarget': [
      'onlyKeyColumn(home, options?.originKeyTarget, at)',
      'onlyKeyColumn(home, undefined, at)',
    ],
    '2.6 · many-to-many · foreignKeyTarget': [
      'onlyKeyColumn(to, options?.foreignKeyTarget, at)',
      'onlyKeyColumn(to, undefined, at)',
    ],
    '4.2 · Relations · addManyToManyRelation': ["if (declared.kind === 'throughOther')", 'if (false)'],
    '4.2 · Relations · addOneToOneRelation': ["const kind = declared.single ? 'one' : 'many';", "const kind = 'many';"],
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Fields · importField': [
      "case 'importField':",
      "case 'importField':\n      if (what.kind === 'importField') return;",
    ],
    '4.2 · Fields · renameField': ['customizations.renames.set(renamed, { to: what.newName, at });', ''],
    '4.2 · Fields · removeField': ['customizations.removed.set(renamed, at);', ''],
    '4.2 · Fields · setFieldNullable': ['customizations.nullable.set(what.name, at);', ''],
    '4.2 · Segments · addSegment': ['customizations.segments.set(what.name, { definition: what.definition, at });', ''],
    '4.2 · Search · replaceSearch': [
      "what.replace ? { replace: what.replace, at } : 'none'",
      "what.replace ? 'columns' : 'none'",
    ],
    '4.2 · Search · disableSearch': [
      "{ replace: what.replace, at } : 'none'",
      "{ replace: what.replace, at } : 'columns'",
    ],
    '4.2 · Sorting · emulateFieldSorting': withoutSort('here'),
    '4.2 · Sorting · replaceFieldSorting': ['customizations.sorts.set(what.name, { by: what.by, at });', ''],
    '4.2 · Sorting · disableFieldSorting': withoutSort('nothing'),
    '4.2 · Filtering · emulateFieldFiltering': ['known.emulatedAt = at;', ''],
    '4.2 · Filtering · emulateFieldOperator': withoutAnswer("by !== 'here'"),
    '4.2 · Filtering · replaceFieldOperator': withoutAnswer("by === 'here'"),
    '4.2 · Other · disableCount': ['customizations.countable = false;', ''],
  },
  'src/agent/execute/external.ts': {
    '2.6 · external': ['return given.map(', 'return [].map('],
    '2.6 · external · schema': ['readComputedValue(given ?? null, column, refuse)', 'null'],
    '2.6 · external · listRecords': ['list(record, context)', 'list({}, context)'],
  },
  'src/agent/model/external.ts': {
    '4.2 · Relations · addExternalRelation': ["kind: 'many'", "kind: 'one'"],
  },
  'src/agent/customize/recording.ts': {
    '4.2 · Actions · addAction': [
      'if (what.kind !== kind) return [];',
      "if (what.kind !== kind || kind === 'action') return [];",
    ],
  },
  'src/agent/customize/customizer.ts': {
    '4.2 · Relations · addManyToOneRelation': [
      "kind: 'toOne', name, foreign, options }",
      "kind: 'toOne', name, foreign: this.name, options }",
    ],
    '4.2 · Relations · addOneToManyRelation': [
      'single: false, options }',
      "single: false, options: { originKey: 'id' }, name: 'other' }",
    ],
    '4.2 · Other · chaining': [
      'Object.freeze(what) }));\n    return this;',
      'Object.freeze(what) }));\n    return undefined as never;',
    ],
    '4.2 · Other · use': [
      'plugin(new CollectionCustomizer(this.name, inner), options)',
      'plugin(new CollectionCustomizer(this.name, inner), undefined as never)',
    ],
  },
};
