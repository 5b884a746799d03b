// Files of tests that are about a row as a whole: all their tests are proofs of it.
import type { Proof } from './decisions.ts';

const files = (...names: readonly string[]): Proof[] =>
  names.map((name) => ({ file: `test/${name}.test.ts`, titles: [] }));

const customized = files('agent/customize', 'agent/defects/customizer');
const related = [
  ...customized,
  ...files('spec/2.6-edges-outside', 'spec/2.6-relations-outside', 'agent/relation-names'),
];
const evaluated = [...customized, ...files('agent/cursors', 'agent/wrong-things')];
const charts = files('agent/charts', 'agent/measure-charts', 'rest/charts', 'mcp/charts', 'spec/4.3-charts-outside');

const everyTool = files('mcp/matrix', 'spec/4.4-every-tool', 'spec/4.4-tools-outside', 'spec/4.4-tool-edges-outside');
const reads = [
  ...everyTool,
  ...files('mcp/arguments', 'mcp/calls', 'mcp/continued', 'mcp/list-columns', 'mcp/wide-projections'),
];
const writes = [
  ...everyTool,
  ...files('mcp/writes', 'mcp/idempotency', 'agent/writes', 'agent/write-refusals', 'spec/4.4-writes'),
];
const links = [...writes, ...files('agent/many-to-many')];
const actions = [
  ...everyTool,
  ...files('agent/actions/permissions', 'agent/actions/conditions', 'agent/actions/forms', 'agent/actions/start'),
];

const mcpRequests = files(
  'spec/4.4-mcp-endpoint-outside',
  'mcp/refusals',
  'app/http',
  'app/challenge',
  'app/host-check',
  'app/rate-limit',
  'oauth/tokens',
);
const mounted = files(
  'spec/4.4-endpoints',
  'spec/4.4-namespaces-outside',
  'spec/4.4-authorization-outside',
  'oauth/routes',
  'app/addresses',
);
const authorized = [...mounted, ...files('oauth/flow', 'oauth/clients', 'oauth/policies')];
const redeemed = [...mounted, ...files('oauth/tokens', 'oauth/refresh', 'oauth/clients', 'oauth/policies')];
const discovered = [...mounted, ...files('app/challenge')];

const dataRoutes = files(
  'rest/shapes',
  'rest/related',
  'rest/writes',
  'rest/route',
  'rest/matrix',
  'rest/types',
  'spec/4.5-data-routes-outside',
  'spec/4.5-collection-routes',
);
const cloud = files('api/cloud');
const testing = files(
  'testing/agent-client',
  'testing/writes',
  'testing/wire',
  'testing/external',
  'testing/mcp-client',
  'spec/2.9-testing-client-options',
);
const ai = files('agent/ai', 'agent/ai-stream', 'agent/ai-in-code');

const call = files('api/api', 'api/wrong-things', 'spec/api-4.3-answers');
const notes = [
  ...call,
  ...files('api/notes', 'api/openapi', 'store/notes', 'spec/api-2.2-note', 'spec/api-4.1-list-notes'),
];
const tokens = [
  ...call,
  ...files(
    'store/tokens',
    'console/tokens',
    'oauth/application-tokens',
    'app/application-tokens',
    'rest/programs',
    'spec/api-5-tokens',
    'spec/api-2.5-application-token',
  ),
];
const scopes = [
  ...call,
  ...files('api/notes', 'api/activity-logs', 'api/admin-logs', 'api/openapi', 'spec/api-5-tokens'),
];
const activityLogs = [
  ...call,
  ...files(
    'api/activity-logs',
    'console/logs',
    'store/activity',
    'api/openapi',
    'spec/api-2.6-log-records',
    'spec/api-4.3-other-endpoints',
  ),
];
const adminLogs = [
  ...call,
  ...files('api/admin-logs', 'console/logs', 'api/openapi', 'spec/api-2.6-log-records', 'spec/api-4.3-other-endpoints'),
];
const webhook = files(
  'api/webhook',
  'api/workflows',
  'api/openapi',
  'spec/api-4.2-trigger-a-run',
  'spec/api-4.2-bounds',
  'spec/api-7.3-webhook-errors',
  'spec/api-5-webhook',
);
const runs = [...webhook, ...files('store/runs', 'spec/api-3.1-webhook-trigger', 'spec/api-3.2-workflow-run')];
const limits = [
  ...call,
  ...files('api/limits', 'store/quotas', 'spec/api-8-limits', 'spec/api-7.2-notes-listing-errors'),
];

const each = (section: string, names: readonly string[], of: readonly Proof[]) =>
  Object.fromEntries(names.map((name) => [`${section} · ${name}`, of]));

