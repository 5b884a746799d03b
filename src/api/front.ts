// The front of the public API. The checks, in order: is the path ours, is the Host ours (403); the OpenAPI document is for
// everybody; is the application token good (401), has it calls left (429), does the route exist (404), the method (405),
// do the scopes of the token and the level of its user suffice (403), is what the path names served here (404), are the
// parameters and the body what the route takes (400). No browser of another site is let in: there are no
// CORS headers, and cookies and addresses are not looked at for tokens.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Quota } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { createAddressReader, createHostCheck } from '../oauth/address.ts';
import { readJson } from '../oauth/body.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRoom } from '../workflow/room.ts';
import type { Triggers } from '../workflow/trigger.ts';
import { answerFailure, send } from './answer.ts';
import { createHolderCheck, type Holder } from './gate.ts';
import { describeApi } from './openapi.ts';
import { type Parameters, readParameters } from './parameters.ts';
import type { ApiPaths } from './paths.ts';
import type { Answer, Route } from './route.ts';
import { findRoutes } from './routes.ts';
import { levelOf } from './token-routes.ts';

export interface ApiFrontParts {
  readonly config: Pick<
    Config,
    'trustedProxies' | 'allowedHosts' | 'apiPerMinute' | 'apiPerHour' | 'apiPerDay' | 'ssoIssuer'
  >;
  readonly paths: ApiPaths;
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowRoom;
  readonly triggers: Triggers;
  readonly observe: Observe;
  readonly clock: Clock;
  /** Of this package. */
  readonly version: string;
}

export interface ApiFront {
  /** Takes the request and answers true when its path is ours; otherwise does nothing and answers false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

export function createApiFront(parts: ApiFrontParts): ApiFront {
  const { config, paths, store, observe, clock, version } = parts;
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const checkHolder = createHolderCheck({ store, clock, config });
  const limits = { minute: config.apiPerMinute, hour: config.apiPerHour, day: config.apiPerDay };
  // Made when it is first asked for, so that the start need not wait for it.
  let document: object | undefined;

  const limit = (res: ServerResponse, { limit, remaining, resetSeconds, isExceeded }: Quota): void => {
    res.setHeader('X-RateLimit-Limit', `${limit}`);
    res.setHeader('X-RateLimit-Remaining', `${remaining}`);
    res.setHeader('X-RateLimit-Reset', `${Math.ceil(clock.now() / 1000) + resetSeconds}`);
    if (isExceeded) fail('RATE_LIMITED', { retryAfterSeconds: resetSeconds });
  };

  const serve = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<Answer> => {
    // DNS rebinding (RFC 9110 section 7.4): only names that are ours.
    if (!isOurHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
    const method = req.method === 'HEAD' ? 'GET' : (req.method ?? '');
    if (path === '/v1/openapi.json' && method === 'GET') {
      document ??= describeApi(paths.address, version);
      return { status: 200, body: document };
    }
    const holder = await checkHolder(req.headers.authorization);
    limit(res, await store.quotas.take(`api ${holder.hash}`, limits));
    const found = findRoutes(path);
    if (!found) return fail('NOT_FOUND', { path: (req.url ?? '/').split('?', 1)[0]! });
    const route = found.routes.find((one) => one.method === method);
    if (!route) {
      return fail('METHOD_NOT_ALLOWED', { method, allow: found.routes.map((one) => one.method) });
    }
    checkRights(route, holder);
    await checkPlace(found.path, store);
    const query = readParameters(route.query ?? noParameters, new URLSearchParams((req.url ?? '').split(/\?(.*)/s)[1]));
    const body = route.body && readBody(route.body, await readJson(req, bodyLimits));
    return route.handle({ ...holder, path: found.path, query, body }, parts);
  };

  return {
    handle(req, res) {
      const path = paths.locate((req.url ?? '/').split('?', 1)[0]!);
      if (path === undefined) return false;
      serve(req, res, path)
        .then((answer) => send(req, res, answer))
        .catch((error: unknown) =>
          answerFailure(req, res, error, { observe, address: readAddress(req), where: 'public api' }),
        );
      return true;
    },
  };
}

const noParameters: Parameters = {};
/** A note with its thread is the largest body; what it may hold is said by its route. */
const bodyLimits = { bytes: 1_500_000, depth: 10 };

/** Spec public-http-api 4.1: names are case sensitive, and a token belongs to one project. */
async function checkPlace(path: Readonly<Record<string, string>>, store: Store): Promise<void> {
  const { projectName, environmentName } = path;
  if (projectName === undefined) return;
  const { project, environment } = await store.identity.place();
  if (projectName !== project) fail('NOT_FOUND', { path: `project '${projectName}'` });
  if (environmentName !== undefined && environmentName !== environment) {
    fail('NOT_FOUND', { path: `environment '${environmentName}'` });
  }
}

/** INVALID_ARGUMENT that names the member. */
function readBody(schema: z.ZodType, sent: unknown): unknown {
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  const [{ path, message }] = error.issues as [z.core.$ZodIssue];
  return fail('INVALID_ARGUMENT', { argument: path.length > 0 ? path.join('.') : 'body', problem: `${message}.` });
}

/** Spec public-http-api 5 and 7.1: what is missing is named, so that another token can be made. */
function checkRights({ scopes, admin, method }: Route, { token, access }: Holder): void {
  const has = (scope: string) => token.scopes.includes(scope);
  if (scopes !== null && !has('all') && !scopes.some(has)) {
    fail('DENIED', { problem: `The token needs the scope ${scopes.join(' or ')}.` });
  }
  if (method !== 'GET' && levelOf(token) === 'read-only') {
    fail('DENIED', { problem: 'The token is read-only. Make one that may write.' });
  }
  if (admin && access.caller.permissionLevel !== 'admin') {
    fail('DENIED', { problem: 'The user of the token needs the Admin role on the project.' });
  }
}
