import type { Points } from '../mutations.ts';

/** Edges of rows of the sections 4.2 to 9. */
export const edgesC: Points = {
  'src/agent/model/fields.ts': {
    '4.2 · Fields · importField': ['    required: false,\n    isKey: false,', '    isKey: false,'],
    '4.2 · Fields · replaceFieldBinaryMode': ['Number(length) <= SHORT_BYTES', 'Number(length) < SHORT_BYTES'],
  },
  'src/agent/write/validation.ts': {
    '4.2 · Fields · addFieldValidation': ['[...got].length', 'got.length'],
  },
  'src/agent/write/field-writers.ts': {
    '4.2 · Fields · replaceFieldWriting': ['getRecords: replacing.current,', ''],
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Sorting · replaceFieldSorting': ['customizations.sorts.set(what.name, { by: what.by, at });', "customizations.sorts.set(what.name, { by: typeof what.by === 'string' ? what.by : what.by.slice(0, 1), at });"],
  },
  'src/agent/model/operators.ts': {
    '4.2 · Filtering · emulateFieldFiltering': ["        addSupport(operator, 'here');\n    addRewrites(found, type);", "        addSupport(operator, 'here');"],
    '4.2 · Filtering · replaceFieldOperator': ['if (!found.has(operator) && appliesTo(row, type) && row.native !== false && native.has(operator))', 'if (appliesTo(row, type) && row.native !== false && native.has(operator))'],
  },
  'src/agent/operations/hooks.ts': {
    '4.2 · Hooks · addHook': [
      ['...(segment !== undefined && { segment }),', ''],
      ['const why = isDeliberateStop(error) ? error.message : `', 'const why = `'],
    ],
  },
  'src/agent/charts/builder.ts': {
    '4.3 · objective': ["objective: number('objective', objective),", "objective: number('objective', objective ?? 0),"],
    '4.3 · leaderboard': ["[...entries('leaderboard', values)].sort(", "[...entries('leaderboard', values)].slice(0, 10).sort("],
    '4.3 · smart': ['DEPTH_LIMIT = 64', 'DEPTH_LIMIT = 32'],
  },
  'src/mcp/tools/describe-collection.ts': {
    '4.2 · Segments · addSegment': [
      '...(segments.length > 0 && { segments: namedTexts(segments, hasMeanings) }),',
      '...(segments.length > 1 && { segments: namedTexts(segments, hasMeanings) }),',
    ],
    '4.4 · tool · describeCollection': [
      ["field.nullable ? '?' : field.required ? '!' : ''", "field.nullable ? '?' : '!'"],
      ["isWritten ? ' (nested writes)' : ''", "''"],
      ["(['add', 'edit', 'delete'] as const).filter((verb) => permissions[verb])", "(['add', 'edit', 'delete'] as const)"],
    ],
  },
  'src/mcp/tools/listing.ts': {
    '4.4 · tool · list': ['checkCells(args.cells, answer.columns);', ''],
    '4.4 · tool · listRelated': ['...(args.searchExtended && { searchExtended: true }),', ''],
  },
  'src/mcp/input/arguments.ts': {
    '4.4 · tool · list': [
      ['const MAX_FIELDS = 1000;', 'const MAX_FIELDS = 5;'],
      ["value.filter((path) => path.trim() !== '')", 'value'],
    ],
  },
  'src/mcp/tools/update.ts': { '4.4 · tool · update': ["scope: 'mcp:write'", "scope: 'mcp:read'"] },
  'src/mcp/tools/delete.ts': {
    '4.4 · tool · delete': ['subject: ({ collection, ids }) => ({ collection, recordIds: ids.map(formatId) }),', 'subject: ({ collection }) => ({ collection }),'],
  },
  'src/mcp/tools/associate.ts': { '4.4 · tool · associate': ['writes: ({ dryRun }) => !dryRun,', 'writes: () => false,'] },
  'src/mcp/tools/dissociate.ts': { '4.4 · tool · dissociate': ["scope: 'mcp:write'", "scope: 'mcp:read'"] },
  'src/mcp/tools/linking.ts': {
    '4.4 · tool · associate': ["access.can('browse', collection) && access.policy('edit', collection).policy === 'deny'", 'false'],
  },
  'src/mcp/results/form-result.ts': {
    '4.4 · tool · getActionForm': [
      ['...(isReadOnly && { readOnly: true }),', ''],
      ['label === String(value) ? value', 'label ? value'],
      ["case 'Page':\n        return collectTexts(element.elements);", "case 'Page':\n        return [];"],
    ],
  },
  'src/mcp/input/action-arguments.ts': {
    '4.4 · tool · executeAction': ["if (found?.scope !== 'Global' || !recordIds?.length) return;", 'return;'],
  },
  'src/rest/records/routes.ts': { '4.5 · collections': ["updateAt('PATCH'),", ''] },
  'src/rest/records/selection.ts': {
    '4.5 · collections': [
      ['if (found.hasMore) return failTooMany(', 'if (false) return failTooMany('],
      ['...excludeIds(description.key, excluded),', ''],
    ],
  },
  'src/cli/cloud/folder.ts': { '4.6 · bootstrap': ['name: name.toLowerCase(),', 'name,'] },
}; // biome-ignore format: a table
