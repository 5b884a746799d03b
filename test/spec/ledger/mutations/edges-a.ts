// Mutations of actions, computed fields and data sources where the promise reaches a user: a dry run, the schema file,
// another reader, the second of several values.
import type { Points } from '../mutations.ts';

export const edgesA: Points = {
  'src/agent/actions/actions.ts': {
    '2.3 · scope · Global': ['return { records: selected?.length ?? null, values: await form.submit(request.searches ?? {}) };', 'return { records: selected?.length ?? 0, values: await form.submit(request.searches ?? {}) };'],
    '2.3 · execute': ["const result = await runUserCode(entry, 'execute',", "const result = await runUserCode(entry, 'form',"],
  },
  'src/agent/actions/catalogue.ts': {
    '2.3 · scope · Single': ["if (scope !== 'Global' && engine.keyOf(collection)?.length === 0)", 'if (false)'],
    '2.3 · scope · Global': ["if (scope !== 'Global' && engine.keyOf(collection)?.length === 0)", 'if (engine.keyOf(collection)?.length === 0)'],
    '2.3 · execute': ["if (typeof execute !== 'function') refuse", 'if (!execute) refuse'],
    '2.3 · form': ["const kind = elements.length === 0 ? 'none' :", 'const kind ='],
  },
  'src/agent/actions/elements.ts': {
    '2.3 · form': ["(element.kind === 'field' || isStatic(element.children)),", 'true,'],
  },
  'src/agent/actions/failure.ts': {
    '2.3 · execute': ["  'ACTION_REFUSED',\n  'ACTION_FAILED',", "  'ACTION_FAILED',"],
  },
  'src/agent/actions/form.ts': {
    '2.3 · form': [
      ["if (cell !== formCell) roots = withProblems('form',", "if (!formCell) roots = withProblems('form',"],
      ["if (problems.length > 0) fail('INVALID_FORM',", "if (problems.length > 1) fail('INVALID_FORM',"],
    ],
  },
  'src/agent/actions/records.ts': {
    '2.3 · scope · Bulk': ['const SELECTION_LIMIT = 10_000;', 'const SELECTION_LIMIT = 9_999;'],
    '2.4 · collectionName': ["if (isAppError(error, 'INVALID_VALUE')) return false;", ''],
  },
  'src/agent/execute/computed-values.ts': {
    '2.5 · columnType · String': ["typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'", "typeof value === 'number' || typeof value === 'bigint'"],
    '2.5 · columnType · Number': ['/^-?\\d+(?:\\.\\d+)?$/.test(value)', '/^\\d+(?:\\.\\d+)?$/.test(value)'],
  },
  'src/agent/model/chosen-tables.ts': {
    '2.2 · rename': ['renames.get(table.name) ?? table.name', '(rename[table.name] ?? table.name)'],
  },
  'src/mcp/input/action-arguments.ts': {
    '2.3 · scope · Single': ['return [scope.toLowerCase(), ', "return [scope === 'Single' ? 'one' : scope.toLowerCase(), "],
    '2.3 · form': ["...(form === 'none' ? [] : ['form'])", "...(form === 'static' ? ['form'] : [])"],
  },
  'src/mcp/tools/execute-action.ts': {
    '2.3 · execute': ['if (!args.dryRun) {', 'if (true) {'],
  },
  'src/rest/records/selection.ts': {
    '2.3 · scope · Bulk': ['const missing = ids.filter((id) => !foundIds.has(id));', 'const missing: string[] = [];'],
  },
}; // biome-ignore format: a table
