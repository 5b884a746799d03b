// The front of the agent's HTTP API. The checks, in order: is the path ours, is the Host ours (403), is the Origin one of the
// front ends (403) and this its preflight, does whoever asks hold the token of a session (401) where the route is not an open
// one, does the route exist (404), the method (405), the size of the body (413). Cookies are not read. What is not open is not
// told apart from what is not there to somebody who is not signed in.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { type AppError, fail, isAppError, toAppError } from '../core/errors.ts';
import { createLimiter } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import { createAddressReader, createHostCheck } from '../oauth/address.ts';
import { readBody } from '../oauth/request.ts';
import type { SessionGate, SignedIn } from '../oauth/session-gate.ts';
import { allowOrigin, answerPreflight } from './origins.ts';
import type { RestPaths } from './paths.ts';
import type { SignIn } from './sign-in.ts';

export interface RestFrontParts {
  readonly config: Pick<Config, 'trustedProxies' | 'allowedHosts' | 'agentOrigins'>;
  readonly paths: RestPaths;
  readonly gate: SessionGate;
  readonly signIn: SignIn;
  readonly observe: Observe;
  readonly clock: Clock;
}

export interface RestFront {
  /** Takes the request and answers true when its path is ours; otherwise does nothing and answers false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

/** One request, by anybody. */
interface Visit {
  readonly req: IncomingMessage;
  readonly query: URLSearchParams;
  readonly address: string;
}

interface Answer {
  readonly status: number;
  /** Absent: no body. */
  readonly body?: object;
}

type Open = (visit: Visit) => Answer | Promise<Answer>;
type Guarded = (visit: Visit, signedIn: SignedIn) => Answer | Promise<Answer>;

interface Route {
  readonly open?: Readonly<Partial<Record<string, Open>>>;
  readonly guarded?: Readonly<Partial<Record<string, Guarded>>>;
}

const signInsPerMinute = 60;
const correlation = 'X-Service-Correlation-Id';

export function createRestFront({ config, paths, gate, signIn, observe }: RestFrontParts): RestFront {
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const origins = new Set([paths.origin, ...config.agentOrigins]);
  const begun = createLimiter('agent-sign-in', { points: signInsPerMinute, seconds: 60 });

  const routes: Readonly<Record<string, Route>> = {
    '': { open: { GET: () => ({ status: 200, body: { error: null, message: 'Agent is running' } }) } },
    '/authentication': {
      open: {
        async POST({ req, address }) {
          // Open, and each leaves a row: so that it is limited.
          await begun.consume(address);
          return { status: 200, body: await signIn.begin(await readJson(req), req.headers.origin) };
        },
      },
    },
    '/authentication/callback': {
      open: {
        GET: async ({ req, query, address }) => ({
          status: 200,
          body: await signIn.finish(query, req.headers.origin, address),
        }),
      },
    },
    '/authentication/session': {
      guarded: { GET: (_visit, signedIn) => ({ status: 200, body: { tokenData: signIn.describe(signedIn) } }) },
    },
    '/authentication/sign-out': {
      guarded: {
        async POST({ address }, signedIn) {
          await signIn.end(signedIn, address);
          return { status: 204 };
        },
      },
    },
  };

  const serve = async (visit: Visit, path: string): Promise<Answer> => {
    const { req } = visit;
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    const method = req.method === 'HEAD' ? 'GET' : (req.method ?? '');
    const open = route?.open?.[method];
    if (open) return open(visit);
    const signedIn = route?.open ? undefined : await gate.check(req.headers.authorization);
    if (!route) return fail('NOT_FOUND', { path: (req.url ?? '/').split('?', 1)[0]! });
    const guarded = signedIn && route.guarded?.[method];
    if (guarded) return guarded(visit, signedIn);
    const allow = Object.keys({ ...route.open, ...route.guarded });
    return fail('METHOD_NOT_ALLOWED', { method: req.method ?? '', allow });
  };

  const send = (req: IncomingMessage, res: ServerResponse, { status, body }: Answer): void => {
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (body === undefined) {
      res.writeHead(status).end();
      return;
    }
    const text = JSON.stringify(body);
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    res.end(req.method === 'HEAD' ? undefined : text);
  };

  const sendFailure = (visit: Visit, path: string, res: ServerResponse, thrown: unknown, requestId: string): void => {
    const { req, address } = visit;
    const error = toAppError(thrown, requestId);
    if (error.code === 'INTERNAL') observe({ type: 'failure', where: 'agent api', requestId, cause: thrown });
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
    if (isAppError(error, 'RATE_LIMITED')) res.setHeader('Retry-After', `${error.details.retryAfterSeconds}`);
    if (isAppError(error, 'BODY_TOO_LARGE')) {
      res.setHeader('Connection', 'close');
      req.resume();
    }
    const isCallback = path === '/authentication/callback' && (error.status === 401 || error.status === 403);
    const body = isCallback ? callbackRefusal(error, visit.query) : { errors: [describeError(error)] };
    send(req, res, { status: error.status, body });
  };

  return {
    handle(req, res) {
      const [whole = '/', query = ''] = (req.url ?? '/').split(/\?(.*)/s);
      const path = paths.locate(whole);
      if (path === undefined) return false;
      const requestId = randomId();
      res.setHeader(correlation, requestId);
      const visit: Visit = { req, query: new URLSearchParams(query), address: readAddress(req) };
      const work = async (): Promise<void> => {
        // DNS rebinding (RFC 9110 section 7.4): only names that are ours.
        if (!isOurHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
        const { origin } = req.headers;
        if (origin !== undefined) {
          res.setHeader('Vary', 'Origin');
          // Fetch, CORS protocol: pages of other sites neither read nor write here.
          if (!origins.has(origin)) fail('ORIGIN_NOT_ALLOWED', { setting: 'SERVICE_AGENT_ORIGINS' });
          allowOrigin(res, origin, [correlation, 'WWW-Authenticate', 'Retry-After']);
        }
        if (req.method === 'OPTIONS') return answerPreflight(req, res);
        send(req, res, await serve(visit, path));
      };
      work().catch((error: unknown) => sendFailure(visit, path, res, error, requestId));
      return true;
    },
  };
}

/** What an operator wants to be told of, beyond somebody who has to sign in again. */
const notable: ReadonlySet<string> = new Set(['HOST_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED']);

async function readJson(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    // The parser's own words quote what was sent.
    return fail('MALFORMED_JSON', { problem: 'it does not parse.' }, cause);
  }
}

const names: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'UnauthorizedError',
  403: 'ForbiddenError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  413: 'PayloadTooLargeError',
  422: 'UnprocessableError',
  429: 'TooManyRequestsError',
};

/** An error object of JSON:API, in the form that front ends of agents read. */
function describeError(error: AppError) {
  const { status, code, message } = error;
  return { name: names[status] ?? 'InternalServerError', detail: message, status, code };
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
