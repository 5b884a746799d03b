// The request listener of the agent's HTTP API. It checks in this order: the path, the Host (403), the Origin (403) and
// its preflight, the session token (401) unless the route is open, the route (404), the method (405), the body size
// (413). It reads no cookies. Without a session, a protected route and a missing route return the same 401.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { Stop } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { retryAfterOf } from '../core/errors/retry-after.ts';
import { type AppError, fail, isAppError } from '../core/errors.ts';
import { createAddressLimiter } from '../core/limit/addresses.ts';
import { sharedLimiters, type Windows } from '../core/limit.ts';
import { reportFailure } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import { createAddressReader, createHostCheck } from '../http/address.ts';
import { sendStream } from '../http/reply.ts';
import { readBody } from '../oauth/server/request.ts';
import type { SessionAuthenticator } from '../oauth/tokens/session-gate.ts';
import type { ActivityLog } from '../store/audit/activity-types.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { describeError } from './error-text.ts';
import type { RestPaths } from './paths.ts';
import { createPipeline } from './request-pipeline.ts';
import { firstSegments, reservedNames, signInSegment } from './reserved.ts';
import { type Answer, createRouteTable, type MatchedRoute, type Route, type RouteRequest } from './route.ts';
import { dataRoutes } from './routes.ts';
import type { SignIn } from './sign-in.ts';

export interface RestEndpointParts {
  readonly config: Config;
  readonly paths: RestPaths;
  readonly authenticator: SessionAuthenticator;
  readonly signIn: SignIn;
  readonly engine: Engine;
  readonly windows: Windows;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly observe: Observe;
  readonly clock: Clock;
}

export interface RestEndpoint {
  /**
   * Handles the request and returns true if the path belongs to this API. Otherwise it returns false without side
   * effects.
   */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

const MAX_SIGN_INS_PER_MINUTE = 60;
const CORRELATION_HEADER = 'X-Service-Correlation-Id';

export function createRestEndpoint(parts: RestEndpointParts): RestEndpoint {
  const { config, paths, authenticator, signIn, windows, clock, observe } = parts;
  const runDataRoute = createPipeline({ ...parts, prefix: new URL(paths.address).pathname.replace(/\/$/, '') });
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const origins = new Set([paths.origin, ...config.agentOrigins]);
  const signInLimiter = createAddressLimiter(sharedLimiters({ windows, clock }), 'agent-sign-in', {
    points: MAX_SIGN_INS_PER_MINUTE,
    seconds: 60,
  });

  const routes: readonly Route[] = [
    { method: 'GET', path: '', open: () => ({ status: 200, body: { error: null, message: 'Agent is running' } }) },
    {
      method: 'POST',
      path: `/${signInSegment}`,
      async open({ req, address }) {
        // The route needs no session and each call inserts a row, so it is rate-limited.
        await signInLimiter.consume(address);
        return { status: 200, body: await signIn.begin(await readJsonBody(req), req.headers.origin) };
      },
    },
    {
      method: 'GET',
      path: `/${signInSegment}/callback`,
      open: async ({ req, query, address }) => ({
        status: 200,
        body: await signIn.finish(query, req.headers.origin, address),
      }),
    },
    {
      method: 'GET',
      path: `/${signInSegment}/session`,
      session: (_request, signedIn) => ({ status: 200, body: { tokenData: signIn.describe(signedIn) } }),
    },
    {
      method: 'POST',
      path: `/${signInSegment}/sign-out`,
      async session({ address }, signedIn) {
        await signIn.end(signedIn, address);
        return { status: 204 };
      },
    },
    ...dataRoutes,
  ];
  const reserved = reservedNames(config);
  const unreserved = [...firstSegments(routes)].filter((segment) => !reserved.has(segment));
  if (unreserved.length > 0) throw new Error(`These names are not reserved: ${unreserved.join(', ')}`);
  const routeTable = createRouteTable(routes);

  const serve = async (request: RouteRequest, found: MatchedRoute | undefined, requestId: string): Promise<Answer> => {
    const { req } = request;
    const { route, routes = [] } = found ?? {};
    if (route && 'open' in route) return route.open(request);
    // An open path returns 405 with its methods. Every other path requires a session first.
    const isOpen = routes.some((candidate) => 'open' in candidate);
    const signedIn = isOpen ? undefined : await authenticator.check(req.headers.authorization);
    if (!found) return fail('NOT_FOUND', { path: (req.url ?? '/').split('?', 1)[0]! });
    if (!route || !signedIn)
      return fail('METHOD_NOT_ALLOWED', { method: req.method ?? '', allow: routes.map(({ method }) => method) });
    return 'session' in route ? route.session(request, signedIn) : runDataRoute(route, request, signedIn, requestId);
  };

  const sendFailure = (
    request: RouteRequest,
    path: string,
    res: ServerResponse,
    thrown: unknown,
    requestId: string,
  ): void => {
    const { req, address } = request;
    const error = reportFailure(observe, 'agent api', thrown, requestId);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { authorization } = req.headers;
    if (isAppError(error, 'UNAUTHENTICATED')) {
      res.setHeader('WWW-Authenticate', authenticator.challenge(authorization));
      if (authorization !== undefined)
        observe({ type: 'security', event: 'agent.token-refused', address, detail: error.message });
    }
    if (loggedCodes.has(error.code)) observe({ type: 'security', event: 'agent.refused', address, detail: error.code });
    if (isAppError(error, 'METHOD_NOT_ALLOWED')) res.setHeader('Allow', error.details.allow.join(', '));
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) res.setHeader('Retry-After', `${retryAfter}`);
    if (isAppError(error, 'BODY_TOO_LARGE')) {
      res.setHeader('Connection', 'close');
      req.resume();
    }
    const isCallback = path === '/authentication/callback' && (error.status === 401 || error.status === 403);
    const body = isCallback ? callbackRefusal(error, request.query) : { errors: [describeError(error)] };
    void send(req, res, { status: error.status, body });
  };

