// Mutations for the rows of plugins.
import type { Points } from '../mutations.ts';

const parts = ['readAt(record[column], path)', 'null'] as const;
const include = ['include?.map(read) ?? names', 'names'] as const;
const exclude = ['!without.has(name) && ', ''] as const;
const level = ['isObject && level > 1', 'false'] as const;
const readonly = ['options.readonly ?? !(stored', 'true ?? !(stored'] as const;

export const plugins: Points = {
  'src/agent/model/flatten.ts': {
    '2.8 · flattenColumn · columnName': parts,
    '2.8 · flattenColumn · include': include,
    '2.8 · flattenColumn · exclude': exclude,
    '2.8 · flattenColumn · level': level,
    '2.8 · flattenColumn · readonly': readonly,
    '2.8 · flattenColumn · columnType': ['if (columnType) return readShape(columnType, at);', ''],
    '2.8 · flattenRelation · relationName': ['const definition = { path:', 'const definition = { path: field, was:'],
    '2.8 · flattenRelation · include': include,
    '2.8 · flattenRelation · exclude': exclude,
    '2.8 · flattenRelation · readonly': ['...(readonly && { readonly })', ''],
    '2.8 · flattenJsonColumn · columnName': parts,
    '2.8 · flattenJsonColumn · level': level,
    '2.8 · flattenJsonColumn · readonly': readonly,
    '2.8 · flattenJsonColumn · keepOriginalColumn': ['if (!keepOriginalColumn)', 'if (true)'],
  },
  'src/agent/customize/flatten.ts': {
    '2.8 · flattenJsonColumn · columnType': ["columnType: [shape[0], shape[1], 'needed'],", 'columnType: shape,'],
  },
};
