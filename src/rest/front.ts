// The front of the agent's HTTP API. The checks, in order: is the path ours, is the Host ours (403), is the Origin one of the
// front ends (403) and this its preflight, does whoever asks hold the token of a session (401) where the route is not an open
// one, does the route exist (404), the method (405), the size of the body (413). Cookies are not read. What is not open is not
// told apart from what is not there to somebody who is not signed in.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { Stop } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { retryAfterOf } from '../core/errors/retry-after.ts';
import { type AppError, fail, isAppError, toAppError } from '../core/errors.ts';
import { createSharedLimiter, type Windows } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import { createAddressReader, createHostCheck } from '../oauth/address.ts';
import { sendStream } from '../oauth/reply.ts';
import { readBody } from '../oauth/request.ts';
import type { SessionGate } from '../oauth/session-gate.ts';
import type { ActivityLog } from '../store/activity-types.ts';
import { createConduct } from './conduct.ts';
import { describeError } from './error-text.ts';
import { allowOrigin, answerPreflight } from './origins.ts';
import type { RestPaths } from './paths.ts';
import { type Answer, createRouteTable, type Found, type Visit } from './route.ts';
import { dataRoutes } from './routes.ts';
import type { SignIn } from './sign-in.ts';

export interface RestFrontParts {
  readonly config: Config;
  readonly paths: RestPaths;
  readonly gate: SessionGate;
  readonly signIn: SignIn;
  readonly engine: Engine;
  readonly windows: Windows;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly observe: Observe;
  readonly clock: Clock;
}

export interface RestFront {
  /** Takes the request and answers true when its path is ours; otherwise does nothing and answers false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

const signInsPerMinute = 60;
const correlation = 'X-Service-Correlation-Id';

export function createRestFront(parts: RestFrontParts): RestFront {
  const { config, paths, gate, signIn, windows, clock, observe } = parts;
  const conduct = createConduct({ ...parts, prefix: new URL(paths.address).pathname.replace(/\/$/, '') });
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const origins = new Set([paths.origin, ...config.agentOrigins]);
  const begun = createSharedLimiter('agent-sign-in', { points: signInsPerMinute, seconds: 60 }, { windows, clock });

  const table = createRouteTable([
    { method: 'GET', path: '', open: () => ({ status: 200, body: { error: null, message: 'Agent is running' } }) },
    {
      method: 'POST',
      path: '/authentication',
      async open({ req, address }) {
        // Open, and each leaves a row: so that it is limited.
        await begun.consume(address);
        return { status: 200, body: await signIn.begin(await readSmallJson(req), req.headers.origin) };
      },
    },
    {
      method: 'GET',
      path: '/authentication/callback',
      open: async ({ req, query, address }) => ({
        status: 200,
        body: await signIn.finish(query, req.headers.origin, address),
      }),
    },
    {
      method: 'GET',
      path: '/authentication/session',
      session: (_visit, signedIn) => ({ status: 200, body: { tokenData: signIn.describe(signedIn) } }),
    },
    {
      method: 'POST',
      path: '/authentication/sign-out',
      async session({ address }, signedIn) {
        await signIn.end(signedIn, address);
        return { status: 204 };
      },
    },
    ...dataRoutes,
  ]);

  const serve = async (visit: Visit, found: Found | undefined, requestId: string): Promise<Answer> => {
    const { req } = visit;
    const { route, routes = [] } = found ?? {};
    if (route && 'open' in route) return route.open(visit);
    // What is open says which methods it takes; everything else is for those who are signed in.
    const isOpen = routes.some((one) => 'open' in one);
    const signedIn = isOpen ? undefined : await gate.check(req.headers.authorization);
    if (!found) return fail('NOT_FOUND', { path: (req.url ?? '/').split('?', 1)[0]! });
    if (!route || !signedIn)
      return fail('METHOD_NOT_ALLOWED', { method: req.method ?? '', allow: routes.map(({ method }) => method) });
    return 'session' in route ? route.session(visit, signedIn) : conduct(route, visit, signedIn, requestId);
  };

  const send = async (req: IncomingMessage, res: ServerResponse, answer: Answer): Promise<void> => {
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
  };

  const sendFailure = (visit: Visit, path: string, res: ServerResponse, thrown: unknown, requestId: string): void => {
    const { req, address } = visit;
    const error = toAppError(thrown, requestId);
    // What a data route fails with is one of ours already, and told.
    if (thrown !== error && error.code === 'INTERNAL')
      observe({ type: 'failure', where: 'agent api', requestId, cause: thrown });
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { authorization } = req.headers;
    if (isAppError(error, 'UNAUTHENTICATED')) {
      res.setHeader('WWW-Authenticate', gate.challenge(authorization));
      if (authorization !== undefined)
        observe({ type: 'security', event: 'agent.token-refused', address, detail: error.message });
    }
    if (notable.has(error.code)) observe({ type: 'security', event: 'agent.refused', address, detail: error.code });
    if (isAppError(error, 'METHOD_NOT_ALLOWED')) res.setHeader('Allow', error.details.allow.join(', '));
    const wait = retryAfterOf(error);
    if (wait !== undefined) res.setHeader('Retry-After', `${wait}`);
    if (isAppError(error, 'BODY_TOO_LARGE')) {
      res.setHeader('Connection', 'close');
      req.resume();
    }
    const isCallback = path === '/authentication/callback' && (error.status === 401 || error.status === 403);
    const body = isCallback ? callbackRefusal(error, visit.query) : { errors: [describeError(error)] };
    void send(req, res, { status: error.status, body });
  };

  return {
    handle(req, res) {
      const [whole = '/', query = ''] = (req.url ?? '/').split(/\?(.*)/s);
      const path = paths.locate(whole);
      if (path === undefined) return false;
      const requestId = randomId();
      res.setHeader(correlation, requestId);
      const found = table.find(path, req.method === 'HEAD' ? 'GET' : (req.method ?? ''));
      const left = new Stop();
      res.once('close', () => left.abort());
      const params = found?.params ?? {};
      const visit: Visit = { req, params, query: new URLSearchParams(query), address: readAddress(req), left };
      const work = async (): Promise<void> => {
        // DNS rebinding (RFC 9110 section 7.4): only names that are ours.
        if (!isOurHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
        const { origin } = req.headers;
        if (origin !== undefined) {
          res.setHeader('Vary', 'Origin');
          // Fetch, CORS protocol: pages of other sites neither read nor write here.
          if (!origins.has(origin)) fail('ORIGIN_NOT_ALLOWED', { setting: 'SERVICE_AGENT_ORIGINS' });
          allowOrigin(res, origin);
        }
        if (req.method === 'OPTIONS') return answerPreflight(req, res);
        await send(req, res, await serve(visit, found, requestId));
      };
      work().catch((error: unknown) => sendFailure(visit, path, res, error, requestId));
      return true;
    },
  };
}

/** What an operator wants to be told of, beyond somebody who has to sign in again. */
const notable: ReadonlySet<string> = new Set(['HOST_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED']);

/** Of an open route. */
async function readSmallJson(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    // The parser's own words quote what was sent.
    return fail('MALFORMED_JSON', { problem: 'it does not parse.' }, cause);
  }
}

/** RFC 6749 section 5.2, with the state, as front ends expect it of this route alone. */
function callbackRefusal(error: AppError, query: URLSearchParams) {
  const state = query.get('state');
  return {
    error: error.status === 401 ? 'invalid_grant' : 'access_denied',
    error_description: error.message,
    ...(state !== null && { state }),
  };
}
