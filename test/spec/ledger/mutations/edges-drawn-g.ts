// Mutations of somebody who had not read the tests, one at an edge of each of 130 rows; these were not noticed at first.
import type { Points } from '../mutations.ts';

export const edgesDrawnG: Points = {
  'src/agent/actions/actions.ts': {
    '2.7 · caller · timezone': ["const zone = isZone(access.caller.timezone) ? access.caller.timezone : 'UTC';", "const zone = 'UTC';"],
  },
  'src/agent/actions/bounds.ts': {
    '2.4 · widget · TextInput': ["value === undefined || value === null || value === '' ||", 'value === undefined || value === null ||'],
  },
  'src/agent/actions/present.ts': {
    '2.4 · widget · DatePicker': [`    max: () => bound('max'),
`, ''],
  },
  'src/agent/model/fields.ts': {
    '4.2 · Fields · replaceFieldBinaryMode': ["{ binary: customizations.binary ?? 'datauri' }", "{ binary: computedFrom ? 'datauri' : (customizations.binary ?? 'datauri') }"],
  },
  'src/agent/operations/link-pairs.ts': {
    'decisions · MCP · several ids are all or nothing': ["if (missing.length) fail('RECORD_NOT_FOUND', { collection: to.name, id: missing[0]!, missing });", "if (missing.length) fail('RECORD_NOT_FOUND', { collection: to.name, id: missing[0]!, missing: missing.slice(0, 1) });"],
  },
  'src/agent/operations/read-only-scopes.ts': {
    'decisions · rights · row scopes by code are read-only': [`    case 'not':
      return findInLowered(filter.of);
`, `    case 'not':
      return undefined;
`],
  },
  'src/cli/served.ts': {
    'decisions · start · demo shop of 20,000 rows': ['return customize ?? (config.database === null ? (await loadDemoShop()).customizeDemo : undefined);', 'return config.database === null ? (await loadDemoShop()).customizeDemo : customize;'],
  },
  'src/cli/start/command.ts': {
    'decisions · start · --database serves another database': [': maskDatabases(config.database),', ': config.database,'],
  },
  'src/core/caller.ts': {
    'decisions · MCP · allow, ask, ask-person, deny': ['const secondPerson = policies.some((each) => each.secondPerson);', 'const secondPerson = policies.every((each) => each.secondPerson);'],
  },
  'src/mcp/results/form-result.ts': {
    '4.4 · tool · getActionForm': ['const optionSteps = [100, 30, 10, 3, 0];', 'const optionSteps = [100];'],
  },
  'src/mcp/tools/execute-action.ts': {
    '4.4 · tool · executeAction': ['searches: args.searches };', 'searches: {} };'],
  },
  'src/server/agent/config.ts': {
    '4.1 · mountAiMcpServer': [`  selectTools(loadConfig({ env: { SERVICE_MCP_ENABLED_TOOLS: env.SERVICE_MCP_ENABLED_TOOLS } }).enabledTools, () => {});
`, ''],
  },
  'src/testing/sandbox.ts': {
    'decisions · contract · close() of the sandbox': [`      server.closeAllConnections();
`, ''],
  },
  'src/workflows/runs/execution.ts': {
    "api 4.2 · the token's user": ["const isStillAllowed = access?.caller.renderingId === run.renderingId && access.can('browse', run.collection);", "const isStillAllowed = access?.can('browse', run.collection);"],
  },
  'src/workflows/steps/step.ts': {
    '2.7 · caller · role': ['return { id, email, firstName, lastName, team, role, timezone };', 'return { id, email, firstName, lastName, team, timezone };'],
  },
}; // biome-ignore format: a table
