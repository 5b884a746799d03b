// The route table of the public API. Every call checks the token's scopes and its user's current rights.
import { fail } from '../core/errors.ts';
import { activityRoutes } from './logs/activity-routes.ts';
import { adminLogRoutes } from './logs/admin-log-routes.ts';
import { noteRoutes } from './notes/routes.ts';
import type { Route } from './route.ts';
import { tokenRoutes } from './token-routes.ts';
import { workflowRoutes } from './workflows/routes.ts';
import { runRoutes } from './workflows/run-routes.ts';

export const routes: readonly Route[] = [
  ...tokenRoutes,
  ...activityRoutes,
  ...adminLogRoutes,
  ...noteRoutes,
  ...workflowRoutes,
  ...runRoutes,
];

export interface MatchedRoutes {
  /** The routes of the path, one per method. */
  readonly routes: readonly Route[];
  readonly path: Readonly<Record<string, string>>;
}

/** `path`: the result of `ApiPaths.locate`. Throws INVALID_ARGUMENT if a segment cannot be decoded. */
export function findRoutes(path: string): MatchedRoutes | undefined {
  const segments = path.split('/');
  for (const { path: pattern } of routes) {
    const parts = pattern.split('/');
    if (parts.length !== segments.length) continue;
    if (!parts.every((part, at) => part === segments[at] || (part.startsWith('{') && segments[at] !== ''))) continue;
    const values = parts.flatMap((part, at): [string, string][] =>
      part.startsWith('{') ? [[part.slice(1, -1), decodeSegment(segments[at]!, part)]] : [],
    );
    return { routes: routes.filter((route) => route.path === pattern), path: Object.fromEntries(values) };
  }
  return undefined;
}

function decodeSegment(segment: string, part: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return fail('INVALID_ARGUMENT', { argument: part.slice(1, -1), problem: 'expected valid URL encoding.' });
  }
}
