// The pages of the console, as a table. A row says who may open it and what its GET shows and its POST does. A handler is
// given a Visit and answers with a value, so that all that concerns cookies, headers and forms is decided in one place
// (console.ts). A GET changes nothing, but for the way back from an OpenID provider, which counts once.
import { changeAccount, showAccount } from './account.ts';
import { showApi } from './api/page.ts';
import { decideApproval, listApprovals, sendApprovalFile, showApproval } from './approvals.ts';
import { disconnectApp, listApps, listAppsOfEveryone } from './apps.ts';
import { setUp, showSetUp } from './authenticator.ts';
import { answerFrontEnd, showFrontEnd } from './front-end.ts';
import { exportActivity, listActivity, showEntry } from './logs/activity.ts';
import { exportAdminLog, listAdminLog, showAdminEntry } from './logs/admin-log.ts';
import { listNotes } from './notes/list.ts';
import { makeNote, showNewNote } from './notes/new.ts';
import { changeThread, showNote } from './notes/thread.ts';
import { remoteCallbackPage, remoteClientPage, ssoPage } from './paths.ts';
import { callTool, showTool, showTools } from './playground/pages.ts';
import { changeRemote, finishRemote } from './remotes/account.ts';
import { addRemote, listRemotes } from './remotes/list.ts';
import { publishClient, showRemote } from './remotes/server.ts';
import { rightsRoutes } from './rights/routes.ts';
import { showSettings } from './settings/page.ts';
import { finishSso, showSignIn, signIn, signOut } from './signing.ts';
import { showFirstCall, showStart } from './start.ts';
import { makeToken, showNewToken } from './tokens/new-token.ts';
import { listTokens, listTokensOfEveryone, revokeToken } from './tokens/tokens.ts';
import type { Answer, MemberVisit, Parts, Visit } from './visit.ts';
import { choosePassword, openLink, showDone, showLink } from './welcome.ts';
import { workflowRoutes } from './workflows/routes.ts';

type Handler<V> = (visit: V, parts: Parts) => Promise<Answer>;

interface Handlers<V> {
  /** `:id` stands for a segment that is an id, such as `12` or `q3_X-w`; any other `:name` for any one, decoded. */
  readonly page: string;
  readonly get?: Handler<V>;
  readonly post?: Handler<V>;
  /** The most that a form may hold; 56 KiB when absent. */
  readonly bodyBytes?: number;
}

interface OpenRoute extends Handlers<Visit> {
  readonly open: true;
  /** Of the `:id`, for programs, in place of a page; undefined: there is none. */
  readonly publish?: (id: string, parts: Parts) => object | undefined;
  readonly takesFiles?: never;
}

export interface MemberRoute extends Handlers<MemberVisit> {
  readonly open: false;
  /** For permission level `admin` alone; for everybody else the page is not there. */
  readonly admin?: true;
  /** Its form may hold files, as large as the setting allows; then its GET is shown with `overflow` for what is larger. */
  readonly takesFiles?: true;
}

export type Route = OpenRoute | MemberRoute;

