// The public API. It checks in this order: the Host (403), the application token (401), the rate limits (429), the route
// (404), the method (405), the scopes of the token and the user's level (403), the project and environment in the path
// (404), the parameters and the body (400). The OpenAPI document needs no token. The API sends no CORS headers, so
// browsers block other sites. It never reads tokens from cookies or URLs.
import type { Request, Router } from 'express';
import type { z } from 'zod';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { readJson } from '../http/body.ts';
import { createAddressReader } from '../http/client-address.ts';
import { hostCheck } from '../http/host-check.ts';
import { queryOf } from '../http/request-target.ts';
import { addRoutes, createRouter, notFound } from '../http/router.ts';
import type { Store } from '../store/store.ts';
import type { Triggers } from '../workflows/triggers/trigger.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import { apiErrorReply, sendAnswer } from './answer.ts';
import { createHolderCheck, type TokenHolder } from './authentication.ts';
import { describeApi } from './openapi/document.ts';
import { type Parameters, readParameters } from './parameters.ts';
import type { ApiPaths } from './paths.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';
import { levelOf } from './token-routes.ts';

interface ApiRouterParts {
  readonly config: Pick<
    Config,
    | 'trustedProxies'
    | 'allowedHosts'
    | 'host'
    | 'apiPerMinute'
    | 'apiPerHour'
    | 'apiPerDay'
    | 'ssoIssuer'
    | 'ssoProviders'
  >;
  readonly paths: ApiPaths;
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowService;
  readonly triggers: Triggers;
  readonly observe: Observe;
  readonly clock: Clock;
  /** The version of this package. */
  readonly version: string;
}

/** Mount it at `/v1`. */
export function createApiRouter(parts: ApiRouterParts): Router {
  const { config, paths, store, observe, clock, version } = parts;
  const readAddress = createAddressReader(config.trustedProxies);
  const checkHolder = createHolderCheck({ store, clock, config });
  const limits = { minute: config.apiPerMinute, hour: config.apiPerHour, day: config.apiPerDay };
  const holders = new WeakMap<Request, TokenHolder>();
  // Built on first use, to keep startup fast.
  let document: object | undefined;

  const router = createRouter();
  router.use(hostCheck(paths.host, config));
  router.get('/openapi.json', (req, res) => {
    document ??= describeApi(paths.address, version);
    return sendAnswer(req, res, { status: 200, body: document });
  });
  router.use(async (req, _res, next) => {
    holders.set(req, await checkHolder(req.headers.authorization));
    next();
  });
  router.use(async (req, res, next) => {
    const quota = await store.quotas.take(`api ${holders.get(req)!.hash}`, limits);
    const { limit, remaining, resetSeconds, isExceeded } = quota;
    res.setHeader('X-RateLimit-Limit', `${limit}`);
    res.setHeader('X-RateLimit-Remaining', `${remaining}`);
    res.setHeader('X-RateLimit-Reset', `${Math.ceil(clock.now() / 1000) + resetSeconds}`);
    next(isExceeded ? new AppError('RATE_LIMITED', { retryAfterSeconds: resetSeconds }) : undefined);
  });
  addRoutes(router, routes.map(toMounted), ({ route }) => async (req, res) => {
    const holder = holders.get(req)!;
    const path = req.params as Readonly<Record<string, string>>;
    checkRights(route, holder);
    await checkEnvironment(path, store);
    const query = readParameters(route.query ?? noParameters, queryOf(req.url));
    const body = route.body && readMembers(route.body, await readJson(req, bodyLimits));
    const answer = await route.handle({ ...holder, path, query, body }, parts);
    // A revoked token or a removed right stops the stream before its next part.
    const recheckAccess = async () => checkRights(route, await checkHolder(req.headers.authorization));
    await sendAnswer(req, res, answer.stream ? { ...answer, stream: { ...answer.stream, recheckAccess } } : answer);
  });
  router.use(notFound, apiErrorReply({ observe, readAddress, where: 'public api' }));
  return router;
}

/** The document writes `/v1/notes/{id}`; the router is mounted at `/v1` and writes `/notes/:id`. */
const toMounted = (route: Route) => ({
  route,
  method: route.method,
  path: route.path.slice('/v1'.length).replace(/\{(\w+)\}/g, ':$1'),
});

const noParameters: Parameters = {};
/** The largest body is a note with its thread. Routes have their own limits for members. */
const bodyLimits = { bytes: 1_500_000, depth: 10 };

/** Behaviour api 4.1: names are case-sensitive, and a token belongs to one project. */
async function checkEnvironment(path: Readonly<Record<string, string>>, store: Store): Promise<void> {
  const { projectName, environmentName } = path;
  if (projectName === undefined) return;
  const { project, environment } = await store.identity.place();
  if (projectName !== project) fail('NOT_FOUND', { path: `project '${projectName}'` });
  if (environmentName !== undefined && environmentName !== environment) {
    fail('NOT_FOUND', { path: `environment '${environmentName}'` });
  }
}

/** Throws INVALID_ARGUMENT with the name of the invalid member. */
function readMembers(schema: z.ZodType, body: unknown): unknown {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  const [{ path, message }] = error.issues as [z.core.$ZodIssue];
  return fail('INVALID_ARGUMENT', { argument: path.length > 0 ? path.join('.') : 'body', problem: `${message}.` });
}

/**
 * Behaviour api 5 and 7.1: the error names the missing scope or role, so the user can create a suitable token.
 */
function checkRights({ scopes, admin, method }: Route, { token, access }: TokenHolder): void {
  const has = (scope: string) => token.scopes.includes(scope);
  if (scopes !== null && !has('all') && !scopes.some(has)) {
    fail('DENIED', { problem: `The token needs the scope ${scopes.join(' or ')}.` });
  }
  if (method !== 'GET' && levelOf(token) === 'read-only') {
    fail('DENIED', { problem: 'The token is read-only. Create one with write access.' });
  }
  if (admin && access.caller.permissionLevel !== 'admin') {
    fail('DENIED', { problem: 'The user of the token needs the Admin role on the project.' });
  }
}
