// Mutations for the points that the design decides: switched off, or wrong in an edge case.
import type { Points } from '../mutations.ts';

export const ofDecisions: Points = {
  'src/rest/reserved.ts': {
    'decisions · HTTP API · reserved names of collections': ["'scope-cache-invalidation', ", ''],
  },
  'src/http/csv-cell.ts': {
    'decisions · HTTP API · CSV safe for spreadsheets': ['/^[=+\\-@\\t', '/^[+\\-@\\t'],
  },
  'src/core/observe/failures.ts': {
    'decisions · HTTP API · what code throws is logged with its cause': [
      '(error.cause === undefined || error.status < 500)',
      'error.status <= 500',
    ],
  },
  'src/agent/customize/option-checks.ts': {
    'decisions · HTTP API · unknown properties of definitions end the start': ['if (!names.includes(name)) failUnknownOption', 'if (false) failUnknownOption'],
  },
  'src/console/pages/approvals/decide.ts': {
    'decisions · changes · approvals are executed by the server': ["verdict === 'approved' ? parts.execution?.run(approval)", 'false ? parts.execution?.run(approval)'],
  },
  'src/oauth/tokens/dpop.ts': {
    'decisions · OAuth · DPoP': ['if (!timingSafeEqualText(await calculateJwkThumbprint', 'if (false && !timingSafeEqualText(await calculateJwkThumbprint'],
  },
  'src/oauth/tokens/access-token.ts': {
    'decisions · OAuth · tokens are for one audience': ["if (payload.aud !== paths.resource) return refuse('The token was issued for another resource.');", ''],
  },
  'src/oauth/server/adapter.ts': {
    'decisions · OAuth · refresh rotates, reuse ends the family': ['!(await rows.hasConsumedSuccessor(', '(await rows.hasConsumedSuccessor('],
  },
  'src/oauth/consent/first-site.ts': {
    'decisions · changes · consent offers what the rights allow, one page of one button': ["return ['none', 'same-origin'].includes(", "return ['none', 'same-origin', 'cross-site'].includes("],
  },
  'src/oauth/clients/display-name.ts': {
    'decisions · OAuth · consent says who asks': ['isDocumentClient(clientId) ? {', 'clientId ? {'],
  },
  'src/mcp/tools.ts': {
    'decisions · MCP · the list of enabled tools is exact': ['table.filter((tool) => enabled.includes(tool.name))', "table.filter((tool) => enabled.includes(tool.name) || tool.name === 'describeCollection')"],
  },
  'src/mcp/approvals/approval-state.ts': {
    'decisions · MCP · an approval is bound to what it was given for': ['hashToken(JSON.stringify([userId, clientId, grantId ?? tokenId ?? null, tool, args]))', 'hashToken(JSON.stringify([userId, clientId, tool]))'],
  },
  'src/mcp/uploads/files.ts': {
    'decisions · MCP · uploads of files': ['if (used) await rows.remove(id);', 'if (!used) await rows.remove(id);'],
  },
  'src/mcp/input/write-options.ts': {
    'decisions · MCP · dryRun shows before and after': ['preview: dryRun', 'preview: false'],
  },
  'src/mcp/call-log.ts': {
    'decisions · MCP · every call is an entry of the log': ['parts.activity.record({ ...entryOf(call), ...outcomeOf(call), durationMs });', ''],
  },
  'src/mcp/tool-call.ts': {
    'decisions · MCP · a write is marked before it is done': ['if (intent) await completeEntry(parts, intent, call, answer.recordIds, written);', ''],
  },
  'src/agent/write/cascades.ts': {
    'decisions · changes · cascades': ['if (!access.mayCascade(root.name) || !access.mayCascade(name))', 'if (!access.mayCascade(root.name))'],
  },
  'src/api/workflows/webhook.ts': {
    'decisions · workflows · a superseded address is 400 also when disabled': ['if (!isKeyValid || trigger.version !== reference.version ||', 'if (trigger.isEnabled && trigger.version !== reference.version ||'],
    'decisions · public API · Idempotency-Key of a webhook': ["if (created.state === 'mismatch') return fail('TRIGGER_KEY_REUSED', {});", ''],
    'decisions · public API · signature of a webhook': ['if (presentHeaders.length === 0 && !trigger.needsSignature) return false;', 'if (body.length === 0) return false;'],
  },
  'src/api/parameters.ts': {
    'decisions · public API · unknown parameters are 400 with their name': ["if (query.getAll(name).length > 1) fail(", 'if (query.getAll(name).length > 2) fail('],
  },
  'src/rest/capabilities.ts': {
    'decisions · HTTP API · capabilities': ['operators: field.operators.map(snakeOperator)', 'operators: []'],
  },
  'src/rest/charts/statistics.ts': {
    'decisions · HTTP API · statistics and charts': ['...(countPrevious !== undefined && { countPrevious })', ''],
  },
}; // biome-ignore format: a table