/** By the id of the row. */
// biome-ignore format: a table
export const proofsOfFiles: Readonly<Record<string, readonly Proof[]>> = {
  '4.2 · Actions · addAction': [...actions, ...files('spec/2.3-action-outside', 'spec/2.3-edges-outside', 'spec/2.3-whole-outside')],
  '4.2 · Fields · addField': [...customized, ...files('spec/2.5-computed-outside', 'spec/2.5-whole-outside')],
  '4.2 · Fields · importField': [...customized, ...files('agent/defects-of-writes', 'agent/relation-names', 'spec/4.2-writes')],
  '4.2 · Fields · renameField': [...customized, ...files('agent/relation-names')],
  '4.2 · Fields · removeField': [...customized, ...files('agent/relation-names')],
  '4.2 · Fields · addFieldValidation': [...customized, ...files('spec/2.7-field-validation', 'agent/schema-file')],
  '4.2 · Fields · setFieldNullable': [...customized, ...files('spec/2.7-field-validation')],
  '4.2 · Fields · replaceFieldWriting': [...customized, ...files('agent/defects-of-writes', 'app/visible-writes', 'spec/4.2-writes')],
  '4.2 · Fields · replaceFieldBinaryMode': [...customized, ...files('spec/4.2-binary-mode')],
  '4.2 · Relations · addManyToOneRelation': related,
  '4.2 · Relations · addOneToManyRelation': related,
  '4.2 · Relations · addOneToOneRelation': related,
  '4.2 · Relations · addManyToManyRelation': [...related, ...files('agent/many-to-many')],
  '4.2 · Relations · addExternalRelation': [...related, ...files('agent/external', 'testing/external')],
  '4.2 · Segments · addSegment': [...customized, ...files('spec/2.7-conditions-outside')],
  '4.2 · Hooks · addHook': [...customized, ...files('spec/2.7-hooks', 'spec/2.7-code-outside', 'spec/2.7-code-edges-outside')],
  ...each('4.2 · Search', ['replaceSearch', 'disableSearch'], [...customized, ...files('agent/search')]),
  ...each('4.2 · Sorting', ['emulateFieldSorting', 'replaceFieldSorting', 'disableFieldSorting'], evaluated),
  ...each('4.2 · Filtering', ['emulateFieldFiltering', 'emulateFieldOperator', 'replaceFieldOperator'], [...evaluated, ...files('agent/match')]),
  '4.2 · Charts · addChart': charts,
  ...each('4.2 · Overrides', ['overrideCreate', 'overrideUpdate', 'overrideDelete'], files('spec/4.2-writes', 'agent/overridden-views', 'agent/inside', 'agent/defects-of-writes')),
  '4.2 · Other · disableCount': [...customized, ...files('rest/shapes')],
  '4.2 · Other · use': files('spec/2.8-plugins-outside'),

  ...each('4.3', ['value', 'distribution', 'timeBased', 'multipleTimeBased', 'percentage', 'objective', 'leaderboard', 'smart'], charts),

  '4.4 · tool · describeCollection': [...everyTool, ...files('spec/4.4-describe-and-list', 'mcp/find', 'mcp/meaning', 'mcp/resources', 'mcp/arguments', 'agent/meaning', 'agent/display-field')],
  '4.4 · tool · list': [...reads, ...files('spec/4.4-describe-and-list', 'mcp/count-budget', 'mcp/deep-pages', 'mcp/quantified-filters', 'agent/names', 'agent/cursors')],
  '4.4 · tool · listRelated': [...reads, ...files('spec/4.4-list-related', 'agent/many-to-many')],
  ...each('4.4 · tool', ['create', 'update', 'delete'], [...writes, ...files('agent/defects-of-writes', 'app/visible-writes')]),
  ...each('4.4 · tool', ['associate', 'dissociate'], links),
  '4.4 · tool · getActionForm': [...actions, ...files('spec/4.4-action-form', 'defects/contract-details')],
  '4.4 · tool · executeAction': [...actions, ...files('spec/4.4-execute-action', 'spec/2.3-whole-outside', 'mcp/files', 'mcp/idempotency', 'agent/actions/composite-ids', 'app/action-writes')],
  '4.4 · endpoint · /mcp': [...mounted, ...mcpRequests, ...files('app/browser-page', 'mcp/direct')],
  '4.4 · endpoint · /oauth/authorize': authorized,
  '4.4 · endpoint · /oauth/token': redeemed,
  '4.4 · endpoint · /.well-known/oauth-authorization-server': discovered,
  '4.4 · endpoint · /.well-known/oauth-protected-resource/mcp': discovered,
  '4.4 · basePath · <prefix>/mcp': [...mounted, ...mcpRequests],
  '4.4 · basePath · <prefix>/oauth/authorize': authorized,
  '4.4 · basePath · <prefix>/oauth/token': redeemed,
  '4.4 · basePath · /.well-known/oauth-authorization-server<prefix>': discovered,
  '4.4 · basePath · /.well-known/oauth-protected-resource<prefix>/mcp': discovered,
  '4.4 · rule · prefix': mounted,
  '4.4 · rule · capture': [...mounted, ...files('hosts/untouched', 'http/entry-points')],
  '4.4 · rule · discovery': [...discovered, ...files('oauth/flow')],
  '4.4 · rule · enabledTools': [...everyTool, ...files('mcp/absent-tools', 'mcp/calls', 'mcp/prompts')],

  ...each('4.5', ['collections', 'prefix'], dataRoutes),
  ...each('4.6', ['bootstrap', 'update-typings', 'login'], cloud),
  ...each('4.7', ['createForestServerSandbox', 'createAgentTestClient', 'workflow'], testing),

  '5 · authSecret': files('rest/sign-in', 'spec/2.1-agent-options', 'spec/2.9-testing-client-options'),
  '5 · envSecret': files('spec/2.1-agent-options', 'app/environments', 'api/cloud', 'spec/2.9-testing-client-options'),
  '5 · Bearer': [...mcpRequests, ...files('app/wrong-things')],
  '5 · discovery': [...discovered, ...files('oauth/flow')],
  '5 · apiKey': ai,
  '7 · useUnsafeActionEndpoint': files('agent/actions/start', 'spec/2.1-action-routes', 'spec/2.1-agent-options', 'rest/matrix'),
  '7 · addAi': [...ai, ...files('spec/4.1-agent', 'spec/4.1-refusals-outside')],
  '7 · basePath': [...files('hosts/wrong-things', 'app/addresses', 'spec/4.4-endpoints')],
  '7 · namespaces': [...mounted, ...files('http/entry-points')],
  '9 · generateSchemaOnly': files('spec/4.1-agent', 'spec/4.1-agent-outside', 'agent/typings', 'agent/schema-file', 'app/schema-paths'),

  ...each('api 1 · paths name', ['project', 'environment'], [...call, ...files('api/openapi')]),
  ...each('api 2.1', ['hasMore', 'parameters', 'data'], [...notes, ...files('api/notes-random')]),
  ...each('api 2.2', ['object', 'id', 'title', 'recordId', 'createdAt', 'updatedAt', 'archivedAt', 'user', 'environment', 'team', 'collection', 'messages'], notes),
  ...each('api 2.3', ['User · object', 'User · id', 'User · username', 'User · email', 'Environment · object', 'Environment · name', 'Team · object', 'Team · name', 'Collection · object', 'Collection · name'], notes),
  ...each('api 2.3 · Note message', ['object', 'content', 'createdAt', 'user'], [...notes, ...files('console/notes', 'http/html-text')]),
  'api 2.4 · runId': runs,
  ...each('api 2.5', ['name', 'project', 'creation date', 'last used', 'expiration date', 'scopes', 'value'], tokens),
  'api 2.6 · Activity log': activityLogs,
  'api 2.6 · admin log': adminLogs,
  ...each('api 3.1', ['an editor disables the trigger', 'an editor regenerates the URL'], runs),
  ...each('api 3.2', ['queued', 'active run', 'fresh run'], [...runs, ...files('workflow/executor')]),
  'api 3.3 · archivedAt': [...notes, ...files('console/notes')],
  ...each('api 4.1', ['projectName', 'environmentName', 'limit', 'userEmail', 'userId', 'teamName', 'collectionName', 'recordId', 'sorted by id descending'], [...notes, ...files('api/notes-random', 'spec/api-7.2-notes-listing-errors')]),
  ...Object.assign({}, ...['createdAt', 'updatedAt', 'archivedAt'].map((time) => each('api 4.1', ['eq', 'lt', 'lte', 'gt', 'gte'].map((comparison) => `${time}.${comparison}`), [...notes, ...files('api/notes-random', 'spec/api-7.2-notes-listing-errors')]))),
  'api 4.1 · Admin role': [...scopes, ...tokens],
  ...each('api 4.2', ['{webhook_url}', 'authority', 'latest', 'record_id', 'unknown fields', 'not verified', '202', '409', "the token's user"], runs),
  'api 4.3 · activity-logs': activityLogs,
  'api 4.3 · admin-logs': adminLogs,
  'api 4.3 · notes': notes,
  ...each('api 5', ['Bearer', 'Admin role', 'SSO', 'revoked'], tokens),
  'api 5 · expire': [...tokens, ...files('rest/programs')],
  ...each('api 5 · level', ['read-only', 'read-write'], scopes),
  ...each('api 5 · scope', ['activity_logs:read', 'admin_logs:read', 'notes:read', 'notes:write', 'all'], [...scopes, ...tokens]),
  'api 5 · webhook': [...webhook, ...tokens],
  ...each('api 7.1', ['401', '403', 'An expired token'], [...scopes, ...tokens]),
  'api 7.2 · 429': limits,
  'api 7.2 · 4XX': [...notes, ...files('spec/api-7.2-notes-listing-errors')],
  'api 7.2 · 5XX': [...call, ...files('spec/api-7.2-notes-listing-errors')],
  ...each('api 7.3', ['400', '401', '403', '404', '409', '429'], runs),
  'api 8 · limit query parameter': [...notes, ...files('spec/api-7.2-notes-listing-errors')],
  'api 8 · webhook rate': [...webhook, ...files('store/quotas', 'spec/api-8-limits')],
  'api 8 · active runs': runs,
  'api 8 · public API rate': limits,
  'api 9 · Public API paths': [...call, ...files('api/openapi')],
  'api 9 · webhook URL': runs,
};