  return {
    handle(req, res) {
      const [fullPath = '/', query = ''] = (req.url ?? '/').split(/\?(.*)/s);
      const path = paths.locate(fullPath);
      if (path === undefined) return false;
      const requestId = randomId();
      res.setHeader(CORRELATION_HEADER, requestId);
      const found = routeTable.find(path, req.method === 'HEAD' ? 'GET' : (req.method ?? ''));
      const disconnected = new Stop();
      res.once('close', () => disconnected.abort());
      const params = found?.params ?? {};
      const request: RouteRequest = {
        req,
        params,
        query: new URLSearchParams(query),
        address: readAddress(req),
        disconnected,
      };
      const work = async (): Promise<void> => {
        // DNS rebinding (RFC 9110 section 7.4): only our own host names pass.
        if (!isOurHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
        const { origin } = req.headers;
        if (origin !== undefined) {
          res.setHeader('Vary', 'Origin');
          // Fetch, CORS protocol: requests from other origins are refused.
          if (!origins.has(origin)) fail('ORIGIN_NOT_ALLOWED', { setting: 'SERVICE_AGENT_ORIGINS' });
          allowOrigin(res, origin);
        }
        if (req.method === 'OPTIONS') return answerPreflight(req, res);
        await send(req, res, await serve(request, found, requestId));
      };
      work().catch((error: unknown) => sendFailure(request, path, res, error, requestId));
      return true;
    },
  };
}

async function send(req: IncomingMessage, res: ServerResponse, answer: Answer): Promise<void> {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  for (const [name, value] of Object.entries(answer.headers ?? {})) res.setHeader(name, value);
  if (answer.stream) {
    res.setHeader('Content-Type', answer.stream.type);
    return sendStream(req, res, answer.status, answer.stream.parts);
  }
  const text = answer.text ?? JSON.stringify(answer.body);
  if (text === undefined) {
    res.writeHead(answer.status).end();
    return;
  }
  res.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  res.end(req.method === 'HEAD' ? undefined : text);
}

/** Refusals that are logged as security events, besides refused tokens. */
const loggedCodes: ReadonlySet<string> = new Set(['HOST_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED']);

/** Reads the JSON body of an open route. */
async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    // The parser's message quotes the request, so it stays in the cause.
    return fail('MALFORMED_JSON', { problem: 'it does not parse.' }, cause);
  }
}

/** RFC 6749 section 5.2 plus the state. Clients expect this format only on the callback route. */
function callbackRefusal(error: AppError, query: URLSearchParams) {
  const state = query.get('state');
  return {
    error: error.status === 401 ? 'invalid_grant' : 'access_denied',
    error_description: error.message,
    ...(state !== null && { state }),
  };
}
