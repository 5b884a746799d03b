// Signing in and out. Failed passwords and codes share one counter with the authorization server.
import { isAppError } from '../../core/errors.ts';
import { html } from '../../http/html.ts';
import { messagePage } from '../../http/page.ts';
import type { SignInAnswer } from '../../oauth/login/sign-in.ts';
import { lostPage, signInChoices, tryAgainPage } from '../../oauth/login/sign-in-choices.ts';
import {
  codeForm,
  codeLead,
  readAction,
  readCode,
  readCredentials,
  throttledText,
  wrongCode,
  wrongPassword,
} from '../../oauth/login/sign-in-form.ts';
import type { Answer, Parts, Sent, Shown, Visit } from '../page-request.ts';
import { ssoPage } from '../paths.ts';
import type { Begun } from '../session.ts';
import { consoleLook, createConsoleCard } from '../ui/frame.ts';

/** Redirect to the sign-in page, which returns to `page`. */
export function toSignIn(page: string): Sent {
  return { to: signInPath(page) };
}

const signInPath = (page: string): string =>
  page === '' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to: page })}`;

export async function showSignIn(visit: Visit, parts: Parts): Promise<Answer> {
  if (visit.visitor.session) return { to: visit.to };
  return signInPage(visit, parts, {});
}

interface Attempt {
  readonly email?: string;
  readonly problem?: string;
  /** Default 400 with a problem, else 200. */
  readonly status?: number;
}

async function signInPage(visit: Visit, parts: Parts, { email = '', problem, status }: Attempt): Promise<Shown> {
  const { ways, paths } = parts;
  const { to, csrf } = visit;
  const hidden = html`<input type="hidden" name="to" value="${to}">`;
  const known = await ways.host?.peek(visit.req);
  // The return URL for the host is our own and names a console page.
  const hostUrl = known ? undefined : ways.host?.signInUrl(paths.url(signInPath(to)));
  const isOpen = ways.passwords || ways.sso !== undefined || known !== undefined || hostUrl !== undefined;
  const lead = to.startsWith('/approvals/')
    ? 'An assistant waits for somebody to approve what it is about to do.'
    : 'The console is where people look after what assistants do.';
  const choices = { action: paths.path('/sign-in'), csrf, email, problem, hidden, ways, hostUrl, known };
  const page = createConsoleCard(
    problem ? 'Error: Sign in' : 'Sign in',
    visit.place,
    html`<h1>Sign in</h1>
<p class="lead">${lead}</p>
${signInChoices(choices)}`,
    ways.sso ? 'away' : 'here',
  );
  return { page, status: status ?? (problem !== undefined ? 400 : isOpen ? 200 : 401) };
}

export async function signIn(visit: Visit, parts: Parts): Promise<Answer> {
  const { ways } = parts;
  const action = readAction(visit.form);
  if (ways.sso && (action === 'sso' || action === 'sso-again')) return beginSso(visit, parts, action === 'sso-again');
  if (ways.host && action === 'host') return signInByHost(visit, parts);
  if (!ways.passwords)
    return signInPage(visit, parts, { problem: 'Passwords do not open this console. Sign in as the page says.' });
  return action === 'code' ? secondStep(visit, parts) : signInByPassword(visit, parts);
}

async function signInByPassword(visit: Visit, parts: Parts): Promise<Answer> {
  const credentials = readCredentials(visit.form);
  const answer = await parts.signIn.password({ ...credentials, ...guesserOf(visit) });
  if (answer.state === 'failed') {
    note(visit, parts, 'sign-in.failed');
    return signInPage(visit, parts, { email: credentials.email, problem: wrongPassword });
  }
  if (answer.state === 'code') {
    note(visit, parts, 'sign-in.half', answer.user.id);
    return codePage(visit, parts, answer.ticket);
  }
  return settle(answer, visit, parts);
}

async function secondStep(visit: Visit, parts: Parts): Promise<Answer> {
  const sent = readCode(visit.form);
  const answer = await parts.signIn.code({ ...sent, ...guesserOf(visit) });
  if (answer.state === 'failed') {
    note(visit, parts, 'totp.failed', answer.userId);
    return codePage(visit, parts, sent.ticket, wrongCode);
  }
  if (answer.state === 'ok') note(visit, parts, `totp.${answer.by}`, answer.user.id);
  return settle(answer, visit, parts);
}

// The visit cookie, which only this browser holds, ties the two steps together.
const guesserOf = ({ address, visitor }: Visit) => ({ address, device: visitor.device, binding: visitor.binding });

function codePage(visit: Visit, { paths }: Parts, ticket: string, problem?: string): Shown {
  const hidden = html`<input type="hidden" name="to" value="${visit.to}">`;
  const page = createConsoleCard(
    problem ? 'Error: One more step' : 'One more step',
    visit.place,
    html`<h1>One more step</h1>
