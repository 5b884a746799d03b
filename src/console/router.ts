// The console. It checks in this order: Host header (403); page exists (404); method (405). Then come the size of a form
// (413), the session (redirect to the sign-in page), the origin and CSRF token of a form (403), and the admin level
// (404). Errors are rendered as pages too, because the clients are browsers.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Router } from 'express';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import { Stop } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail, isAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { createAddressReader } from '../http/client-address.ts';
import { errorReply } from '../http/error-reply.ts';
import { hostCheck } from '../http/host-check.ts';
import { messagePage, sendPage } from '../http/page.ts';
import { attachmentHeader, sendJson, sendStream } from '../http/reply.ts';
import { pathOf, queryOf, queryTextOf } from '../http/request-target.ts';
import { addRoutes, createRouter, notFound } from '../http/router.ts';
import type { ApprovalExecution } from '../mcp/approvals/execution.ts';
import type { Playground } from '../mcp/playground.ts';
import type { Mailer } from '../notifications/mail.ts';
import { type LoginMethods, passwordsOnly } from '../oauth/login/login-methods.ts';
import type { SignIn } from '../oauth/login/sign-in.ts';
import type { Store } from '../store/store.ts';
import type { AutomaticStarts } from '../workflows/automatic/rules.ts';
import type { RemoteServers } from '../workflows/remote-mcp/remote-servers.ts';
import type { Triggers } from '../workflows/triggers/trigger.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import { emptyInput, hasFiles, MAX_FIELDS_BYTES, readForm } from './form-data.ts';
import type { Answer, PageRequest, Parts, SignedInRequest } from './page-request.ts';
import { createReviewer, type ReviewParts } from './pages/approvals/review.ts';
import { createInbox, nothingWaits } from './pages/inbox/waiting.ts';
import { toSignIn } from './pages/sign-in/sign-in.ts';
import type { ConsolePaths } from './paths.ts';
import type { MemberRoute, Route } from './route.ts';
import { hasPage, readReturn, routes } from './routes.ts';
import { createSessions, type Visitor } from './session.ts';
import { errorPage, framedMissingPage, missingPage } from './ui/error-pages.ts';
import { consoleLook } from './ui/frame.ts';

export interface ConsoleOptions extends ReviewParts, Pick<Parts, 'dropUploads' | 'reloadTables'> {
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowService;
  readonly triggers: Triggers;
  readonly automatic: AutomaticStarts;
  readonly config: Config;
  readonly remotes: RemoteServers;
  readonly paths: ConsolePaths;
  readonly signIn: SignIn;
  /** Default: passwords only. */
  readonly loginMethods?: LoginMethods;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly mcpUrl: string | null;
  readonly agentUrl: string;
  readonly apiUrl: string;
  /** Null when the server serves no MCP tools. */
  readonly playground: Playground | null;
  /** Null when assistants execute approved calls themselves. */
  readonly execution: ApprovalExecution | null;
  /** Null if no mail server is configured. */
  readonly mailer: Mailer | null;
}

const forgedPage = messagePage(
  {
    title: 'Form rejected',
    text: 'The form did not come from this console, or its page has expired. Open the page again and repeat your input.',
  },
  consoleLook,
);

