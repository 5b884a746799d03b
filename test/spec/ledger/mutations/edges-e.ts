// Edges of the sections 4.2 to 9 and of the public API that no test of their row noticed when they were drawn.
import type { Points } from '../mutations.ts';

export const edgesE: Points = {
  'src/agent/model/build.ts': {
    '4.2 · Filtering · emulateFieldOperator': ["for (const each of inMemory) if (!answers.has(each) || each === operator) found.set(each, 'here');", "for (const each of inMemory) found.set(each, 'here');"],
  },
  'src/agent/write/validation.ts': {
    '4.2 · Fields · addFieldValidation': ["if (answer.takes === 'expression' && (value as string).length > MAX_MATCHED_LENGTH) return false;", ''],
  },
  'src/agent/write/field-writers.ts': {
    '4.2 · Fields · replaceFieldWriting': ['if (column.computedFrom || column.isGenerated)', 'if (column.computedFrom)'],
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Fields · replaceFieldBinaryMode': ["if (primitive !== 'Binary')", "if (type !== 'Binary')"],
  },
  'src/agent/customize/customizer.ts': {
    '4.2 · Segments · addSegment': ["typeof name !== 'string' || name.trim() === ''", "typeof name !== 'string'"],
  },
  'src/agent/actions/catalogue.ts': {
    '4.2 · Actions · addAction': ["name === '' || name.trim() !== name", "name === ''"],
  },
  'src/agent/charts/charts.ts': {
    '4.2 · Charts · addChart': ["name === '' || name.trim() !== name", "name === ''"],
  },
  'src/agent/charts/builder.ts': {
    '4.3 · timeBased': ['if (labels.length === PERIODS_LIMIT)', 'if (labels.length > PERIODS_LIMIT)'],
    '4.3 · smart': ["if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return;", ''],
  },
  'src/oauth/server/router.ts': {
    '4.4 · endpoint · /.well-known/oauth-authorization-server': ["'Cache-Control': 'public, max-age=300'", "'Cache-Control': 'public, max-age=3600'"],
    '4.4 · endpoint · /oauth/token': ["exposed: ['WWW-Authenticate', 'Retry-After'],", "exposed: ['WWW-Authenticate'],"],
  },
  'src/oauth/server/paths.ts': {
    '4.4 · rule · discovery': ["publish(protectedResource, 'protectedResource');", ''],
  },
  'src/store/notes/rows.ts': {
    'api 2.2 · messages': [".orderBy('note_messages.id')", ".orderBy('note_messages.content')"],
  },
  'src/api/workflows/webhook.ts': {
    'api 4.2 · record_id': ['const bodyLimits = { bytes: 65_536, depth: 20 };', 'const bodyLimits = { bytes: 65_535, depth: 20 };'],
    'api 4.2 · 202': ['key.length >= 1 && key.length <= 255', 'key.length >= 1 && key.length <= 256'],
  },
}; // biome-ignore format: a table
