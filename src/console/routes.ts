// The pages of the console, as a table. A row says who may open it and what its GET shows and its POST does. A handler is
// given a Visit and answers with a value, so that all that concerns cookies, headers and forms is decided in one place
// (console.ts). A GET changes nothing, but for the way back from an OpenID provider, which counts once.
import { changeAccount, showAccount } from './account.ts';
import { decideApproval, listApprovals, showApproval } from './approvals.ts';
import { disconnectApp, listApps, listAppsOfEveryone, revokeToken } from './apps.ts';
import { setUp, showSetUp } from './authenticator.ts';
import { answerFrontEnd, showFrontEnd } from './front-end.ts';
import { ssoPage } from './paths.ts';
import { finishSso, showSignIn, signIn, signOut } from './signing.ts';
import { showStart } from './start.ts';
import type { Answer, MemberVisit, Parts, Visit } from './visit.ts';
import { choosePassword, openLink, showDone, showLink } from './welcome.ts';

type Handler<V> = (visit: V, parts: Parts) => Promise<Answer>;

interface Handlers<V> {
  /** `:id` stands for one segment. */
  readonly page: string;
  readonly get?: Handler<V>;
  readonly post?: Handler<V>;
}

export type Route = ({ readonly open: true } & Handlers<Visit>) | ({ readonly open: false } & Handlers<MemberVisit>);

export const routes: readonly Route[] = [
  { page: '', open: false, get: showStart },
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
  { page: '/front-ends/:id', open: false, get: showFrontEnd, post: answerFrontEnd },
  { page: '/apps', open: false, get: listApps },
  { page: '/apps/everyone', open: false, get: listAppsOfEveryone },
  { page: '/apps/tokens/:id', open: false, post: revokeToken },
  { page: '/apps/:id', open: false, post: disconnectApp },
];

/** Of a page as `ConsolePaths.locate` gives it. */
export function findRoute(page: string): { readonly route: Route; readonly id: string } | undefined {
  for (const route of routes) {
    if (!route.page.endsWith('/:id')) {
      if (page === route.page) return { route, id: '' };
      continue;
    }
    const root = route.page.slice(0, -':id'.length);
    const id = page.startsWith(root) ? page.slice(root.length) : '';
    if (/^[\w-]{1,128}$/.test(id)) return { route, id };
  }
  return undefined;
}

/**
 * Where a sign-in may lead: a page of ours that shows something, else the start page. What is sent is never more than the
 * name of a page, so that it can lead to no other site (CWE-601).
 */
export function readReturn(sent: string | null): string {
  const found = sent === null ? undefined : findRoute(sent);
  return found && !found.route.open && found.route.get ? `${sent}` : '';
}
