// Mutations for tokens of the public API and the names in its paths.
import type { Points } from '../mutations.ts';

export const apiTokens: Points = {
  'src/api/router.ts': {
    'api 1 · paths name · project': ['if (projectName !== project)', "if (projectName === '')"],
    'api 1 · paths name · environment': ['environmentName !== environment)', "environmentName === '')"],
    'api 2.5 · project': ['if (projectName !== project)', "if (projectName === '')"],
    'api 5 · Admin role': ['if (admin && access.', 'if (!admin && access.'],
    'api 5 · scope · all': ["!has('all') && ", ''],
  },
  'src/api/token-routes.ts': {
    'api 2.5 · name': ['    name,\n    level', "    name: '',\n    level"],
    'api 2.5 · creation date': ['createdAt: showTime(token.createdAt)', 'createdAt: showTime(0)'],
    'api 2.5 · expiration date': ['expiresAt: showTime(token.expiresAt)', 'expiresAt: showTime(0)'],
    'api 2.5 · scopes': ['scopes: [...scopes]', 'scopes: []'],
    'api 5 · level · read-only': ["? 'read-write' : 'read-only'", "? 'read-write' : 'read-write'"],
    'api 5 · level · read-write': ["? 'read-write' : 'read-only'", "? 'read-only' : 'read-only'"],
  },
  'src/api/authentication.ts': {
    'api 2.5 · last used': ['    store.tokens.noteUse(token.id);\n', ''],
    'api 5 · Bearer': ['/^Bearer +', '/^(?:Bearer|Basic|) *'],
  },
  'src/oauth/tokens/application-token.ts': {
    'api 5 · SSO': ['if (problem !== undefined) return refuse(problem);', ''],
    'api 5 · expire': ['!(token.expiresAt > clock.now())', 'token.expiresAt < 0'],
  },
  'src/store/oauth/tokens.ts': {
    'api 5 · revoked': ['.where({ id }).delete()', '.where({ id: -1 }).delete()'],
  },
  'src/console/pages/tokens/new-token.ts': {
    'api 2.5 · value': ["copyable(secret, 'the token')", "copyable('', 'the token')"],
  },
  'src/api/notes/routes.ts': {
    'api 5 · scope · notes:read': ["scopes: ['notes:read']", "scopes: ['notes:write']"],
    'api 5 · scope · notes:write': ["scopes: ['notes:write']", "scopes: ['notes:read']"],
  },
  'src/api/logs/activity-routes.ts': {
    'api 5 · scope · activity_logs:read': ["scopes: ['activity_logs:read']", "scopes: ['admin_logs:read']"],
  },
  'src/api/logs/admin-log-routes.ts': {
    'api 5 · scope · admin_logs:read': ["scopes: ['admin_logs:read']", "scopes: ['activity_logs:read']"],
  },
};
