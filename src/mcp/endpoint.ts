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
// (mcp/transport/fast-path.ts). Two long-lived instances serve the others: one for 2026-07-28, one for earlier
// revisions (mcp/transport/request-multiplexer.ts). The result of tools/list is serialized once per set of visible
// tools. All other requests go to the SDK's own handler, which is loaded on first use (mcp/transport/sdk.ts).

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';
import { userTurn } from '../core/limit/turns.ts';
import { reportFailure } from '../core/observe/failures.ts';
import { activeContext, inSpan, type TraceOrigin } from '../core/observe/traces.ts';
import { announcesTooMuch, readJson } from '../http/body.ts';
import { stepUpScopes } from '../oauth/server/scopes.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import { mayBeAsked } from './approvals/approval.ts';
import { showsViews } from './results/chart-view.ts';
import { type Identity, recordCall } from './tool-call.ts';
import { allowOrigin, answerPreflight, createAdmission } from './transport/admission.ts';
import { cancelledBy, conversationOf, newConversation } from './transport/conversations.ts';
import { authInfoOf } from './transport/identity.ts';
import {
  acceptsStreams,
  claimsModern,
  eraOf,
  isRecord,
  messagesOf,
  methodOf,
  repairCall,
  requestIdOf,
  tolerateAccept,
  versionOf,
} from './transport/json-rpc.ts';
import { readNarrowing } from './transport/narrowing.ts';
import { createPace, type Pace } from './transport/rate-limit.ts';
import { answerError, type Refuser } from './transport/refusal.ts';
import { createMux, type HotRequest, type Mux, type Origin } from './transport/request-multiplexer.ts';
import type { Sdk } from './transport/sdk.ts';
import { createServing, type ServingParts } from './transport/serving.ts';
import { createOfferWatch } from './visibility/changes.ts';
import type { Menu } from './visibility/tool-list.ts';

export interface McpFrontParts extends ServingParts {
  /**
   * Whether a client of an earlier revision that declares elicitation or sampling gets a session. `auto`: always.
   * `approvals`: only if calls of its user may need approval. A session lives in one process. Default `off`.
   */
  readonly legacySessions?: 'off' | 'auto' | 'approvals';
  /** `sdk` serves every request through the SDK's own handler, with one instance per request. Default `shared`. */
  readonly serving?: 'shared' | 'sdk';
  /** A rate limit shared with other endpoints. By default the endpoint has its own. */
  readonly pace?: Pace;
  /**
   * Returns a number that changes whenever the rights of any user change. It is polled while clients listen, and a
   * change notifies them. Without it, clients get no notification of changed rights.
   */
  readonly readRights?: () => Promise<number>;
}

export interface McpFront {
  /** Answers any request to the URL of the endpoint, whatever its method. */
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** Loads the SDK, unless an earlier request has. */
  load(): Promise<unknown>;
  /** Notifies listening clients that tools, resources and prompts may have changed. */
  tellOfChange(): void;
  /** Ends the streams on which clients listen, which have no end of their own, and accepts no new ones. */
  stopListening(): void;
  /** Ends all requests in progress. */
  close(): Promise<void>;
}

