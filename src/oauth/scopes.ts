// OAuth scopes: what a client may ask for, and the words a person reads before allowing it.

export interface ScopeText {
  readonly title: string;
  readonly detail: string;
}

export const resourceScopes = ['mcp:read', 'mcp:write', 'mcp:action'] as const;
export type ResourceScope = (typeof resourceScopes)[number];

/** What the command line of `portico cloud` may ask for; of a resource of its own, so that it opens nothing else. */
export const cloudScope = 'cloud:read';
export const cloudScopeText: ScopeText = {
  title: 'See tables and columns',
  detail: 'Names and types of tables and columns, to write customizations. No records, no passwords.',
};

/** A refresh token is given to every client that can use one; the scope is known so that asking for it is no error. */
export const offlineAccess = 'offline_access';

export const scopeTexts: Readonly<Record<ResourceScope, ScopeText>> = {
  'mcp:read': { title: 'Read your data', detail: 'See the collections and records that you may see, and search them.' },
  'mcp:write': { title: 'Change your data', detail: 'Create, update and delete the records that you may change.' },
  'mcp:action': { title: 'Run actions', detail: 'Start the actions and workflows that you may start.' },
};

const implied: Readonly<Record<ResourceScope, readonly ResourceScope[]>> = {
  'mcp:read': [],
  'mcp:write': ['mcp:read'],
  'mcp:action': ['mcp:read'],
};

export function isResourceScope(name: string): name is ResourceScope {
  return (resourceScopes as readonly string[]).includes(name);
}

/** The granted scopes and those that they include: who may change records may read them. Unknown names are left out. */
export function effectiveScopes(granted: string): ReadonlySet<string> {
  const names = granted.split(' ').filter(isResourceScope);
  return new Set(names.flatMap((name) => [name, ...implied[name]]));
}

/**
 * What the 401 challenge offers and what a request without scopes gets: reading, and writing where write tools are
 * served. Actions are left to step-up.
 */
export function defaultScopes(toolScopes: Iterable<string>): readonly ResourceScope[] {
  const served = new Set(toolScopes);
  return resourceScopes.filter((name) => name === 'mcp:read' || (name === 'mcp:write' && served.has(name)));
}

/** The `scope` parameter with the default added where it names nothing of ours (some clients leave it out). */
export function withDefaultScope(scope: string | null | undefined, fallback: readonly string[]): string {
  const asked = (scope ?? '').split(' ').filter(Boolean);
  return (asked.some(isResourceScope) ? asked : [...fallback, ...asked]).join(' ');
}
