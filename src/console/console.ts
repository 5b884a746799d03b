// The front of the console: a plain Node handler for everything below its path. The checks, in order: is the path ours, is
// the Host ours (403), is there such a page (404), the method (405); for a form: its size (413), where it comes from and
// whether this browser was given it (403); who asks, else the sign-in page. Everything here is for people: what goes wrong is
// a page too.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { Stop } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, type ErrorCode, type ErrorDetails, fail, isAppError, toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import type { Playground } from '../mcp/playground.ts';
import { createAddressReader, createHostCheck } from '../oauth/address.ts';
import { messagePage, sendPage } from '../oauth/page.ts';
import { attachmentNamed, sendJson, sendStream } from '../oauth/reply.ts';
import type { SignIn } from '../oauth/sign-in.ts';
import { passwordsAlone, type SignInWays } from '../oauth/sign-in-ways.ts';
import type { Store } from '../store/store.ts';
import type { RemoteRoom } from '../workflow/remote/room.ts';
import type { WorkflowRoom } from '../workflow/room.ts';
import type { Triggers } from '../workflow/trigger.ts';
import { consoleLook } from './frame.ts';
import type { ConsolePaths } from './paths.ts';
import { createReviewer, type ReviewParts } from './review.ts';
import { type Found, findRoute, type MemberRoute, readReturn } from './routes.ts';
import { FIELDS_BYTES, hasFiles, nothingSent, readSent } from './sent.ts';
import { createSessions } from './session.ts';
import { toSignIn } from './signing.ts';
import type { Answer, Parts, Visit } from './visit.ts';

export interface ConsoleOptions extends ReviewParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowRoom;
  readonly triggers: Triggers;
  readonly config: Config;
  readonly remotes: RemoteRoom;
  readonly paths: ConsolePaths;
  readonly signIn: SignIn;
  /** Passwords alone when absent. */
  readonly ways?: SignInWays;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly mcpUrl: string | null;
  readonly apiUrl: string;
  /** Null where no tools are served. */
  readonly playground: Playground | null;
}

