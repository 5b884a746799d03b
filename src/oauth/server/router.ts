// The routers of the authorization server: its endpoints and pages at `/oauth`, and its metadata documents. They check
// in this order: Host (403), known path (404), preflight (204), method (405). Then the endpoint runs
// (authorization-server.ts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler, Router } from 'express';
import type { AppError } from '../../core/errors.ts';
import { createAddressReader } from '../../http/client-address.ts';
import { type CorsPolicy, cors } from '../../http/cors.ts';
import { errorReply } from '../../http/error-reply.ts';
import { hostCheck } from '../../http/host-check.ts';
import { messagePage, sendPage } from '../../http/page.ts';
import { sendJson } from '../../http/reply.ts';
import { pathOf } from '../../http/request-target.ts';
import { addRoutes, allowMethods, createRouter, type Method, type Mount, notFound } from '../../http/router.ts';
import { type AuthorizationServer, pages } from './authorization-server.ts';
import { type Endpoint, endpointPaths } from './paths.ts';

/** OAuth 2.0 for Browser-Based Applications: scripts of any origin may discover, register and redeem. */
const corsPolicy: CorsPolicy = {
  origins: '*',
  exposed: ['WWW-Authenticate', 'Retry-After'],
  headers: ['Authorization', 'Content-Type', 'DPoP', 'MCP-Protocol-Version'],
  maxAgeSeconds: 3600,
};

const otherMethods: Partial<Record<Endpoint, readonly Method[]>> = {
  authorize: ['GET', 'POST'],
  resume: ['GET'],
  interaction: ['GET', 'POST'],
  sso: ['GET'],
  device: ['GET', 'POST'],
  'device-resume': ['GET'],
  jwks: ['GET'],
};
const methodsOf = (endpoint: Endpoint): readonly Method[] => otherMethods[endpoint] ?? ['POST'];

export function createOauthMounts(server: AuthorizationServer): readonly Mount[] {
  const { paths } = server.options;
  const documents = createDocumentRouter(server);
  return [
    { prefixes: paths.prefixes, router: createEndpointRouter(server) },
    { prefixes: [...paths.documents.keys()], isExact: true, router: documents },
    { prefixes: paths.wellKnown, router: documents },
  ];
}

/** Mount it at `/oauth`. */
function createEndpointRouter({ options, endpoints, serve }: AuthorizationServer): Router {
  const { config, paths, observe } = options;
  const readAddress = createAddressReader(config.trustedProxies);
  const served = new WeakMap<IncomingMessage, Endpoint>();
  const routes = Object.entries(endpointPaths).flatMap(([path, endpoint]) =>
    endpoints.includes(endpoint)
      ? methodsOf(endpoint).map((method) => ({
          ...{ method, path: path.slice('/oauth'.length), endpoint },
          // A page must not begin a sign-in that nobody sees.
          refusesHead: pages.has(endpoint),
        }))
      : [],
  );

  const router = createRouter();
  router.use(securityHeaders, hostCheck(paths.host, config));
  router.param('uid', (_req, _res, next, uid: string) => next(/^[\w-]{1,128}$/.test(uid) ? undefined : 'route'));
  for (const { path, endpoint } of routes) {
    router.all(path, (req, _res, next) => {
      served.set(req, endpoint);
      next();
    });
    if (!pages.has(endpoint)) router.all(path, cors(corsPolicy, methodsOf(endpoint)));
  }
  addRoutes(router, routes, ({ endpoint }) => (req, res) => {
    res.setHeader('Cache-Control', 'no-store');
    return serve(req, res, { endpoint, path: `/oauth${pathOf(req.url)}`, uid: req.params.uid as string | undefined });
  });
  router.use(
    notFound,
    errorReply({
      ...{ observe, readAddress, where: (req) => `oauth ${served.get(req) ?? ''}` },
      send(req, res, error) {
        const endpoint = served.get(req);
        if (error.code === 'RATE_LIMITED')
          observe({ type: 'security', event: `${endpoint}.throttled`, address: readAddress(req) });
        if (endpoint && pages.has(endpoint) && error.code !== 'METHOD_NOT_ALLOWED')
          sendPage(res, error.status, messagePage({ title: 'Something went wrong', text: error.message }));
        else sendJsonError(res, error);
      },
    }),
  );
  return router;
}

/** Serves the documents at their whole paths, and 404 for other paths. */
function createDocumentRouter({ options, metadata }: AuthorizationServer): Router {
  const { config, paths, observe } = options;
  const readAddress = createAddressReader(config.trustedProxies);
  const router = createRouter();
  router.use(securityHeaders, hostCheck(paths.host, config));
  const find = (req: IncomingMessage) => {
    const document = paths.documents.get(pathOf(req.url));
    const bytes = document && metadata[document];
    return bytes && { bytes, type: document === 'appsChallenge' ? 'text/plain' : 'application/json' };
  };
  router.use((req, res, next) => (find(req) ? next() : notFound(req, res, next)));
  router.use(cors(corsPolicy, ['GET', 'HEAD']), allowMethods('GET', 'HEAD'));
  router.use((req, res) => {
    const { bytes, type } = find(req)!;
    const headers = { 'Content-Type': type, 'Content-Length': bytes.length };
    res.writeHead(200, { ...headers, 'Cache-Control': 'public, max-age=300' });
    res.end(req.method === 'HEAD' ? undefined : bytes);
  });
  const send = (_req: IncomingMessage, res: ServerResponse, error: AppError) => sendJsonError(res, error);
  router.use(errorReply({ observe, readAddress, where: 'oauth metadata', send }));
  return router;
}

const securityHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Referrer-Policy', 'no-referrer');
  next();
};

/** JSON error body of RFC 6749 section 5.2 and RFC 7591 section 3.2.2. */
function sendJsonError(res: ServerResponse, error: AppError): void {
  sendJson(res, error.status, { error: error.code.toLowerCase(), error_description: error.message });
}