export const routes: readonly Route[] = [
  { page: '', open: false, get: showStart },
  { page: '/start/first-call', open: false, get: showFirstCall },
  { page: '/sign-in', open: true, get: showSignIn, post: signIn },
  { page: ssoPage, open: true, get: finishSso },
  { page: '/sign-out', open: true, post: signOut },
  { page: '/welcome', open: true, get: showLink, post: choosePassword },
  { page: '/welcome/:id', open: true, get: openLink },
  { page: '/password-set', open: true, get: showDone },
  { page: '/account/app', open: false, get: showSetUp, post: setUp },
  { page: '/account', open: false, get: showAccount, post: changeAccount },
  { page: '/approvals', open: false, get: listApprovals },
  { page: '/approvals/:id', open: false, get: showApproval, post: decideApproval },
  { page: '/approvals/:id/files/:number', open: false, get: sendApprovalFile },
  { page: '/playground', open: false, get: showTools },
  { page: '/playground/:name', open: false, get: showTool, post: callTool },
  { page: '/notes', open: false, get: listNotes },
  { page: '/notes/new', open: false, get: showNewNote, post: makeNote, bodyBytes: 256 * 1024 },
  { page: '/notes/:id', open: false, get: showNote, post: changeThread, bodyBytes: 256 * 1024 },
  { page: '/activity', open: false, get: listActivity },
  { page: '/activity/export', open: false, get: exportActivity },
  { page: '/activity/:id', open: false, get: showEntry },
  { page: '/admin-log', open: false, admin: true, get: listAdminLog },
  { page: '/admin-log/export', open: false, admin: true, get: exportAdminLog },
  { page: '/admin-log/:id', open: false, admin: true, get: showAdminEntry },
  { page: '/settings', open: false, admin: true, get: showSettings },
  { page: '/front-ends/:id', open: false, get: showFrontEnd, post: answerFrontEnd },
  { page: '/api', open: false, get: showApi },
  { page: '/apps', open: false, get: listApps },
  { page: '/apps/everyone', open: false, get: listAppsOfEveryone },
  { page: '/apps/:id', open: false, post: disconnectApp },
  { page: '/remotes', open: false, get: listRemotes, post: addRemote },
  { page: '/remotes/:id', open: false, get: showRemote, post: changeRemote },
  { page: remoteCallbackPage(':id'), open: false, get: finishRemote },
  { page: remoteClientPage(':id'), open: true, publish: publishClient },
  { page: '/tokens', open: false, get: listTokens },
  { page: '/tokens/new', open: false, get: showNewToken, post: makeToken },
  { page: '/tokens/everyone', open: false, admin: true, get: listTokensOfEveryone },
  { page: '/tokens/:id', open: false, post: revokeToken },
  ...rightsRoutes,
  ...workflowRoutes,
];

export interface Found {
  readonly route: Route;
  /** What stands in the place of each `:name`, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

const patterns = routes.map((route) => ({ route, parts: route.page.split('/') }));

/** Of a page as `ConsolePaths.locate` gives it. The first row that fits is the one. */
export function findRoute(page: string): Found | undefined {
  const asked = page.split('/');
  for (const { route, parts } of patterns) {
    if (parts.length !== asked.length) continue;
    const params = readParams(parts, asked);
    if (params) return { route, params };
  }
  return undefined;
}

function readParams(parts: readonly string[], asked: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const sent = asked[at]!;
    if (!part.startsWith(':')) {
      if (part !== sent) return undefined;
      continue;
    }
    const value = part === ':id' ? readId(sent) : decode(sent);
    if (value === undefined) return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

const readId = (segment: string): string | undefined => (/^[\w-]{1,128}$/.test(segment) ? segment : undefined);

/** Undefined for what cannot name anything. */
function decode(segment: string): string | undefined {
  if (segment === '' || segment.length > 1000) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Far longer than what any page of ours looks for. */
const QUERY_MOST = 4000;

/**
 * Where a sign-in may lead: a page of ours that shows something, with what it is asked for, else the start page. What is sent is
 * never more than the name of a page and a query, so that it can lead to no other site (CWE-601); and a page changes nothing,
 * whatever its address says.
 */
export function readReturn(sent: string | null): string {
  const [page = '', query = ''] = (sent ?? '').split(/\?(.*)/s);
  const found = /^[\w/.%~-]*$/.test(page) ? findRoute(page) : undefined;
  if (!found || found.route.open || !found.route.get) return '';
  // RFC 3986 section 3.4: the signs of a query, and so no end of one.
  const isQuery = query !== '' && query.length <= QUERY_MOST && /^[\w.~%!$&'()*+,;=:@/?-]+$/.test(query);
  // RFC 6750 section 5.3: a token that somebody put in an address goes no further with it.
  const isSecret = new URLSearchParams(query).has('access_token');
  return isQuery && !isSecret ? `${page}?${query}` : page;
}
