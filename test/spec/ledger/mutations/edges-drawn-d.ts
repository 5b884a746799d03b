// Mutations that somebody drew for rows that had only one, before they read the tests of those rows.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of src/ contain templates.
import type { Points } from '../mutations.ts';

export const edgesDrawnD: Points = {
  'src/agent/model/chosen-tables.ts': {
    'decisions · contract · two data sources with one name': [`Rename one of them.\${at ? \` (\${at})\` : ''}\``, 'Rename one of them.`'],
  },
  'src/agent/model/declared.ts': {
    '2.6 · many-to-many · originKey': ['if (origin[0]!.to === foreign[0]!.from)', 'if (false)'],
    '2.6 · one-to-many · originKeyTarget': ['if (key && more.length === 0) return key;', 'if (key) return key;'],
  },
  'src/api/parameters.ts': {
    'api 4.1 · updatedAt.eq': [
      ['.test(text) ? ms + 1 : ms', '.test(text) ? ms : ms'],
      ['from: Math.max(...lowerBounds)', 'from: Math.min(...lowerBounds)'],
    ],
  },
}; // biome-ignore format: a table