/** Creates the handler of /mcp. Throws CONFIGURATION for enabled tools that do not exist. */
export function createMcpFront(parts: McpFrontParts): McpFront {
  const { config, clock, observe } = parts;
  const admission = createAdmission(config);
  const { gate, toolsByName, menu, server, direct, onerror, settled } = createServing(parts);
  const { pace = createPace(config.requestsPerMinute, clock, observe) } = parts;
  const { legacySessions = 'off' } = parts;
  const hasSessions = legacySessions !== 'off';
  const methods = hasSessions ? ['POST', 'GET', 'DELETE', 'OPTIONS'] : ['POST', 'OPTIONS'];
  const refuser: Refuser = { gate, observe, limitBytes: config.bodyLimitBytes, clock };
  const refuse = (res: ServerResponse, error: AppError) => answerError(refuser, res.req, res, error);
  const shared = parts.serving === 'sdk' ? undefined : createShared(menu, clock, refuse);
  const muxes = shared && { modern: shared.modern.mux, legacy: shared.legacy.mux };

  let sdk: Sdk | undefined;
  let loading: Promise<Sdk> | undefined;
  const loadSdk = async (): Promise<Sdk> => {
    const { openSdk } = await import('./transport/sdk.ts');
    sdk = await openSdk({ server, muxes, hasSessions, limitBytes: config.bodyLimitBytes, clock, onerror });
    return sdk;
  };
  const load = (): Sdk | Promise<Sdk> => {
    loading ??= loadSdk().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return sdk ?? loading;
  };
  const isWorthSession = ({ sessions }: Sdk, { auth }: Identity, params: unknown): boolean =>
    sessions!.wants(params) && (legacySessions === 'auto' || mayBeAsked(auth.access, parts.engine));

  const listening = new Set<ServerResponse>();
  let takesListeners = true;
  const { readRights } = parts;
  const watch = createOfferWatch({
    ...{ clock, observe },
    watched: [
      {
        async look() {
          await menu.look();
          return menu.changes();
        },
        tell: () => sdk?.tellOfTools(),
      },
      // A change of any user's rights notifies all clients: each then lists again and gets its own tools.
      ...(readRights ? [{ look: readRights, tell: () => sdk?.tellOfChange() }] : []),
    ],
    hears: () => listening.size > 0,
  });
  const listen = (res: ServerResponse) => {
    if (!takesListeners) fail('NOT_READY', {});
    listening.add(res);
    watch.begin();
    res.once('close', () => listening.delete(res));
  };

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // CWE-525: a response holds data of one caller. CWE-430: browsers must not treat it as anything but JSON.
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    // DNS rebinding: a page that points its own name at this server sends that name in Host (MCP 2025-11-25,
    // transports, security).
    if (!admission.allowsHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
    // An Origin that is not allowed gets 403 (MCP 2026-07-28, Streamable HTTP, security warning).
    const origin = req.headers.origin;
    if (origin !== undefined) {
      if (!admission.allowsOrigin(origin)) fail('ORIGIN_NOT_ALLOWED', {});
      allowOrigin(res, origin);
    }
    if (req.method === 'OPTIONS') {
      answerPreflight(req, res, methods, legacySessions === 'auto' ? methods : ['POST', 'OPTIONS']);
      return;
    }
    const conversation = conversationOf(req);
    const sessionId = hasSessions && conversation === undefined ? headerOf(req, 'mcp-session-id') : undefined;
    const isSessionWide = legacySessions === 'auto' || sessionId !== undefined;
    const sessionMethod = sessionId !== undefined && (req.method === 'GET' || req.method === 'DELETE');
    if (req.method !== 'POST' && !sessionMethod) {
      fail('METHOD_NOT_ALLOWED', { method: req.method ?? '', allow: isSessionWide ? methods.slice(0, 3) : ['POST'] });
    }
    const narrowing = readNarrowing(req.url ?? '');
    const checked = checkToken(req);
    const auth = gate.narrow(checked instanceof Promise ? await checked : checked, narrowing);
    pace.take(auth.userId, 1);
    const identity: Identity = { auth, origin: originOf(req, sessionId ?? conversation) };
    if (sessionMethod) {
      if (req.method === 'GET') listen(res);
      if (!(await (await load()).sessions!.serve(sessionId, req, res, undefined, identity)))
        fail('NOT_FOUND', { path: 'this session' });
      return;
    }
    if (!isJson(req.headers['content-type'])) fail('UNSUPPORTED_MEDIA_TYPE', {});
    if (announcesTooMuch(req, config.bodyLimitBytes)) fail('BODY_TOO_LARGE', { limitBytes: config.bodyLimitBytes });
    const limits = { bytes: config.bodyLimitBytes, depth: config.jsonDepthLimit };
    const body = await readJson(req, limits, () => userTurn(auth.userId));
    const messages = messagesOf(body);
    if (messages.length > 1) pace.take(auth.userId, messages.length - 1);
    for (const message of messages) {
      repairCall(message);
      checkScope(message, auth);
    }
    tolerateAccept(req);
    if (showsViews(body, conversation)) identity.views = true;
    await measure(res, body, identity, () => dispatch(req, res, body, { identity, conversation }, sessionId));
  };

  /** Synchronous if the gate can answer from memory. */
  const checkToken = (req: IncomingMessage): Authenticated | Promise<Authenticated> => {
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
  };

  /**
   * The token must hold every OAuth scope that the call needs, else 403 with one challenge (RFC 6750 section 3.1). The
   * challenge lists the current scopes too: clients request exactly the listed scopes (MCP 2025-11-25, step-up
   * authorization) and would lose the others.
   */
  const checkScope = (message: unknown, auth: Authenticated) => {
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
  };

  /** Measures every request except listening streams and tool calls: tool-call.ts reports each call when it ends. */
  const measure = (
    res: ServerResponse,
    body: unknown,
    { origin }: Identity,
    work: () => Promise<void>,
  ): Promise<void> => {
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
  };

  const dispatch = async (
    req: IncomingMessage,
    res: ServerResponse,
    body: unknown,
    from: Origin,
    sessionId: string | undefined,
  ): Promise<void> => {
    const { identity, conversation } = from;
    if (hasSessions && sessionId !== undefined && !claimsModern(req, body)) {
      const { sessions } = await load();
      if (!(await sessions!.serve(sessionId, req, res, body, identity))) fail('NOT_FOUND', { path: 'this session' });
      return;
    }
    if (hasSessions && isRecord(body) && body.method === 'initialize') {
      const opened = await load();
      if (isWorthSession(opened, identity, body.params)) {
        await opened.sessions!.open(req, res, body, identity);
        return;
      }
    }
    const requestId = conversation === undefined ? undefined : cancelledBy(body);
    if (requestId !== undefined) shared?.legacy.mux.cancel(requestId, from);
    if (isRecord(body) && body.method === 'initialize')
      res.setHeader('Mcp-Session-Id', newConversation(isRecord(body.params) ? body.params.capabilities : undefined));
    const era = shared ? eraOf(req, body) : undefined;
    if (shared && era) {
      const request = body as unknown as HotRequest;
      const leg = shared[era];
      if (request.method === 'tools/call') {
        const work = direct(era, request, identity);
        if (work) return leg.mux.run(request, from, res, acceptsStreams(req), work);
        if (!sdk) await load();
        leg.mux.serve(request, { ...from, identity: withRequestId(identity, request) }, res, acceptsStreams(req));
        return;
      }
      const [current] = await Promise.all([confirm(identity), menu.look()]);
      const mask = menu.maskFor(current.auth);
      if (!sdk) await load();
      const list = leg.lists.get(keyOf(mask, current)) ?? (await leg.makeList(mask, current));
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${list}}`;
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      res.end(text);
      return;
    }
    if (isRecord(body) && body.method === 'subscriptions/listen') listen(res);
    const withAuth = Object.assign(req, { auth: authInfoOf(await confirm(identity)) });
    await (await load()).handle(withAuth, res, body);
  };

  /** Compares the token's versions before any other request is answered. Tool calls do this themselves. */
  const confirm = async (identity: Identity): Promise<Identity> => {
    const holds = gate.holds(identity.auth);
    return holds === true || (await holds) ? identity : { ...identity, auth: await gate.renew(identity.auth) };
  };

  return {
    handle(req, res) {
      serve(req, res).catch((error: unknown) => {
        // The client has disconnected.
        if (res.destroyed) return;
        refuse(res, reportFailure(observe, 'mcp', error));
      });
    },
    load: async () => load(),
    tellOfChange() {
      // If a client listens, the SDK is already loaded.
      sdk?.tellOfChange();
    },
    stopListening() {
      takesListeners = false;
      watch.end();
      for (const res of listening) res.destroy();
    },
    async close() {
      watch.end();
      await loading?.catch(() => undefined);
      await Promise.allSettled([sdk?.close(), muxes?.modern.close(), muxes?.legacy.close()]);
      await Promise.race([settled(), new Promise<void>((resolve) => clock.after(SETTLE_MS, resolve))]);
    },
  };
}

/** Time for aborted calls to end, in milliseconds; user code may ignore the abort signal. */
const SETTLE_MS = 2000;

interface Leg {
  readonly mux: Mux;
  /**
   * The results of tools/list as JSON, by mask (mcp/visibility/tool-list.ts) and views, as far as they were requested.
   */
  readonly lists: ReadonlyMap<number, string>;
  /** Asks the SDK instance for the list, on behalf of one caller with this mask. */
  makeList(mask: number, identity: Identity): Promise<string>;
}

/** Clients that show views get metadata about them, which makes a second list of the same tools. */
const keyOf = (mask: number, { views }: Identity): number => (views ? -1 - mask : mask);

/** Far more than the sets of tools that roles produce in practice. */
const MOST_LISTS = 500;

function createLeg(mux: Mux, menu: Menu, params: Record<string, unknown>): Leg {
  const lists = new Map<number, string>();
  return {
    mux,
    lists,
    async makeList(mask, identity) {
      const list = JSON.stringify(await mux.ask('tools/list', params, identity));
      // Do not cache a list if an agent restart changed the visible tools meanwhile.
      if (menu.maskFor(identity.auth) === mask) {
        if (lists.size >= MOST_LISTS) lists.clear();
        lists.set(keyOf(mask, identity), list);
      }
      return list;
    },
  };
}

function createShared(menu: Menu, clock: Clock, refuse: (res: ServerResponse, error: AppError) => void) {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    modern: createLeg(createMux(clock, refuse), menu, { _meta: envelope }),
    legacy: createLeg(createMux(clock, refuse), menu, {}),
  };
}

function originOf(req: IncomingMessage, sessionId: string | undefined): TraceOrigin {
  return { headers: req.headers, ambient: activeContext(), protocolVersion: versionOf(req), sessionId };
}

/** The multiplexer replaces the request id, so traces get the client's own id. */
function withRequestId(identity: Identity, { id }: HotRequest): Identity {
  const { origin } = identity;
  return origin ? { ...identity, origin: { ...origin, requestId: id } } : identity;
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*application\/json\s*(;|$)/i.test(contentType);
}

function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