<p class="lead">${codeLead}</p>
${codeForm({ action: paths.path('/sign-in'), csrf: visit.csrf, ticket, problem, hidden })}
<p class="below"><a href="${paths.path('/sign-in')}">Begin again</a></p>`,
  );
  return { page, status: problem === undefined ? 200 : 400 };
}

async function settle(answer: SignInAnswer, visit: Visit, parts: Parts): Promise<Answer> {
  note(visit, parts, `sign-in.${answer.state}`, answer.state === 'ok' ? answer.user.id : undefined);
  if (answer.state === 'throttled') return toWait(answer.retryAfterSeconds, 'sign in again.');
  if (answer.state !== 'ok') return signInPage(visit, parts, { problem: 'That took too long. Sign in again.' });
  const { user, since, device } = answer;
  return enter(visit, parts, { userId: user.id, issuer: null, since, device }, visit.to);
}

export function toWait(seconds: number, next: string): Answer {
  const text = throttledText(seconds, next);
  return {
    status: 429,
    headers: { 'Retry-After': `${seconds}` },
    page: messagePage({ title: 'Please wait', text }, consoleLook),
  };
}

/** Asks the host again: its session may have changed since the page was rendered. */
async function signInByHost(visit: Visit, parts: Parts): Promise<Answer> {
  const host = parts.ways.host!;
  const answer = await host.ask(visit.req);
  if (answer.state === 'nobody') return signInPage(visit, parts, {});
  if (answer.state === 'refused') {
    note(visit, parts, 'sign-in.refused', undefined, answer.why);
    const problem = 'Your account cannot be used here. Ask an administrator to let you in.';
    return signInPage(visit, parts, { problem, status: 403 });
  }
  note(visit, parts, 'sign-in.ok', answer.user.id);
  return enter(visit, parts, { userId: answer.user.id, issuer: host.issuer }, visit.to);
}

async function beginSso(visit: Visit, parts: Parts, again: boolean): Promise<Answer> {
  try {
    const url = await parts.ways.sso!.begin({ ...ssoPlace(visit, parts), about: visit.to, again });
    return { leaveTo: url.href };
  } catch (error) {
    if (!isAppError(error, 'SSO_UNAVAILABLE')) throw error;
    return signInPage(visit, parts, { problem: error.message, status: error.status });
  }
}

export async function finishSso(visit: Visit, parts: Parts): Promise<Answer> {
  const { sso } = parts.ways;
  if (!sso)
    return {
      status: 404,
      page: messagePage(
        { title: 'There is no such page', text: 'Nobody signs in through a provider here.' },
        consoleLook,
      ),
    };
  const returned = await sso.finish({ ...ssoPlace(visit, parts), query: visit.query });
  if (returned.state === 'lost') return { status: 400, page: lostPage(consoleLook) };
  // Check again on the way back: the stored value may not be a console page (CWE-601).
  const to = parts.readReturn(returned.about);
  if (returned.state === 'failed') {
    const { status, message } = returned.error;
    return { status, page: tryAgainPage(message, parts.paths.path(signInPath(to)), consoleLook) };
  }
  return enter(visit, parts, { userId: returned.user.id, issuer: sso.issuer }, to);
}

/** The visit cookie binds the redirect to the provider to this browser. */
const ssoPlace = ({ visitor, address }: Visit, { paths }: Parts) =>
  ({ door: 'console', binding: visitor.binding, redirectUri: paths.url(ssoPage), address }) as const;

type Entering = Omit<Begun, 'browser' | 'address'>;

async function enter(visit: Visit, parts: Parts, user: Entering, to: string): Promise<Answer> {
  const { visitor, browser, address } = visit;
  return { to, cookies: await parts.sessions.begin(visitor, { ...user, browser, address }) };
}

function note(visit: Visit, parts: Parts, event: string, userId?: number, detail?: string): void {
  parts.observe({
    type: 'security',
    event: `console.${event}`,
    address: visit.address,
    ...(userId !== undefined && { userId }),
    ...(detail !== undefined && { detail }),
  });
}

export async function signOut(visit: Visit, parts: Parts): Promise<Answer> {
  const userId = visit.visitor.session?.access.caller.id;
  const cookies = await parts.sessions.end(visit.visitor);
  if (userId !== undefined) {
    parts.observe({ type: 'security', event: 'console.sign-out', address: visit.address, userId });
  }
  return { to: '/sign-in', cookies };
}
