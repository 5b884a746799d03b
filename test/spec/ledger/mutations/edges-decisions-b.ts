// Edges of the decisions about MCP and the HTTP API. Each is noticed by a test that looks at this edge by itself.
import type { Points } from '../mutations.ts';

export const edgesOfDecisionsB: Points = {
  'src/agent/ai/provider.ts': {
    'decisions · HTTP API · AI queries in the form of chat completions': ['AbortSignal.any([ofCall, signal])', 'signal'],
  },
  'src/agent/encode/record-id.ts': {
    'decisions · HTTP API · packed ids': ["packed[at] === '\\\\' && (next", '(next'],
  },
  'src/console/pages/approvals/decide.ts': {
    'decisions · MCP · a second person': [
      [`    reportSecurity('approval.refused');
`, ''],
      ["if (review.may !== 'decide') {", "if (review.may === 'other') {"],
      ["if (review.may !== 'decide') {", "if (review.may !== 'decide' && verdict === 'approved') {"],
    ],
    'decisions · MCP · an approval is bound to what it was given for': [
      [`  if (!isSeen(review)) return { state: 'changed', approval };
`, ''],
      [`  if (verdict === 'denied') await dropFiles(approval, parts);
`, ''],
      ["outcome: isDecided ? 'completed' : 'failed'", "outcome: 'completed'"],
    ],
  },
  'src/core/observe/failures.ts': {
    'decisions · HTTP API · what code throws is logged with its cause': [
      [`    logged.add(thrown);
`, ''],
      ['cause: error.cause });', 'cause: undefined });'],
    ],
  },
  'src/frameworks/express.ts': {
    'decisions · HTTP API · routes of the host that are ours are named at the start': [
      ['[route?.path].flat()', '[route?.path]'],
      ['(holder._router ?? holder.router)', 'holder.router'],
    ],
  },
  'src/frameworks/fastify.ts': {
    'decisions · HTTP API · routes of the host that are ours are named at the start': [
      ["(depth === 0 ? '' : (above[depth - 1] ?? '')) + text", 'text'],
      ["[...readRoutes(app.printRoutes?.({ commonPrefix: false }) ?? ''), ...routes]", 'routes'],
    ],
  },
  'src/frameworks/kinds.ts': {
    'decisions · HTTP API · routes of the host that are ours are named at the start': ['[...new Set([...hosts].flatMap((host) => host.routes()))].filter(isOurs)', '[...hosts].flatMap((host) => host.routes()).filter(isOurs)'],
  },
  'src/frameworks/koa.ts': {
    'decisions · HTTP API · routes of the host that are ours are named at the start': ['return { routes: () => findRoutes(app.middleware) };', `const found = findRoutes(app.middleware);
    return { routes: () => found };`],
  },
  'src/http/error-reply.ts': {
    'decisions · HTTP API · errors as JSON everywhere': [
      [`if (retryAfter !== undefined) res.setHeader('Retry-After', \`\${retryAfter}\`);`, ''],
      ["if (isAppError(error, 'METHOD_NOT_ALLOWED')) res.setHeader('Allow', error.details.allow.join(', '));", ''],
      [`      res.setHeader('Connection', 'close');
`, ''],
      ['authorization === undefined ? \'\' : \', error="invalid_token"\'', '\', error="invalid_token"\''],
      [`      res.destroy();
      return;`, `      res.end();
      return;`],
    ],
  },
  'src/mcp/idempotency.ts': {
    'decisions · MCP · idempotencyKey': [
      ['if (!isStarted || (!hasWritten && wroteNothing', 'if (!isStarted || (wroteNothing'],
      [`if (waits) await acquired.release();
    else if`, 'if'],
      ['WAIT_MS = 10_000', 'WAIT_MS = 0'],
      ['clock.monotonic() >= until', 'false'],
      [`  'INVALID_FORM',
`, ''],
      ['[allowedVerbs, key, fields', '[allowedVerbs, fields'],
      [', access.scope(collection)]', ']'],
      ['const allowedVerbs = verbs.filter((verb) => access.can(verb, collection));', "const allowedVerbs = ['x'];"],
    ],
  },
  'src/mcp/results/list-result.ts': {
    'decisions · MCP · one text block of compact JSON within a budget': [
      ['const count = Math.max(1, countThatFits(answer, options, shown));', 'const count = countThatFits(answer, options, shown);'],
      ['if (count === 1) return formatSingle(await withFirst({ ...answer, hasMore: true }, options), options, note);', ''],
      [`answer.cursorAfter(count - 1) === undefined
`, `answer.cursorAfter(answer.rows.length - 1) !== undefined
`],
      [`? answer.cursorAfter(items.length - 1) : undefined;
  const rest`, `? answer.cursorAfter(answer.rows.length - 1) : undefined;
  const rest`],
      ['...(options.totalCount === undefined ? {} : { totalCount: options.totalCount })', '...(options.totalCount ? { totalCount: options.totalCount } : {})'],
      [`  if (!fits(low))
`, `  if (false)
`],
    ],
  },
  'src/mcp/tools.ts': {
    'decisions · MCP · the list of enabled tools is exact': [
      ['if (toolNames.includes(name)) continue;', 'if (toolNames.some((known) => known.toLowerCase() === name.toLowerCase())) continue;'],
      ['if (selected.length === 0) fail(', 'if (false) fail('],
      ['if (!enabled.includes(describeCollection.name)) {', 'if (false) {'],
      [`  for (const name of enabled) {
    if`, `  for (const name of enabled.slice(0, 1)) {
    if`],
    ],
  },
  'src/mcp/tools/aggregate.ts': {
    'decisions · MCP · title and hints of every tool': ['readOnlyHint: true', 'readOnlyHint: false'],
  },
  'src/mcp/tools/execute-action.ts': {
    'decisions · MCP · title and hints of every tool': [
      ['destructiveHint: true', 'destructiveHint: false'],
      ['openWorldHint: true', 'openWorldHint: false'],
    ],
  },
  'src/mcp/tools/get-chart.ts': {
    'decisions · MCP · title and hints of every tool': ['idempotentHint: true', 'idempotentHint: false'],
  },
  'src/mcp/tools/listing.ts': {
    'decisions · MCP · segment, timezone, cursor, format': [
      ['const skip = args.cursor ? 0 : (args.number - 1) * limit;', 'const skip = (args.number - 1) * limit;'],
      ['reads.count(conditions,', 'reads.count({ ...conditions, segment: undefined } as never,'],
      ['timeoutMs: COUNT_MS', 'timeoutMs: COUNT_MS * 30'],
    ],
    'decisions · HTTP API · bounded pages': ['  if (limit > pageSizeLimit) {', '  if (!args.cursor && limit > pageSizeLimit) {'],
  },
  'src/mcp/tools/request-action-file-upload.ts': {
    'decisions · MCP · title and hints of every tool': ['idempotentHint: false', 'idempotentHint: true'],
  },
  'src/mcp/tools/trigger-workflow.ts': {
    'decisions · MCP · title and hints of every tool': ['openWorldHint: true', 'openWorldHint: false'],
  },
  'src/mcp/tools/update.ts': {
    'decisions · MCP · title and hints of every tool': ['openWorldHint: false', 'openWorldHint: true'],
  },
  'src/mcp/uploads/file-values.ts': {
    'decisions · MCP · uploads of files': [
      ['if (isAppError(error) && !executedCodes.has(error.code)) isUsed = false;', 'if (isAppError(error)) isUsed = false;'],
      ['const found = reserved.get(key) ?? files', 'const found = files'],
      ['Object.values(values).flat()', 'Object.values(values)'],
      [`  'CANCELLED',
`, ''],
      [`  'TIMED_OUT',
`, ''],
      [`  'ACTION_REFUSED',
`, ''],
    ],
  },
  'src/mcp/uploads/files.ts': {
    'decisions · MCP · uploads of files': [
      ["row?.userId === userId && row.state === 'ready' ?", 'row?.userId === userId ?'],
      ["else await rows.move(id, 'taken', 'ready');", ''],
      ["row?.kind !== 'upload' || row.userId !== userId", "row?.kind !== 'upload'"],
      ['row.expiresAt < until', 'row.expiresAt > until'],
    ],
    'decisions · MCP · downloads of files': [
      ["if (row?.state !== 'ready') return fail('FILE_GONE', { next: downloadAdvice });", "if (!row) return fail('FILE_GONE', { next: downloadAdvice });"],
      ["await add('download', userId, about, seconds);", "await add('download', userId, about);"],
      [`        await rows.remove(id);
        if ((error`, '        if ((error'],
    ],
  },
  'src/mcp/uploads/router.ts': {
    'decisions · MCP · uploads of files': [
      ["contentType === announced || contentType === 'application/octet-stream'", 'contentType === announced'],
      ['if (contentType === undefined || ', 'if ('],
      ['?.[1]?.toLowerCase();', '?.[1];'],
      ["res.writeHead(201, { 'content-type': 'application/json', 'cache-control': 'no-store' });", "res.writeHead(201, { 'content-type': 'application/json' });"],
    ],
    'decisions · MCP · downloads of files': [`      'referrer-policy': 'no-referrer',
`, ''],
  },
  'src/mcp/webhook.ts': {
    'decisions · MCP · webhooks of actions are sent through the guard': [
      ['TIMEOUT_SECONDS * 1000, stop', 'TIMEOUT_SECONDS * 10_000, stop'],
      ["signal.addEventListener('abort', stop);", ''],
      ["method === 'GET' || method === 'HEAD'", "method === 'GET'"],
      ["bodiless || forwarded.some(([name]) => name.toLowerCase() === 'content-type')", "bodiless || forwarded.some(([name]) => name === 'content-type')"],
      ['has(name.toLowerCase())', 'has(name)'],
      ["typeof body === 'string' ? body : JSON.stringify(body)", 'JSON.stringify(body)'],
    ],
  },
  'src/rest/ai-query.ts': {
    'decisions · HTTP API · AI queries in the form of chat completions': [
      [`consume(\`\${access.caller.id}\`)`, "consume('')"],
      ['stream !== undefined && stream !== null && typeof', 'stream !== undefined && typeof'],
      ['if (options === undefined || options === null) return false;', 'if (options === undefined) return false;'],
    ],
  },
  'src/rest/capabilities.ts': {
    'decisions · HTTP API · capabilities': [
      ['field.sortable && field.type', 'field.type'],
      ['...(field.binaryMode && { binaryMode: field.binaryMode }),', ''],
      [".filter(({ kind }) => kind === 'one')", '.filter(() => true)'],
      ['names ? visible', 'names?.length ? visible'],
      ["type.startsWith('[') ? [type.slice(1, -1)] : type", 'type'],
      ["&& !field.type.startsWith('[')", ''],
      [".filter(({ type }) => !type.startsWith('{'))", ''],
      ["collectionNames.every((name) => typeof name === 'string')", 'true'],
    ],
  },
  'src/store/approvals/approvals.ts': {
    'decisions · MCP · a second person': [
      ['.where((either) => either.where({ second_person: false }).orWhereNot({ user_id: by }))', ''],
      ['second_person: request.policy.secondPerson,', "second_person: request.policy.secondPerson && request.policy.policy === 'ask-person',"],
    ],
    'decisions · MCP · an approval is bound to what it was given for': [
      ['clientId, grantId ?? tokenId ?? null, tool, args]), secret', 'clientId, grantId ?? null, tool, args]), secret'],
      ["begin: (id, call) => use(id, call, { state: 'running', expires_at: clock.now() + RESULT_MS })", "begin: (id, call) => use(id, call, { state: 'running' })"],
      ["table().where({ id }).whereNotIn('state', ['pending', 'approved']).update({ open_key: null })", 'table().where({ id }).update({ open_key: null })'],
    ],
  },
  'src/store/approvals/idempotency.ts': {
    'decisions · MCP · idempotencyKey': [
      ["await database.retry(() => table().where({ key_hash }).where('expires_at', '<=', now).delete());", ''],
      [`cancel = clock.after(ALIVE_MS / 3, stayAlive);
        });`, `void 0;
        });`],
    ],
  },
}; // biome-ignore format: a table
