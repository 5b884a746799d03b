// POST /mcp, from the socket to the SDK. The checks run in this order, and the first that fails answers:
//   1. Host is an allowed host                               403
//   2. Origin is absent or allowed                           403    OPTIONS is answered at this point
//   3. the method is POST (GET, DELETE within a session)     405
//   4. the query holds only narrowing parameters             401, 400    (narrowing.ts)
//   5. the access token, and its DPoP proof                  401    before any byte of the body is read
//   6. the user is below the rate limit                      429    (mcp/transport/rate-limit.ts)
//   7. Content-Type is JSON                                  415
//   8. the body is small enough, UTF-8, flat enough, JSON    413, 400
//   9. the token has the OAuth scope of the tool             403
// Well-formed requests of the hot methods then take a short path. Calls of built-in tools run directly
// (mcp/transport/serving.ts). Two long-lived instances serve the others: one for 2026-07-28, one for earlier
// revisions (mcp/transport/request-multiplexer.ts). The result of tools/list is serialized once per set of visible
// tools. All other requests go to the SDK's own handler, which is loaded on first use (mcp/transport/sdk.ts).

import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, fail, isAppError } from '../core/errors.ts';
import { userTurn } from '../core/limit/turns.ts';
import { reportFailure } from '../core/observe/failures.ts';
import { activeContext, inSpan, type TraceOrigin } from '../core/observe/telemetry.ts';
import { exceedsLimit, readJson } from '../http/body.ts';
import { answerPreflight, applyCors } from '../http/cors.ts';
import { stepUpScopes } from '../oauth/server/scopes.ts';
import type { TokenAuthenticator } from '../oauth/tokens/bearer.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import { hasApprovalPolicies } from './approvals/approval.ts';
import { recordCall } from './call-log.ts';
import { supportsViews } from './results/chart-view.ts';
import type { Tool } from './tool.ts';
import type { Identity } from './tool-call.ts';
import { createAdmission } from './transport/admission.ts';
import { cancelledRequestId, conversationOf, createConversationId } from './transport/conversations.ts';
import { authInfoOf } from './transport/identity.ts';
import {
  acceptsStreams,
  detectEra,
  isModernRequest,
  isRecord,
  messagesOf,
  methodOf,
  normalizeAccept,
  readVersion,
  repairCall,
  requestIdOf,
} from './transport/json-rpc.ts';
import { createListeners } from './transport/listeners.ts';
import { readRestrictions } from './transport/narrowing.ts';
import { createRateLimit, type RateLimit } from './transport/rate-limit.ts';
import { type ErrorParts, sendError } from './transport/refusal.ts';
import type { MultiplexedRequest, RequestSender } from './transport/request-multiplexer.ts';
import type { Sdk } from './transport/sdk.ts';
import { createServing, type ServingParts } from './transport/serving.ts';
import { createSharedServers, listKeyOf } from './transport/shared-servers.ts';

export interface McpEndpointParts extends ServingParts {
  /**
   * Whether a client of an earlier revision that declares elicitation or sampling gets a session. `auto`: always.
   * `approvals`: only if calls of its user may need approval. A session lives in one process. Default `off`.
   */
  readonly legacySessions?: 'off' | 'auto' | 'approvals';
  /** `sdk` serves every request through the SDK's own handler, with one instance per request. Default `shared`. */
  readonly serving?: 'shared' | 'sdk';
  /** A rate limit shared with other endpoints. By default the endpoint has its own. */
  readonly rateLimit?: RateLimit;
  /**
   * Returns a number that changes whenever the rights of any user change. It is polled while clients listen, and a
   * change notifies them. Without it, clients get no notification of changed rights.
   */
  readonly readRights?: () => Promise<number>;
}

export interface McpEndpoint {
  /** Answers any request to the URL of the endpoint, whatever its method. */
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** Loads the SDK, unless an earlier request has. */
  load(): Promise<unknown>;
  /** Notifies listening clients that tools, resources and prompts may have changed. */
  notifyChange(): void;
  /** Ends the streams on which clients listen, which have no end of their own, and accepts no new ones. */
  stopListening(): void;
  /** Ends all requests in progress. */
  close(): Promise<void>;
}

