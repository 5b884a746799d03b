// The request listener of the public API. It checks in this order: the path, the Host (403), the application token
// (401), the rate limits (429), the route (404), the method (405), the scopes of the token and the user's level (403),
// the project and environment in the path (404), the parameters and the body (400). The OpenAPI document needs no
// token. The API sends no CORS headers, so browsers block other sites. It never reads tokens from cookies or URLs.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Quota } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { createAddressReader, createHostCheck } from '../http/address.ts';
import { readJson } from '../http/body.ts';
import type { Store } from '../store/store.ts';
import type { Triggers } from '../workflows/triggers/trigger.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import { sendAnswer, sendFailure } from './answer.ts';
import { createHolderCheck, type TokenHolder } from './authentication.ts';
import { describeApi } from './openapi/document.ts';
import { type Parameters, readParameters } from './parameters.ts';
import type { ApiPaths } from './paths.ts';
import type { Answer, Route } from './route.ts';
import { findRoutes } from './routes.ts';
import { levelOf } from './token-routes.ts';

export interface ApiEndpointParts {
  readonly config: Pick<
    Config,
    'trustedProxies' | 'allowedHosts' | 'host' | 'apiPerMinute' | 'apiPerHour' | 'apiPerDay' | 'ssoIssuer'
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

export interface ApiEndpoint {
  /**
   * Handles the request and returns true if the path belongs to this API. Otherwise it returns false without side
   * effects.
   */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

export function createApiEndpoint(parts: ApiEndpointParts): ApiEndpoint {
  const { config, paths, store, observe, clock, version } = parts;
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const checkHolder = createHolderCheck({ store, clock, config });
  const limits = { minute: config.apiPerMinute, hour: config.apiPerHour, day: config.apiPerDay };
  // Built on first use, to keep startup fast.
  let document: object | undefined;

  const applyQuota = (res: ServerResponse, { limit, remaining, resetSeconds, isExceeded }: Quota): void => {
    res.setHeader('X-RateLimit-Limit', `${limit}`);
    res.setHeader('X-RateLimit-Remaining', `${remaining}`);
    res.setHeader('X-RateLimit-Reset', `${Math.ceil(clock.now() / 1000) + resetSeconds}`);
    if (isExceeded) fail('RATE_LIMITED', { retryAfterSeconds: resetSeconds });
  };

  const serve = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<Answer> => {
    // DNS rebinding (RFC 9110 section 7.4): only our own host names pass.
    if (!isOurHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
    const method = req.method === 'HEAD' ? 'GET' : (req.method ?? '');
    if (path === '/v1/openapi.json' && method === 'GET') {
      document ??= describeApi(paths.address, version);
      return { status: 200, body: document };
    }
    const holder = await checkHolder(req.headers.authorization);
    applyQuota(res, await store.quotas.take(`api ${holder.hash}`, limits));
    const found = findRoutes(path);
    if (!found) return fail('NOT_FOUND', { path: (req.url ?? '/').split('?', 1)[0]! });
    const route = found.routes.find((candidate) => candidate.method === method);
    if (!route) {
      return fail('METHOD_NOT_ALLOWED', { method, allow: found.routes.map((one) => one.method) });
    }
    checkRights(route, holder);
    await checkEnvironment(found.path, store);
    const query = readParameters(route.query ?? noParameters, new URLSearchParams((req.url ?? '').split(/\?(.*)/s)[1]));
    const body = route.body && readBody(route.body, await readJson(req, bodyLimits));
    const answer = await route.handle({ ...holder, path: found.path, query, body }, parts);
    if (!answer.stream) return answer;
    // A revoked token or a removed right stops the stream before its next part.
    const recheckAccess = async () => checkRights(route, await checkHolder(req.headers.authorization));
    return { ...answer, stream: { ...answer.stream, recheckAccess } };
  };

  return {
    handle(req, res) {
      const path = paths.locate((req.url ?? '/').split('?', 1)[0]!);
      if (path === undefined) return false;
      serve(req, res, path)
        .then((answer) => sendAnswer(req, res, answer))
        .catch((error: unknown) =>
          sendFailure(req, res, error, { observe, address: readAddress(req), where: 'public api' }),
        );
      return true;
    },
  };
}

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
function readBody(schema: z.ZodType, body: unknown): unknown {
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
