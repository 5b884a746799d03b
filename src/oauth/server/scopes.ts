// OAuth scopes: their names, and the text that users read before they allow them.

interface ScopeText {
  readonly title: string;
  readonly detail: string;
}

export const resourceScopes = ['mcp:read', 'mcp:write', 'mcp:action'] as const;
export type ResourceScope = (typeof resourceScopes)[number];

/** Scope of the command line (`portico cloud`). It belongs to a separate resource and grants no access to /mcp. */
export const cloudScope = 'cloud:read';
export const cloudScopeText: ScopeText = {
  title: 'See tables and columns',
  detail: 'Names and types of tables and columns, to write customizations. No records, no passwords.',
};

/**
 * Every client that can use a refresh token gets one. This scope is known only to avoid an error when a client requests
 * it.
 */
export const offlineAccess = 'offline_access';

export const scopeTexts: Readonly<Record<ResourceScope, ScopeText>> = {
  'mcp:read': { title: 'Read your data', detail: 'See the collections and records that you may see, and search them.' },
  'mcp:write': { title: 'Change your data', detail: 'Create, update and delete the records that you may change.' },
  'mcp:action': {
    title: 'Run actions',
    detail:
      'Start the actions and workflows that you may start. Their effects can go beyond the data, such as sending mail.',
  },
};

const impliedScopes: Readonly<Record<ResourceScope, readonly ResourceScope[]>> = {
  'mcp:read': [],
  'mcp:write': ['mcp:read'],
  'mcp:action': ['mcp:read'],
};

export function isResourceScope(name: string): name is ResourceScope {
  return (resourceScopes as readonly string[]).includes(name);
}

/**
 * The granted scopes and the scopes that they imply: `mcp:write` and `mcp:action` include `mcp:read`. Unknown names are
 * dropped.
 */
export function effectiveScopes(granted: string): ReadonlySet<string> {
  const names = granted.split(' ').filter(isResourceScope);
  return new Set(names.flatMap((name) => [name, ...impliedScopes[name]]));
}

/**
 * Scopes for the 401 challenge and for requests without scopes: `mcp:read`, and the scopes that the served tools need.
 */
export function defaultScopes(toolScopes: Iterable<string>): readonly ResourceScope[] {
  const served = new Set(toolScopes);
  return resourceScopes.filter((name) => name === 'mcp:read' || served.has(name));
}

/**
 * The scopes that a token holds, plus the one it needs. A client that steps up requests exactly the scopes in the
 * challenge.
 */
export function stepUpScopes(granted: ReadonlySet<string>, needed: string): readonly ResourceScope[] {
  return resourceScopes.filter((name) => name === needed || granted.has(name));
}

/**
 * Keeps the known scopes of a `scope` parameter (RFC 6749 section 3.3 permits ignoring the rest). OpenID clients
 * request `openid`, `profile` and `email`, which are not supported. If no resource scope remains, the `fallback` scopes
 * are used.
 */
export function knownScopes(scope: string | null | undefined, fallback: readonly string[]): string {
  const requested = new Set((scope ?? '').split(' ').filter((name) => isResourceScope(name) || name === offlineAccess));
  const hasResourceScope = [...requested].some(isResourceScope);
  return [...(hasResourceScope ? [] : fallback), ...requested].join(' ');
}
