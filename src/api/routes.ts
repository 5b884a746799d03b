// The routes of the public API, as a table. Each right is asked at the call: the scopes of the token, and what its user is now.
import { fail } from '../core/errors.ts';
import { activityRoutes } from './activity-routes.ts';
import { adminLogRoutes } from './admin-log-routes.ts';
import { noteRoutes } from './note-routes.ts';
import type { Route } from './route.ts';
import { runRoutes } from './run-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { workflowRoutes } from './workflow-routes.ts';

export const routes: readonly Route[] = [
  ...tokenRoutes,
  ...activityRoutes,
  ...adminLogRoutes,
  ...noteRoutes,
  ...workflowRoutes,
  ...runRoutes,
];

export interface Found {
  /** Of the path, one for each method. */
  readonly routes: readonly Route[];
  readonly path: Readonly<Record<string, string>>;
}

/** Of a path as `ApiPaths.locate` gives it. INVALID_ARGUMENT for a segment that cannot be decoded. */
export function findRoutes(path: string): Found | undefined {
  const asked = path.split('/');
  for (const { path: pattern } of routes) {
    const parts = pattern.split('/');
    if (parts.length !== asked.length) continue;
    if (!parts.every((part, at) => part === asked[at] || (part.startsWith('{') && asked[at] !== ''))) continue;
    const named = parts.flatMap((part, at): [string, string][] =>
      part.startsWith('{') ? [[part.slice(1, -1), decode(asked[at]!, part)]] : [],
    );
    return { routes: routes.filter((route) => route.path === pattern), path: Object.fromEntries(named) };
  }
  return undefined;
}

function decode(segment: string, part: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return fail('INVALID_ARGUMENT', { argument: part.slice(1, -1), problem: 'it is not URL-encoded.' });
  }
}