/** Creates the handler of /mcp. Throws CONFIGURATION for enabled tools that do not exist. */
export function createMcpEndpoint(parts: McpEndpointParts): McpEndpoint {
  const { config, clock, observe } = parts;
  const admission = createAdmission(config);
  const { authenticator, toolsByName, toolList, server, fastPath, onerror, whenIdle } = createServing(parts);
  const { rateLimit = createRateLimit(config.requestsPerMinute, clock, observe) } = parts;
  const { legacySessions = 'off' } = parts;
  const hasSessions = legacySessions !== 'off';
  const methods = hasSessions ? ['POST', 'GET', 'DELETE', 'OPTIONS'] : ['POST', 'OPTIONS'];
  const errorParts: ErrorParts = { authenticator, observe, limitBytes: config.bodyLimitBytes, clock };
  const refuse = (res: ServerResponse, error: AppError) => sendError(errorParts, res.req, res, error);
  const shared = parts.serving === 'sdk' ? undefined : createSharedServers(toolList, clock, refuse);
  const multiplexers = shared && { modern: shared.modern.multiplexer, legacy: shared.legacy.multiplexer };

  const sdk = createSdkLoader(async () => {
    const { openSdk } = await import('./transport/sdk.ts');
    return openSdk({ server, multiplexers, hasSessions, limitBytes: config.bodyLimitBytes, clock, onerror });
  });
  const listeners = createListeners({
    clock,
    observe,
    menu: toolList,
    readRights: parts.readRights,
    sdk: () => sdk.loaded,
  });
  const needsSession = ({ sessions }: Sdk, { auth }: Identity, params: unknown): boolean =>
    sessions!.needsSession(params) && (legacySessions === 'auto' || hasApprovalPolicies(auth.access, parts.engine));

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // CWE-525: a response holds data of one caller. CWE-430: browsers must not treat it as anything but JSON.
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    // DNS rebinding: a page that points its own name at this server sends that name in Host (MCP 2025-11-25,
    // transports, security).
    if (!admission.allowsHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
    // An Origin that is not allowed gets 403 (MCP 2026-07-28, Streamable HTTP, security warning).
    const refusal = applyCors(req, res, admission.cors);
    if (refusal) throw refusal;
    if (req.method === 'OPTIONS') {
      // Without a session, only POST works.
      res.setHeader('Allow', (legacySessions === 'auto' ? methods : ['POST', 'OPTIONS']).join(', '));
      answerPreflight(req, res, admission.cors, methods);
      return;
    }
    const conversation = conversationOf(req);
    const sessionId = hasSessions && conversation === undefined ? readHeader(req, 'mcp-session-id') : undefined;
    const isSessionWide = legacySessions === 'auto' || sessionId !== undefined;
    const sessionMethod = sessionId !== undefined && (req.method === 'GET' || req.method === 'DELETE');
    if (req.method !== 'POST' && !sessionMethod) {
      fail('METHOD_NOT_ALLOWED', { method: req.method ?? '', allow: isSessionWide ? methods.slice(0, 3) : ['POST'] });
    }
    const restrictions = readRestrictions(req.url ?? '');
    const authenticated = checkToken(parts, authenticator, req);
    const auth = authenticator.restrict(
      authenticated instanceof Promise ? await authenticated : authenticated,
      restrictions,
    );
    rateLimit.consume(auth.userId, 1);
    const identity: Identity = { auth, origin: traceOriginOf(req, sessionId ?? conversation) };
    if (sessionMethod) {
      if (req.method === 'GET') listeners.add(res);
      if (!(await (await sdk.load()).sessions!.serve(sessionId, req, res, undefined, identity)))
        fail('NOT_FOUND', { path: 'this session' });
      return;
    }
    if (!isJson(req.headers['content-type'])) fail('UNSUPPORTED_MEDIA_TYPE', {});
    if (exceedsLimit(req, config.bodyLimitBytes)) fail('BODY_TOO_LARGE', { limitBytes: config.bodyLimitBytes });
    const limits = { bytes: config.bodyLimitBytes, depth: config.jsonDepthLimit };
    const body = await readJson(req, limits, () => userTurn(auth.userId));
    const messages = messagesOf(body);
    if (messages.length > 1) rateLimit.consume(auth.userId, messages.length - 1);
    for (const message of messages) {
      repairCall(message);
      checkScope(parts, toolsByName, message, auth);
    }
    normalizeAccept(req);
    await measure(parts, res, body, identity, () => dispatch(req, res, body, { identity, conversation }, sessionId));
  };

  const dispatch = async (
    req: IncomingMessage,
    res: ServerResponse,
    body: unknown,
    from: RequestSender,
    sessionId: string | undefined,
  ): Promise<void> => {
    const { identity, conversation } = from;
    if (hasSessions && sessionId !== undefined && !isModernRequest(req, body)) {
      const { sessions } = await sdk.load();
      if (!(await sessions!.serve(sessionId, req, res, body, identity))) fail('NOT_FOUND', { path: 'this session' });
      return;
    }
    if (hasSessions && isRecord(body) && body.method === 'initialize') {
      const loaded = await sdk.load();
      if (needsSession(loaded, identity, body.params)) {
        await loaded.sessions!.open(req, res, body, identity);
        return;
      }
    }
    const requestId = conversation === undefined ? undefined : cancelledRequestId(body);
    if (requestId !== undefined) shared?.legacy.multiplexer.cancel(requestId, from);
    if (isRecord(body) && body.method === 'initialize')
      res.setHeader(
        'Mcp-Session-Id',
        createConversationId(isRecord(body.params) ? body.params.capabilities : undefined),
      );
    const era = shared ? detectEra(req, body) : undefined;
    if (shared && era) {
      const request = body as unknown as MultiplexedRequest;
      const sharedServer = shared[era];
      if (request.method === 'tools/call') {
        const work = fastPath(era, request, identity);
        if (work) return sharedServer.multiplexer.run(request, from, res, acceptsStreams(req), work);
        if (!sdk.loaded) await sdk.load();
        sharedServer.multiplexer.serve(
          request,
          { ...from, identity: withRequestId(identity, request) },
          res,
          acceptsStreams(req),
        );
        return;
      }
      identity.showsViews = supportsViews(body, conversation);
      const [current] = await Promise.all([revalidate(identity), toolList.refresh()]);
      const mask = toolList.maskFor(current.auth);
      if (!sdk.loaded) await sdk.load();
      const list = sharedServer.lists.get(listKeyOf(mask, current)) ?? (await sharedServer.buildList(mask, current));
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${list}}`;
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      res.end(text);
      return;
    }
    identity.showsViews = supportsViews(body, conversation);
    if (isRecord(body) && body.method === 'subscriptions/listen') listeners.add(res);
    const withAuth = Object.assign(req, { auth: authInfoOf(await revalidate(identity)) });
    await (await sdk.load()).handle(withAuth, res, body);
  };

  /** Compares the token's versions before any other request is answered. Tool calls do this themselves. */
  const revalidate = async (identity: Identity): Promise<Identity> => {
    const isCurrent = authenticator.isCurrent(identity.auth);
    return isCurrent === true || (await isCurrent)
      ? identity
      : { ...identity, auth: await authenticator.renew(identity.auth) };
  };

  return {
    handle(req, res) {
      serve(req, res).catch((error: unknown) => {
        // The client has disconnected.
        if (res.destroyed) return;
        refuse(res, reportFailure(observe, 'mcp', error));
      });
    },
    load: async () => sdk.load(),
    notifyChange() {
      // If a client listens, the SDK is already loaded.
      sdk.loaded?.notifyChange();
    },
    stopListening: listeners.stop,
    async close() {
      listeners.end();
      await sdk.settled();
      await Promise.allSettled([sdk.loaded?.close(), multiplexers?.modern.close(), multiplexers?.legacy.close()]);
      await Promise.race([whenIdle(), new Promise<void>((resolve) => clock.after(SHUTDOWN_MS, resolve))]);
    },
  };
}

/** Synchronous if the gate can answer from memory. */
function checkToken(
  { observe }: McpEndpointParts,
  gate: TokenAuthenticator,
  req: IncomingMessage,
): Authenticated | Promise<Authenticated> {
  const accept = (auth: Authenticated): Authenticated => {
    observe({ type: 'token.checked', outcome: 'accepted' });
    return auth;
  };
  const refuse = (error: unknown): never => {
    observe({ type: 'token.checked', outcome: 'refused' });
    throw error;
  };
  let checked: Authenticated | Promise<Authenticated>;
  try {
    checked = gate.check(req);
  } catch (error) {
    return refuse(error);
  }
  return checked instanceof Promise ? checked.then(accept, refuse) : accept(checked);
}

/**
 * The token must hold every OAuth scope that the call needs, else 403 with one challenge (RFC 6750 section 3.1). The
 * challenge lists the current scopes too: clients request exactly the listed scopes (MCP 2025-11-25, step-up
 * authorization) and would lose the others.
 */
function checkScope(
  parts: McpEndpointParts,
  toolsByName: ReadonlyMap<string, Tool>,
  message: unknown,
  auth: Authenticated,
): void {
  const { observe, clock } = parts;
  if (!isRecord(message) || message.method !== 'tools/call' || !isRecord(message.params)) return;
  const tool = toolsByName.get(String(message.params.name));
  if (!tool || auth.scopes.has(tool.scope)) return;
  const scopes = stepUpScopes(auth.scopes, tool.scope);
  const failure = new AppError('INSUFFICIENT_SCOPE', { tool: tool.name, scope: tool.scope, scopes });
  const { userId, clientId } = auth;
  observe({ type: 'security', event: 'scope.challenged', userId, clientId, detail: tool.scope });
  observe({ type: 'tool.began', tool: tool.name });
  recordCall(parts, { tool, subject: {}, auth, startedAt: clock.now(), durationMs: 0, failure });
  throw failure;
}

/** Measures every request except listening streams and tool calls: tool-call.ts reports each call when it ends. */
function measure(
  { observe, clock }: McpEndpointParts,
  res: ServerResponse,
  body: unknown,
  { origin }: Identity,
  work: () => Promise<void>,
): Promise<void> {
  const method = methodOf(body);
  if (method === 'tools/call' || method === 'subscriptions/listen') return work();
  const from = clock.monotonic();
  const answered = (status: number) =>
    observe({ type: 'mcp.answered', method, status, milliseconds: clock.monotonic() - from });
  return inSpan({ method, requestId: requestIdOf(body), origin }, async () => {
    try {
      await work();
      answered(res.statusCode);
    } catch (error) {
      answered(isAppError(error) ? error.status : 500);
      throw error;
    }
  });
}

/** Time for aborted calls to end, in milliseconds; user code may ignore the abort signal. */
const SHUTDOWN_MS = 2000;

/** Loads the SDK once. A failed attempt is repeated by the next request. */
function createSdkLoader(open: () => Promise<Sdk>) {
  let loaded: Sdk | undefined;
  let loading: Promise<Sdk> | undefined;
  return {
    get loaded(): Sdk | undefined {
      return loaded;
    },
    load(): Sdk | Promise<Sdk> {
      loading ??= open().then(
        (sdk) => {
          loaded = sdk;
          return sdk;
        },
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      );
      return loaded ?? loading;
    },
    settled: async (): Promise<unknown> => loading?.catch(() => undefined),
  };
}

function traceOriginOf(req: IncomingMessage, sessionId: string | undefined): TraceOrigin {
  return { headers: req.headers, ambient: activeContext(), protocolVersion: readVersion(req), sessionId };
}

/** The multiplexer replaces the request id, so traces get the client's own id. */
function withRequestId(identity: Identity, { id }: MultiplexedRequest): Identity {
  const { origin } = identity;
  return origin ? { ...identity, origin: { ...origin, requestId: id } } : identity;
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*application\/json\s*(;|$)/i.test(contentType);
}

function readHeader(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
