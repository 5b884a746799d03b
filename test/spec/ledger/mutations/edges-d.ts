// Mutations of the public API in states that no test had: archived notes, the third page, another environment, names
// of several words, runs of several origins.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of src
import type { Points } from '../mutations.ts';

export const edgesD: Points = {
  'src/store/notes/notes.ts': {
    'api 2.1 · hasMore': ['rows.length > filter.limit ? page.at(-1)', 'rows.length > filter.limit && filter.after === undefined ? page.at(-1)'],
  },
  'src/store/notes/search.ts': {
    'api 2.1 · data': ["'notes.environment_id': 'page.environment_id', ", ''],
  },
  'src/api/notes/schemas.ts': {
    'api 2.2 · object': ["object: 'note',", "object: note.archivedAt === null ? 'note' : ('archived-note' as 'note'),"],
    'api 2.2 · id': ['id: note.id,', 'id: note.messages[0]?.id ?? note.id,'],
    'api 2.3 · Team · name': ['name: note.team }', "name: note.team.split(' ')[0]! }"],
  },
  'src/api/notes/content.ts': {
    'api 2.2 · title': ['MAX_TITLE_LENGTH = 255', 'MAX_TITLE_LENGTH = 256'],
    'api 2.3 · Note message · content': ["  's',\n", ''],
  },
  'src/api/notes/writing.ts': {
    'api 2.2 · recordId': ['const recordId = packId(rows[0] ?? []);', 'const recordId = packId(rows[0] ?? []) && id;'],
  },
  'src/store/notes/rows.ts': {
    'api 2.2 · archivedAt': ['archivedAt: millis(row.archived_at),', 'archivedAt: row.archived_at === null ? null : Number(row.updated_at),'],
  },
  'src/store/oauth/tokens.ts': {
    'api 2.5 · name': ['/\\p{C}/u.test(name)', '/\\n/u.test(name)'],
  },
}; // biome-ignore format: a table
