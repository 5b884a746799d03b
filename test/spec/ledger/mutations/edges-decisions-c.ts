// Edges of the decisions on the public API, the workflows and the changes that no test of their rows noticed before.
import type { Points } from '../mutations.ts';

export const edgesOfDecisionsC: Points = {
  'src/api/list.ts': {
    'decisions · public API · cursor': [
      'return isComplete && cursorHash === queryHash && id !== undefined',
      'return cursorHash === queryHash && id !== undefined',
    ],
  },
  'src/api/logs/admin-log-routes.ts': {
    'decisions · public API · unknown parameters are 400 with their name': [
      'query: { ...exportParameters, ...filters },',
      'query: { ...exportParameters, ...filters, limit: integer(1, 100), cursor: text() },',
    ],
  },
  'src/api/parameters.ts': {
    'decisions · public API · unknown parameters are 400 with their name': [
      ['if (!/^\\d{4}.*[^T]$/.test(form)) return undefined;', 'if (!/^\\d{4}.*$/.test(form)) return undefined;'],
      ['/^(0|[1-9]\\d{0,9})$/.test(text)', '/^\\d{1,10}$/.test(text)'],
      [".refine((value) => !value.includes('\\0'))", ".refine((value) => value !== '\\0')"],
    ],
  },
  'src/api/workflows/run-routes.ts': {
    'decisions · public API · cursor': [
      [
        'const last = found.length > limit ? page.at(-1) : undefined;',
        'const last = found.length >= limit ? page.at(-1) : undefined;',
      ],
      [
        'parameters: { ...path, limit, ...sent },',
        'parameters: { ...path, limit, ...(cursor !== undefined && { cursor }), ...sent },',
      ],
      [
        "const queryHash = hashQuery('runs', path, sent);",
        "const queryHash = hashQuery('runs', path, { ...sent, limit });",
      ],
    ],
    'decisions · public API · runs are listed': ['limit: integer(1, 100, 10),', 'limit: integer(1, 1000, 10),'],
  },
  'src/store/workflows/runs.ts': {
    'decisions · public API · cursor': [
      ".orWhere((same) => same.where('r.created_at', afterRow().select('created_at')).where('r.id', '<', after)),",
      ',',
    ],
  },
};