/** Mount it at the path of the console. */
export function createConsoleRouter(options: ConsoleOptions): Router {
  const { store, config, paths, observe } = options;
  const readAddress = createAddressReader(config.trustedProxies);
  const loginMethods = options.loginMethods ?? passwordsOnly;
  const sessions = createSessions(store, paths, loginMethods);
  const reviewer = createReviewer(options);
  const inbox = createInbox({ ...options, reviewer });
  const parts: Parts = { ...options, loginMethods, sessions, readReturn, hasPage, reviewer, inbox };

  const describeRequest = async (req: IncomingMessage, res: ServerResponse, visitor: Visitor) => ({
    ...{ req, visitor, query: queryOf(req.url), csrf: await sessions.makeToken(visitor) },
    ...{ place: await store.identity.place(), address: readAddress(req), browser: req.headers['user-agent'] ?? '' },
    signal: abortOnClose(res),
  });

  /** For signed-in users in the frame, so that the navigation stays. */
  const sendMissing = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const visitor = await sessions.recognise(req);
    const { access } = visitor.session ?? {};
    if (!access) return sendPage(res, 404, missingPage(paths));
    const input = { ...emptyInput, id: '', params: {}, to: '' };
    const waiting = await inbox.count(access);
    const request = { ...(await describeRequest(req, res, visitor)), ...input, access, waiting };
    sendPage(res, 404, framedMissingPage(request, parts));
  };

  const serve = async (
    route: Route,
    params: Readonly<Record<string, string>>,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> => {
    const posted = req.method === 'POST';
    const visitor = await parts.sessions.recognise(req);
    // Only a signed-in user who posts from a console page may send a body as large as a file.
    const takesFiles =
      posted && route.takesFiles === true && visitor.session !== undefined && hasFiles(req) && isOwnPage(req, paths);
    const limitBytes = takesFiles ? config.fileLimitBytes + MAX_FIELDS_BYTES : route.bodyBytes;
    let overflow: number | undefined;
    const input = posted
      ? await readForm(req, limitBytes, takesFiles).catch((error: unknown) => {
          if (!takesFiles || !isAppError(error, 'BODY_TOO_LARGE')) throw error;
          overflow = config.fileLimitBytes;
          return emptyInput;
        })
      : emptyInput;
    if (visitor.cookie !== undefined) res.appendHeader('Set-Cookie', visitor.cookie);
    const { form, files } = input;
    const query = queryOf(req.url);
    const request: PageRequest = {
      ...(await describeRequest(req, res, visitor)),
      id: params.id ?? '',
      params,
      form,
      files,
      ...(overflow !== undefined && { overflow }),
      to: readReturn(form.get('to') ?? query.get('to')),
    };
    const { session } = visitor;
    const toMember = async (access: Access): Promise<SignedInRequest> => {
      const isCounted = !route.open && !route.frameless;
      return { ...request, access, waiting: isCounted ? await inbox.count(access) : nothingWaits };
    };
    if (!route.open && !session) {
      await answer(req, res, toSignIn(route.get ? readReturn(`${pageOf(req.url)}?${queryTextOf(req.url)}`) : ''));
      return;
    }
    // Oversized body: skip it, change no data, and render the page again with an error.
    if (overflow !== undefined && session) {
      res.setHeader('Connection', 'close');
      req.resume();
      await answer(req, res, await (route as MemberRoute).get!(await toMember(session.access), parts));
      return;
    }
    // OWASP CSRF prevention: the browser reports a console page as the source, and the form has the session's token.
    if (posted && !(isOwnPage(req, paths) && (await parts.sessions.isToken(visitor, request.form.get('csrf') ?? '')))) {
      observe({ type: 'security', event: 'console.forged', address: request.address, ...userOf(request) });
      sendPage(res, 403, forgedPage);
      return;
    }
    if (!route.open && route.admin && session?.access.caller.permissionLevel !== 'admin') {
      fail('NOT_FOUND', { path: paths.path(pageOf(req.url)) });
    }
    if (route.open) await answer(req, res, await route[posted ? 'post' : 'get']!(request, parts));
    else {
      const member = await toMember(session!.access);
      await answer(req, res, await route[posted ? 'post' : 'get']!(member, parts), session);
    }
  };

  /** Throws UNAUTHENTICATED if the session has ended, or the user's permission level or team has changed. */
  const requireSameSession = async (req: IncomingMessage, previous: Visitor['session']): Promise<void> => {
    const { session } = await parts.sessions.recognise(req);
    const [was, is] = [previous?.access.caller, session?.access.caller];
    const isSame = previous?.id === session?.id && was?.permissionLevel === is?.permissionLevel;
    if (!isSame || was?.renderingId !== is?.renderingId) fail('UNAUTHENTICATED', { problem: 'The session has ended.' });
  };

  const answer = async (
    req: IncomingMessage,
    res: ServerResponse,
    result: Answer,
    session?: Visitor['session'],
  ): Promise<void> => {
    if ('stream' in result) {
      const { type, filename, parts } = result.stream;
      res.setHeader('Content-Type', type);
      res.setHeader('Content-Disposition', attachmentHeader(filename));
      res.setHeader('Cache-Control', 'no-store');
      res.setHeader('X-Content-Type-Options', 'nosniff');
      await sendStream(req, res, 200, parts, () => requireSameSession(req, session));
      return;
    }
    if ('page' in result) {
      for (const [name, value] of Object.entries(result.headers ?? {})) res.setHeader(name, value);
      for (const cookie of result.cookies ?? []) res.appendHeader('Set-Cookie', cookie);
      if (result.afterwards) res.once('close', result.afterwards);
      sendPage(res, result.status ?? 200, result.page);
      return;
    }
    if ('leaveTo' in result) {
      res
        .writeHead(303, { Location: result.leaveTo, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
        .end();
      return;
    }
    for (const cookie of result.cookies ?? []) res.appendHeader('Set-Cookie', cookie);
    // 303: browsers follow the redirect with GET and do not send the form again.
    res.writeHead(303, { Location: paths.path(result.to), 'Cache-Control': 'no-store' }).end();
  };

  const router = createRouter();
  router.use(hostCheck(paths.host, config));
  router.param('id', (_req, _res, next, id: string) => next(idPattern.test(id) ? undefined : 'route'));
  addRoutes(router, routes.flatMap(toRoutePaths), ({ route }) => async (req, res) => {
    const params = req.params as Readonly<Record<string, string>>;
    const publish = route.open ? route.publish : undefined;
    if (!publish) return serve(route, params, req, res);
    const document = publish(params.id ?? '', parts);
    if (!document) fail('NOT_FOUND', { path: pathOf(req.originalUrl) });
    sendJson(res, 200, document);
  });
  router.use(
    notFound,
    errorReply({
      ...{ observe, readAddress, where: 'console' },
      send: (req, res, error) => {
        const plain = () => sendPage(res, error.status, errorPage(error, paths));
        if (error.code !== 'NOT_FOUND') return plain();
        return sendMissing(req, res).catch(plain);
      },
    }),
  );
  return router;
}

/** The page of a path below the mount; '' is the start page. */
const pageOf = (url: string | undefined): string => pathOf(url).replace(/^\/$/, '');

/** An id, such as `12` or `q3_X-w`. */
const idPattern = /^[\w-]{1,128}$/;

const toRoutePaths = (route: Route) => {
  const path = route.page || '/';
  const hasGet = route.get !== undefined || (route.open && route.publish !== undefined);
  return [
    ...(hasGet ? [{ method: 'GET' as const, path, route }] : []),
    ...(route.post ? [{ method: 'POST' as const, path, route }] : []),
  ];
};

/** Aborts when the browser disconnects before the response is complete. */
function abortOnClose(res: ServerResponse): Stop {
  const stop = new Stop();
  res.once('close', () => {
    if (!res.writableFinished) stop.abort();
  });
  return stop;
}

function userOf({ visitor }: PageRequest) {
  return visitor.session ? { userId: visitor.session.access.caller.id } : {};
}

/**
 * Whether the browser reports that the form came from a console page. Sec-Fetch-Site is the best evidence. Browsers
 * omit it on plain http, and then Origin decides. Every browser sends one of the two with a form. Requests with neither
 * header, or with `Origin: null`, are refused.
 */
function isOwnPage(req: IncomingMessage, paths: ConsolePaths): boolean {
  const fetchSite = req.headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite === 'same-origin';
  const { origin, host } = req.headers;
  return origin !== undefined && (origin === paths.origin || (!paths.secure && origin === `http://${host}`));
}
