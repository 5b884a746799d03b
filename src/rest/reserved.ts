// Names that a collection cannot have, because the HTTP API or another endpoint under its prefix uses them as a path.
import type { Config } from '../core/config.ts';
import type { Route } from './route.ts';

/** The first path segment of the sign-in routes. */
export const signInSegment = 'authentication';

/**
 * The first segments of the HTTP API's routes, and the default paths under the prefix in a host application. This is a
 * fixed list because a server without the HTTP API does not load the routes. router.ts fails at startup if a route is
 * missing.
 */
const builtInNames = [
  ...[signInSegment, '_actions', '_charts', '_internal', 'scope-cache-invalidation', 'stats'],
  ...['_api', '_console', '_platform'],
];

/** Returns the literal first segments of the routes. */
export function firstSegments(routes: readonly Pick<Route, 'path'>[]): ReadonlySet<string> {
  const segments = routes.map(({ path }) => path.split('/')[1] ?? '');
  return new Set(segments.filter((segment) => segment !== '' && !segment.startsWith(':')));
}

/** Adds the paths that depend on the configuration. */
export function reservedNames(
  config: Pick<Config, 'prefix' | 'basePath' | 'consolePath' | 'apiPath' | 'platformPath'>,
): ReadonlySet<string> {
  const { prefix, basePath, consolePath, apiPath, platformPath } = config;
  const others = [`${basePath}/mcp`, `${basePath}/oauth`, consolePath, `${apiPath}/v1`, platformPath];
  const belowPrefix = [...others, '/healthz', '/readyz', '/.well-known']
    .filter((path) => path.startsWith(`${prefix}/`))
    .map((path) => ({ path: path.slice(prefix.length) }));
  return new Set([...builtInNames, ...firstSegments(belowPrefix)]);
}
