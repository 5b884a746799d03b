// Random mutations of somebody who had not read the tests, at the edges of rows that had only one mutation.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of src/ contain templates.
import type { Points } from '../mutations.ts';

export const edgesDrawnE: Points = {
  'src/agent/actions/elements.ts': {
    '2.4 · widget · TimePicker': [["TimePicker: { types: ['Time'], options: [] }", "TimePicker: { types: ['Time', 'String'], options: [] }"], ["TimePicker: { types: ['Time'], options: [] }", "TimePicker: { types: ['Time'], options: ['placeholder'] }"]],
    '2.4 · widget · JsonEditor': [["JsonEditor: { types: ['Json'], options: [] }", "JsonEditor: { types: ['Json', 'String'], options: [] }"], ["JsonEditor: { types: ['Json'], options: [] }", "JsonEditor: { types: ['Json'], options: ['rows'] }"]],
    '2.4 · placeholder': ["...['placeholder', 'rows', 'min', 'max', 'step', 'currency', 'base', 'content'],", "...['rows', 'min', 'max', 'step', 'currency', 'base', 'content'],"],
  },
  'src/agent/actions/records.ts': {
    'decisions · rights · an action under a condition of the role': [['failing.slice(0, 20).map', 'failing.slice(0, 1).map'], ['if (!condition || !selected) return;', "if (!condition || !selected || entry.definition.scope === 'Bulk') return;"]],
  },
  'src/agent/ai/failure.ts': {
    '5 · apiKey': ["text.replaceAll(apiKey, '***')", "text.replace(apiKey, '***')"],
  },
  'src/agent/ai/provider.ts': {
    '5 · apiKey': ['/^[!-~]+$/', '/^[ -~]+$/'],
  },
  'src/agent/artifacts/typings.ts': {
    'decisions · HTTP API · typings stay small': [['count(collection, depth) > PATHS_LIMIT)', 'count(collection, depth) >= PATHS_LIMIT)'], ["else if (field.kind === 'one' && depth > 0)", 'else if (depth > 0)']],
  },
  'src/agent/encode/record-id.ts': {
    'decisions · HTTP API · packed ids': [["(next === '|' || next === '\\\\')", "next === '|'"], ["String(value).replace(/[|\\\\]/g, '\\\\$&')", "String(value).replace(/[|\\\\]/, '\\\\$&')"]],
  },
  'src/agent/operations/hooks.ts': {
    '2.7 · hook position · After': ['isDeliberateStop(error) ? error.message', 'error instanceof Error ? error.message'],
  },
  'src/agent/sources/evaluate.ts': {
    '2.7 · operator · EndsWith': ['return text.endsWith(operandText);', 'return text.trimEnd().endsWith(operandText);'],
  },
  'src/agent/write/effects.ts': {
    'decisions · MCP · dryRun shows before and after': ["(showsKey && !(preview && change === 'created') ? id : null)", '(showsKey && !preview ? id : null)'],
  },
  'src/agent/write/validation.ts': {
    '2.7 · validation · After': [['After: (value) => `send a value after ${value}`', 'After: (value) => `send a value before ${value}`'], ["? rule.operator === 'Present'", "? rule.operator === 'Present' || rule.operator === 'After'"]],
    '2.7 · validation · LessThan': [['LessThan: (value) => `send less than ${value}`', 'LessThan: (value) => `send ${value} or less`'], ['return evaluateFilter(filter, () => value);', "return (operator === 'LessThan' && value === operand) || evaluateFilter(filter, () => value);"]],
    '2.7 · validation · GreaterThan': [['GreaterThan: (value) => `send more than ${value}`', 'GreaterThan: (value) => `send ${value} or more`'], ['return evaluateFilter(filter, () => value);', "return (operator === 'GreaterThan' && value === operand) || evaluateFilter(filter, () => value);"]],
    '2.7 · validation · Contains': [['Contains: (value) => `send a string with ${JSON.stringify(value)} in it`', 'Contains: (value) => `send a string with ${value} in it`'], ['return evaluateFilter(filter, () => value);', "return evaluateFilter(filter.op === 'test' && filter.is === 'Contains' ? { ...filter, is: 'IContains' } : filter, () => value);"]],
  },
  'src/api/answer.ts': {
    'api 7.3 · 409': ['status === 409 ? message : statusMeanings[status]', 'statusMeanings[status]'],
    'api 7.2 · 5XX': [["503: 'Unavailable',", ''], ["(status < 500 ? 'Refused' : 'Failed'), message", "(status < 500 ? 'Refused' : 'Failed'), message: status < 500 ? message : 'Failed'"]],
  },
  'src/api/notes/schemas.ts': {
    'api 2.3 · Note message · object': [["object: z.literal('note-message'),", 'object: z.string(),'], [`    id: message.id,
    ...(message.editedAt`, `    id: message.id,
    object: 'note-thread-message' as never,
    ...(message.editedAt`]],
  },
  'src/api/schemas.ts': {
    'api 2.3 · Environment · object': [["z.literal('environment'), name", "z.literal('environment').optional(), name"], ["z.literal('environment'), name", 'z.string(), name']],
    'api 2.3 · User · object': [["z.literal('user'), id", "z.literal('user').optional(), id"], ["z.literal('user'), id", 'z.string(), id']],
  },
  'src/api/token-routes.ts': {
    'api 5 · scope · all': [`  'all',
  'mcp:write'`, "  'mcp:write'"],
    'api 5 · level · read-write': [[`  'records:action',
`, `  'records:read',
`], ['scopes.some((scope) => writeScopes.has(scope))', 'scopes.every((scope) => writeScopes.has(scope))']],
  },
  'src/api/workflows/webhook.ts': {
    'api 9 · webhook URL': ['trigger.version !== reference.version', 'trigger.version < reference.version'],
    'api 2.4 · runId': ['body: { runId: created.runId }', 'body: { ...created }'],
  },
  'src/core/observe.ts': {
    '2.1 · logger': [[`    } catch {
      // A failing logger must not`, `    } catch (error) {
      throw error;
      // A failing logger must not`], [`if (cause === undefined) logger(at, message);
      else logger(at, message, cause);`, 'logger(at, message, cause);']],
  },
  'src/http/csv-cell.ts': {
    'decisions · HTTP API · CSV safe for spreadsheets': [['\\uff0b\\uff0d\\uff1d\\uff20]', '\\uff0b\\uff0d\\uff1d]'], ['/[",;\\t\\r\\n]/', '/[",;\\t\\n]/']],
  },
  'src/mcp/call-log.ts': {
    'decisions · MCP · every call is an entry of the log': [["waits ? ({ outcome: 'denied', code: 'APPROVAL_PENDING' } as const) : outcomeOfCode", 'outcomeOfCode'], ['type: type ?? entryTypeOf(tool)', 'type: entryTypeOf(tool)']],
  },
  'src/mcp/results/write-result.ts': {
    'decisions · MCP · dryRun shows before and after': ['{ before: clipValue(before, limit), after:', '{ before: clipValue(before ?? after, limit), after:'],
  },
  'src/mcp/tools.ts': {
    '4.4 · rule · enabledTools': [['table.filter((tool) => enabled.includes(tool.name))', 'enabled.map((name) => table.find((tool) => tool.name === name)!)'], ['if (selected.length === 0) fail', 'if (selected.length === 0 && enabled.length > 0) fail']],
  },
  'src/oauth/server/adapter.ts': {
    'decisions · OAuth · refresh rotates, reuse ends the family': [['nowSeconds() - row.consumedAt < refreshGraceSeconds', 'nowSeconds() - row.consumedAt <= refreshGraceSeconds'], ['if (isFirst && row?.grantId && (await', 'if (false && row?.grantId && (await']],
  },
  'src/oauth/tokens/bearer.ts': {
    '5 · Bearer': [['(?:Bearer|DPoP) +(', '(?:Bearer|DPoP) ('], ['{16,512}=*)$/i.exec', '{16,512}=*)$/.exec']],
  },
  'src/rest/actions/form.ts': {
    '2.4 · placeholder': ['(isDropdown || placeholder !== null)', '(isDropdown || placeholder)'],
  },
  'src/server/agent/files.ts': {
    '2.1 · isProduction': [["if (cause === 'watch')", "if (cause !== 'start')"], ['(different.length > 5 ?', '(different.length >= 5 ?']],
  },
  'src/server/route.ts': {
    '4.4 · endpoint · /mcp': [['path === `${endpoint}/`)', 'path.startsWith(`${endpoint}/`))'], ['path === endpoint || path', 'path.toLowerCase() === endpoint || path']],
  },
  'src/store/database/database.ts': {
    'decisions · start · files for their owner only': [`    chmodSync(file, 0o600);
`, ''],
  },
  'src/store/keys.ts': {
    'decisions · start · files for their owner only': ["mode: 0o600, flag: 'wx'", "flag: 'wx'"],
  },
  'src/store/workflows/runs.ts': {
    'api 2.4 · runId': ["{ state: 'repeated', runId: same.id }", "{ state: 'repeated', runId: row.id }"],
  },
  'src/store/workflows/workflows.ts': {
    'api 9 · webhook URL': ['isEnabled === true && row.trigger_version === 0;', 'isEnabled === true;'],
    'api 3.1 · an editor disables the trigger': [`await raiseVersion(trx, 'workflows');
        const detail`, 'const detail'],
  },
  'src/workflows/triggers/trigger.ts': {
    'api 3.1 · an editor disables the trigger': ["caller.permissionLevel !== 'user';", "caller.permissionLevel !== 'user' && caller.permissionLevel !== 'editor';"],
  },
  'src/workflows/workflows.ts': {
    'api 4.2 · not verified': [['recordId.length > MAX_RECORD_ID_LENGTH ||', 'recordId.length >= MAX_RECORD_ID_LENGTH ||'], ["recordId.includes('\\0')", '/\\s/.test(recordId)']],
  },
}; // biome-ignore format: a table
