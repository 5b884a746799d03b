// The agent's HTTP API. It checks in this order: the Host (403), the Origin (403) and its preflight, the token of a
// session or a program (401) unless the route is open, the calls of programs per minute (429), the route (404), the
// method (405), the body size (413), the OAuth scope of a program (403). It reads no cookies. Without a token, a
// protected route and a missing route return the same 401.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Router } from 'express';
import type { Engine } from '../agent/engine.ts';
import type { WriteWatch } from '../agent/write/watch.ts';
import { Stop } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { type AppError, type ErrorCode, fail, isAppError } from '../core/errors.ts';
import { createAddressLimiter } from '../core/limit/addresses.ts';
import { createLimiter, sharedLimiters, type Windows } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import { readBody } from '../http/body.ts';
import { createAddressReader } from '../http/client-address.ts';
import { cors } from '../http/cors.ts';
import { errorReply } from '../http/error-reply.ts';
import { hostCheck } from '../http/host-check.ts';
import { sendStream } from '../http/reply.ts';
import { pathOf, queryOf } from '../http/request-target.ts';
import { addRoutes, createRouter, notFound } from '../http/router.ts';
import type { SessionAuthenticator, SignedIn } from '../oauth/tokens/session-gate.ts';
import type { ActivityLog } from '../store/audit/activity-types.ts';
import { corsPolicy, methods } from './cors.ts';
import { describeError } from './error-text.ts';
import type { RestPaths } from './paths.ts';
import { createPipeline } from './request-pipeline.ts';
import { firstSegments, reservedNames, signInSegment } from './reserved.ts';
import type { Answer, OpenRoute, RouteRequest, SessionRoute } from './route.ts';
import { dataRoutes } from './routes.ts';
import type { SignIn } from './sign-in.ts';
import { requireSession } from './token-scope.ts';

interface RestRouterParts {
  readonly config: Config;
  readonly paths: RestPaths;
  readonly authenticator: SessionAuthenticator;
  readonly signIn: SignIn;
  readonly engine: Engine;
  readonly windows: Windows;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly watch?: WriteWatch | undefined;
  readonly observe: Observe;
  readonly clock: Clock;
}

const MAX_SIGN_INS_PER_MINUTE = 60;
const MAX_SIGN_IN_BYTES = 56 * 1024;
const CORRELATION_HEADER = 'X-Service-Correlation-Id';
const callbackPath = `/${signInSegment}/callback`;

/** Mount it at the prefix of the agent. */
export function createRestRouter(parts: RestRouterParts): Router {
  const { config, paths, authenticator, signIn, windows, clock, observe } = parts;
  const runDataRoute = createPipeline({ ...parts, prefix: new URL(paths.address).pathname.replace(/\/$/, '') });
  const readAddress = createAddressReader(config.trustedProxies);
  const signInLimiter = createAddressLimiter(sharedLimiters({ windows, clock }), 'agent-sign-in', {
    points: MAX_SIGN_INS_PER_MINUTE,
    seconds: 60,
  });
  const { requestsPerMinute } = config;
  const programLimiter =
    requestsPerMinute > 0 ? createLimiter('agent-program', { points: requestsPerMinute, seconds: 60 }) : undefined;

  const openRoutes: readonly OpenRoute[] = [
    { method: 'GET', path: '/', open: () => ({ status: 200, body: { error: null, message: 'Agent is running' } }) },
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
      path: callbackPath,
      open: async ({ req, query, address }) => ({
        status: 200,
        body: await signIn.finish(query, req.headers.origin, address),
      }),
    },
  ];
  const sessionRoutes: readonly SessionRoute[] = [
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
  ];
  const reserved = reservedNames(config);
  const unreserved = [...firstSegments([...openRoutes, ...sessionRoutes, ...dataRoutes])].filter(
    (segment) => !reserved.has(segment),
  );
  if (unreserved.length > 0) throw new Error(`These names are not reserved: ${unreserved.join(', ')}`);

  const requestIds = new WeakMap<object, string>();
  const sessions = new WeakMap<Request, SignedIn>();
  /** Express handler of a route. */
  const handle =
    (run: (request: RouteRequest, req: Request, requestId: string) => Answer | Promise<Answer>): RequestHandler =>
    async (req, res) => {
      const disconnected = new Stop();
      res.once('close', () => disconnected.abort());
      const params = req.params as Readonly<Record<string, string>>;
      const request = { req, params, query: queryOf(req.url), address: readAddress(req), disconnected };
      await send(req, res, await run(request, req, requestIds.get(res)!));
    };

  const router = createRouter();
  router.use((_req, res, next) => {
    const requestId = randomId();
    requestIds.set(res, requestId);
    res.setHeader(CORRELATION_HEADER, requestId);
    next();
  });
  router.use(hostCheck(paths.host, config));
  router.use(cors(corsPolicy(paths, config), methods));
  addRoutes(router, openRoutes, ({ open }) => handle(open));
  router.use(async (req, _res, next) => {
    const signedIn = await authenticator.check(req.headers.authorization);
    if (signedIn.token) await programLimiter?.consume(`${signedIn.userId}`);
    sessions.set(req, signedIn);
    next();
  });
  addRoutes(router, sessionRoutes, ({ session }) =>
    handle((request, req) => {
      const signedIn = sessions.get(req)!;
      requireSession(signedIn);
      return session(request, signedIn);
    }),
  );
  // Collections cannot have these names (reserved.ts).
  router.param('collection', (_req, _res, next, name: string) => next(reserved.has(name) ? 'route' : undefined));
  addRoutes(router, dataRoutes, (route) =>
    handle((request, req, requestId) => runDataRoute(route, request, sessions.get(req)!, requestId)),
  );
  router.use(
    notFound,
    errorReply({
      ...{ observe, readAddress, where: 'agent api', events: { name: 'agent', codes: loggedCodes } },
      requestId: (res) => requestIds.get(res),
      challenge(error, authorization) {
        if (error.code === 'UNAUTHENTICATED') return authenticator.challenge(authorization);
        if (!isAppError(error, 'INSUFFICIENT_SCOPE')) return undefined;
        return `Bearer realm="agent", error="insufficient_scope", scope="${error.details.scope}"`;
      },
      send(req, res, error) {
        const isCallback = pathOf(req.url) === callbackPath && (error.status === 401 || error.status === 403);
        const body = isCallback ? callbackRefusal(error, queryOf(req.url)) : { errors: [describeError(error)] };
        return send(req, res, { status: error.status, body });
      },
    }),
  );
  return router;
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
const loggedCodes: ReadonlySet<ErrorCode> = new Set([
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'RATE_LIMITED',
  'INSUFFICIENT_SCOPE',
]);

/** Reads the JSON body of an open route. */
async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req, MAX_SIGN_IN_BYTES);
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
