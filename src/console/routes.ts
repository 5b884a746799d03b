// Route table of the console. A row holds a page's access rule and its GET and POST handlers. Handlers take a `PageRequest`
// and return a value; router.ts handles cookies, headers and forms in one place. GET requests change no data, except
// callbacks from authorization servers, which count only once.

import { changeAccount, showAccount } from './pages/account/account.ts';
import { setUp, showSetUp } from './pages/account/authenticator.ts';
import { sendForgotten, showForgotten } from './pages/account/forgotten.ts';
import { choosePassword, openLink, showDone, showLink } from './pages/account/one-time-links.ts';
import { showApi } from './pages/api/page.ts';
import { decideApproval, listApprovals, sendApprovalFile, showApproval } from './pages/approvals/approvals.ts';
import { changeApp, listApps, listAppsOfEveryone } from './pages/connections/connections.ts';
import { dataRoutes } from './pages/data/routes.ts';
import { decideSelected, showCount, showInbox } from './pages/inbox/inbox.ts';
import { exportActivity, listActivity, showEntry } from './pages/logs/activity.ts';
import { exportAdminLog, listAdminLog, showAdminEntry } from './pages/logs/admin-log.ts';
import { listNotes } from './pages/notes/list.ts';
import { saveNewNote, showNewNote } from './pages/notes/new.ts';
import { changeThread, showNote } from './pages/notes/thread.ts';
import { changeAnalysis, showAnalysis } from './pages/playground/analysis/page.ts';
import { callTool, showTool, showTools } from './pages/playground/pages.ts';
import { changeRemote, finishRemote } from './pages/remotes/account.ts';
import { addRemote, listRemotes } from './pages/remotes/list.ts';
import { publishClient, showRemote } from './pages/remotes/server.ts';
import { rightsRoutes } from './pages/rights/routes.ts';
import { reloadTables, showSettings } from './pages/settings/page.ts';
import { answerFrontEnd, showFrontEnd } from './pages/sign-in/front-end.ts';
import { finishSso, showSignIn, signIn, signOut } from './pages/sign-in/sign-in.ts';
import { showFirstCall, showStart } from './pages/start/start.ts';
import { createToken, showNewToken } from './pages/tokens/new-token.ts';
import { listTokens, listTokensOfEveryone, revokeToken } from './pages/tokens/tokens.ts';
import { workflowRoutes } from './pages/workflows/routes.ts';
import { forgotPage, remoteCallbackPage, remoteClientPage, ssoPage } from './paths.ts';
import type { Route } from './route.ts';

export const routes: readonly Route[] = [
  { page: '', open: false, get: showStart },
  { page: '/start/first-call', open: false, frameless: true, get: showFirstCall },
  { page: '/sign-in', open: true, get: showSignIn, post: signIn },
  { page: ssoPage(''), open: true, get: finishSso },
  { page: ssoPage(':provider'), open: true, get: finishSso },
  { page: '/sign-out', open: true, post: signOut },
  { page: '/welcome', open: true, get: showLink, post: choosePassword },
  { page: '/welcome/:id', open: true, get: openLink },
  { page: forgotPage, open: true, get: showForgotten, post: sendForgotten },
  { page: '/password-set', open: true, get: showDone },
  { page: '/account/app', open: false, get: showSetUp, post: setUp },
  { page: '/account', open: false, get: showAccount, post: changeAccount },
  { page: '/inbox', open: false, get: showInbox, post: decideSelected },
  { page: '/inbox/count', open: false, frameless: true, get: showCount },
  { page: '/approvals', open: false, get: listApprovals },
  { page: '/approvals/:id', open: false, get: showApproval, post: decideApproval },
  { page: '/approvals/:id/files/:number', open: false, frameless: true, get: sendApprovalFile },
  { page: '/playground', open: false, get: showTools },
  { page: '/playground/:name', open: false, get: showTool, post: callTool },
  { page: '/playground/aggregate/form', open: false, get: showAnalysis, post: changeAnalysis },
  { page: '/notes', open: false, get: listNotes },
  { page: '/notes/new', open: false, get: showNewNote, post: saveNewNote, bodyBytes: 256 * 1024 },
  { page: '/notes/:id', open: false, get: showNote, post: changeThread, bodyBytes: 256 * 1024 },
  { page: '/activity', open: false, get: listActivity },
  { page: '/activity/export', open: false, frameless: true, get: exportActivity },
  { page: '/activity/:id', open: false, get: showEntry },
  { page: '/admin-log', open: false, admin: true, get: listAdminLog },
  { page: '/admin-log/export', open: false, admin: true, frameless: true, get: exportAdminLog },
  { page: '/admin-log/:id', open: false, admin: true, get: showAdminEntry },
  { page: '/settings', open: false, admin: true, get: showSettings, post: reloadTables },
  { page: '/front-ends/:id', open: false, get: showFrontEnd, post: answerFrontEnd },
  { page: '/api', open: false, get: showApi },
  { page: '/apps', open: false, get: listApps },
  { page: '/apps/everyone', open: false, get: listAppsOfEveryone },
  { page: '/apps/:id', open: false, post: changeApp },
  { page: '/remotes', open: false, get: listRemotes, post: addRemote },
  { page: '/remotes/:id', open: false, get: showRemote, post: changeRemote },
  { page: remoteCallbackPage(':id'), open: false, get: finishRemote },
  { page: remoteClientPage(':id'), open: true, publish: publishClient },
  { page: '/tokens', open: false, get: listTokens },
  { page: '/tokens/new', open: false, get: showNewToken, post: createToken },
  { page: '/tokens/everyone', open: false, admin: true, get: listTokensOfEveryone },
  { page: '/tokens/:id', open: false, post: revokeToken },
  ...dataRoutes,
  ...rightsRoutes,
  ...workflowRoutes,
];

/** Whether the page, such as `/notes`, has a route. */
export const hasPage = (page: string): boolean => routes.some((route) => route.page === page);

/** Pages that a sign-in may return to: those with a GET handler for signed-in users. */
const returnPages = routes
  .filter((route) => !route.open && route.get)
  .map(({ page }) => new RegExp(`^${page.replace(/:id\b/g, '[\\w-]{1,128}').replace(/:\w+/g, '[^/]+')}$`));

/** Maximum length of a return query, far above the needs of any page. */
const MAX_QUERY_LENGTH = 4000;

/**
 * Validates the return page of a sign-in: a console page with a GET handler and its query, else the start page. The
 * result is only a page and a query, so it cannot redirect to another site (CWE-601). GET requests change no data, so
 * any query is harmless.
 */
export function readReturn(input: string | null): string {
  const [page = '', query = ''] = (input ?? '').split(/\?(.*)/s);
  if (!/^[\w/.%~-]*$/.test(page) || !returnPages.some((pattern) => pattern.test(page))) return '';
  // RFC 3986 section 3.4: characters of a query. `#` would end it.
  const isQuery = query !== '' && query.length <= MAX_QUERY_LENGTH && /^[\w.~%!$&'()*+,;=:@/?-]+$/.test(query);
  // RFC 6750 section 5.3: drop a query that contains an access token.
  const isSecret = new URLSearchParams(query).has('access_token');
  return isQuery && !isSecret ? `${page}?${query}` : page;
}