export interface Console {
  /** Takes the request and answers true when its path is the console's; otherwise does nothing and answers false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

const forgedPage = messagePage(
  {
    title: 'Nothing was done',
    text: 'This form was not sent from a page of this console, or that page was too old. Open the page again and repeat it.',
  },
  consoleLook,
);

export function createConsole(options: ConsoleOptions): Console {
  const { store, config, paths, observe } = options;
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const ways = options.ways ?? passwordsAlone;
  const sessions = createSessions(store, paths, ways);
  const parts: Parts = { ...options, ways, sessions, readReturn, reviewer: createReviewer(options) };

  const serve = async (
    req: IncomingMessage,
    res: ServerResponse,
    page: string,
    { route, params }: Found,
  ): Promise<void> => {
    const posted = req.method === 'POST';
    const visitor = await parts.sessions.recognise(req);
    // A body as large as a file is read of somebody who is signed in, on a page of ours.
    const takesFiles =
      posted && route.takesFiles === true && visitor.session !== undefined && hasFiles(req) && isOwnPage(req, paths);
    const limitBytes = takesFiles ? config.fileLimitBytes + FIELDS_BYTES : route.bodyBytes;
    let overflow: number | undefined;
    const sent = posted
      ? await readSent(req, limitBytes, takesFiles).catch((error: unknown) => {
          if (!takesFiles || !isAppError(error, 'BODY_TOO_LARGE')) throw error;
          overflow = config.fileLimitBytes;
          return nothingSent;
        })
      : nothingSent;
    if (visitor.cookie !== undefined) res.appendHeader('Set-Cookie', visitor.cookie);
    const { form, files } = sent;
    const query = new URLSearchParams(splitUrl(req)[1]);
    const visit: Visit = {
      req,
      visitor,
      query,
      id: params.id ?? '',
      params,
      form,
      files,
      ...(overflow !== undefined && { overflow }),
      to: readReturn(form.get('to') ?? query.get('to')),
      csrf: await parts.sessions.makeToken(visitor),
      place: await store.identity.place(),
      address: readAddress(req),
      browser: req.headers['user-agent'] ?? '',
      signal: leaving(res),
    };
    const { session } = visitor;
    if (!route.open && !session) {
      await answer(req, res, toSignIn(route.get ? readReturn(`${page}?${splitUrl(req)[1]}`) : ''));
      return;
    }
    // What was too large is not read, and nothing is done: the page is shown again, and says so.
    if (overflow !== undefined && session) {
      res.setHeader('Connection', 'close');
      req.resume();
      await answer(req, res, await (route as MemberRoute).get!({ ...visit, access: session.access }, parts));
      return;
    }
    // OWASP CSRF prevention: the form comes from a page of ours, as the browser says, and carries the token of this session.
    if (posted && !(isOwnPage(req, paths) && (await parts.sessions.isToken(visitor, visit.form.get('csrf') ?? '')))) {
      observe({ type: 'security', event: 'console.forged', address: visit.address, ...userOf(visit) });
      sendPage(res, 403, forgedPage);
      return;
    }
    if (!route.open && route.admin && session?.access.caller.permissionLevel !== 'admin') {
      fail('NOT_FOUND', { path: paths.path(page) });
    }
    if (route.open) await answer(req, res, await route[posted ? 'post' : 'get']!(visit, parts));
    else await answer(req, res, await route[posted ? 'post' : 'get']!({ ...visit, access: session!.access }, parts));
  };

  const answer = async (req: IncomingMessage, res: ServerResponse, given: Answer): Promise<void> => {
    if ('stream' in given) {
      const { type, filename, parts } = given.stream;
      res.setHeader('Content-Type', type);
      res.setHeader('Content-Disposition', attachmentNamed(filename));
      res.setHeader('Cache-Control', 'no-store');
      res.setHeader('X-Content-Type-Options', 'nosniff');
      await sendStream(req, res, 200, parts);
      return;
    }
    if ('page' in given) {
      for (const [name, value] of Object.entries(given.headers ?? {})) res.setHeader(name, value);
      sendPage(res, given.status ?? 200, given.page);
      return;
    }
    if ('leaveTo' in given) {
      res
        .writeHead(303, { Location: given.leaveTo, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
        .end();
      return;
    }
    for (const cookie of given.cookies ?? []) res.appendHeader('Set-Cookie', cookie);
    // 303: no browser repeats the form at the next page.
    res.writeHead(303, { Location: paths.path(given.to), 'Cache-Control': 'no-store' }).end();
  };

  const sendFailure = (req: IncomingMessage, res: ServerResponse, thrown: unknown): void => {
    const requestId = randomId();
    const error = toAppError(thrown, requestId);
    if (error.code === 'INTERNAL') observe({ type: 'failure', where: 'console', requestId, cause: thrown });
    if (res.headersSent) {
      res.destroy();
      return;
    }
    if (isAppError(error, 'BODY_TOO_LARGE')) {
      res.setHeader('Connection', 'close');
      req.resume();
    }
    sendPage(res, error.status, errorPage(error));
  };

  return {
    handle(req, res) {
      const [path] = splitUrl(req);
      const page = paths.locate(path);
      if (page === undefined) return false;
      const method = req.method ?? 'GET';
      const refuse = <C extends ErrorCode>(code: C, details: ErrorDetails<C>): true => {
        const error = new AppError(code, details);
        sendPage(res, error.status, errorPage(error));
        return true;
      };
      // DNS rebinding (RFC 9110 section 7.4): only names that are ours.
      if (!isOurHost(req.headers.host)) return refuse('HOST_NOT_ALLOWED', {});
      const found = findRoute(page);
      if (!found) return refuse('NOT_FOUND', { path });
      const publish = found.route.open ? found.route.publish : undefined;
      const allow = [...(found.route.get || publish ? ['GET', 'HEAD'] : []), ...(found.route.post ? ['POST'] : [])];
      if (!allow.includes(method)) {
        res.setHeader('Allow', allow.join(', '));
        return refuse('METHOD_NOT_ALLOWED', { method, allow });
      }
      if (publish) {
        const document = publish(found.params.id ?? '', parts);
        if (!document) return refuse('NOT_FOUND', { path });
        sendJson(res, 200, document);
        return true;
      }
      serve(req, res, page, found).catch((error: unknown) => sendFailure(req, res, error));
      return true;
    },
  };
}

/** Aborted when the browser goes away before it is answered. */
function leaving(res: ServerResponse): Stop {
  const stop = new Stop();
  res.once('close', () => {
    if (!res.writableFinished) stop.abort();
  });
  return stop;
}

function userOf({ visitor }: Visit) {
  return visitor.session ? { userId: visitor.session.access.caller.id } : {};
}

/**
 * Whether the browser says that the form was on a page of ours. Fetch Metadata says it best; it is missing on plain http,
 * where Origin stands. Every browser sends one of them with a form; who sends neither, or `null`, is not believed.
 */
function isOwnPage(req: IncomingMessage, paths: ConsolePaths): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = req.headers;
  return origin !== undefined && (origin === paths.origin || (!paths.secure && origin === `http://${host}`));
}

const titles: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: 'There is no such page',
  METHOD_NOT_ALLOWED: 'This page cannot be used like that',
  HOST_NOT_ALLOWED: 'This address is not served',
};

function errorPage(error: AppError) {
  return messagePage({ title: titles[error.code] ?? 'Something went wrong', text: error.message }, consoleLook);
}

function splitUrl(req: IncomingMessage): [path: string, query: string] {
  const url = req.url ?? '/';
  const mark = url.indexOf('?');
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}
