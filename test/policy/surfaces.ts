// Entry points that manage Portico itself, not the shop's records, with the access that docs/apis.md and
// docs/console.md describe. A route that is missing here fails.

/**
 * For each route, the scope of the token, and whether its user must be an administrator. Without a scope, any token
 * works.
 */
export const apiRights: Readonly<Record<string, { readonly scope?: string; readonly admin?: true }>> = {
  'GET /v1/token': {},
  'GET /v1/project/{projectName}/tokens': { scope: 'all', admin: true },
  'DELETE /v1/project/{projectName}/tokens/{tokenId}': { scope: 'all', admin: true },
  ...underProject('GET admin-logs', { scope: 'admin_logs:read', admin: true }, ''),
  ...underProject('GET admin-logs/export', { scope: 'admin_logs:read', admin: true }, ''),
  ...underProject('GET activity-logs', { scope: 'activity_logs:read', admin: true }),
  ...underProject('GET activity-logs/export', { scope: 'activity_logs:read', admin: true }),
  ...underProject('GET notes', { scope: 'notes:read', admin: true }),
  ...underProject('GET notes/{noteId}', { scope: 'notes:read', admin: true }),
  ...underProject('POST notes', { scope: 'notes:write', admin: true }),
  ...underProject('PATCH notes/{noteId}', { scope: 'notes:write', admin: true }),
  ...underProject('POST notes/{noteId}/messages', { scope: 'notes:write', admin: true }),
  ...underProject('PATCH notes/{noteId}/messages/{messageId}', { scope: 'notes:write', admin: true }),
  ...underProject('GET workflows', { scope: 'workflows:trigger' }),
  ...underProject('GET workflows/{workflowId}', { scope: 'workflows:trigger' }),
  ...underProject('PATCH workflows/{workflowId}/trigger', { scope: 'all' }),
  ...underProject('GET workflow-runs', { scope: 'workflows:trigger' }),
  ...underProject('GET workflow-runs/{runId}', { scope: 'workflows:trigger' }),
  ...underProject('POST workflow-runs/{runId}/cancel', { scope: 'workflows:trigger' }),
};

function underProject<R>(route: string, rights: R, environment = '/environment/{environmentName}'): Record<string, R> {
  const [method, path] = route.split(' ');
  return { [`${method} /v1/project/{projectName}${environment}/${path}`]: rights };
}

/** Console pages that accept a form: from administrators, from signed-in users, or from anyone. */
export const consoleForms: Readonly<Record<'admin' | 'member' | 'open', readonly string[]>> = {
  admin: [
    ...['/people/new', '/people/:id', '/teams', '/teams/:name', '/teams/:name/:collection'],
    ...['/meanings', '/meanings/:collection', '/meanings/:collection/fields/:field'],
    ...['/meanings/:collection/new-metric', '/meanings/:collection/metrics/:metric'],
    ...['/meanings/:collection/new-segment', '/meanings/:collection/segments/:segment'],
    ...['/roles', '/roles/:name', '/roles/:name/:collection', '/rights', '/settings'],
  ],
  member: [
    ...[
      '/account',
      '/account/app',
      '/approvals/:id',
      '/playground/:name',
      '/playground/aggregate/form',
      '/notes/new',
      '/notes/:id',
    ],
    ...['/front-ends/:id', '/apps/:id', '/remotes', '/remotes/:id', '/tokens/new', '/tokens/:id'],
    ...['/data/:collection/:record/edit', '/data/:collection/:record/delete', '/create/:collection'],
    ...['/act/:collection/:action', '/runs/:id', '/inbox', '/workflows/new', '/workflows/new/json', '/workflows/:id'],
    ...['/workflows/:id/edit', '/workflows/:id/edit/json', '/workflows/:id/add', '/workflows/:id/steps/:step'],
    '/workflows/:id/try',
    ...['/workflows/:id/starts/new', '/workflows/:id/starts/:rule'],
    '/bulk/:collection',
  ],
  open: ['/sign-in', '/sign-out', '/welcome', '/forgot'],
};
