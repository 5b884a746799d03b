// Signing in and out. Failed passwords and codes share one counter with the authorization server.
import { isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import { messagePage } from '../../../http/page.ts';
import { readSsoAction } from '../../../oauth/login/login-methods.ts';
import { readSetUp, recoveryCodes, setUpForm, setUpLead, wrongAppCodeText } from '../../../oauth/login/set-up-form.ts';
import type { SignInAnswer } from '../../../oauth/login/sign-in.ts';
import { invalidSignInPage, signInChoices, tryAgainPage } from '../../../oauth/login/sign-in-choices.ts';
import {
  codeForm,
  codeLead,
  readAction,
  readCode,
  readCredentials,
  throttledText,
  wrongCodeText,
  wrongPasswordText,
} from '../../../oauth/login/sign-in-form.ts';
import type { Sso } from '../../../oauth/sso/sign-in.ts';
import type { Answer, PageAnswer, PageRequest, Parts, RedirectAnswer } from '../../page-request.ts';
import { ssoPage } from '../../paths.ts';
import type { NewSession } from '../../session.ts';
import { consoleLook, createConsoleCard } from '../../ui/frame.ts';

/** Redirect to the sign-in page, which returns to `page`. */
export function toSignIn(page: string): RedirectAnswer {
  return { to: signInPath(page) };
}

const signInPath = (page: string): string =>
  page === '' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to: page })}`;

export async function showSignIn(request: PageRequest, parts: Parts): Promise<Answer> {
  if (request.visitor.session) return { to: request.to };
  return signInPage(request, parts, {});
}

interface Attempt {
  readonly email?: string;
  readonly problem?: string;
  /** Default 400 with a problem, else 200. */
  readonly status?: number;
}

async function signInPage(
  request: PageRequest,
  parts: Parts,
  { email = '', problem, status }: Attempt,
): Promise<PageAnswer> {
  const { loginMethods, paths } = parts;
  const { to, csrf } = request;
  const hidden = html`<input type="hidden" name="to" value="${to}">`;
  const hostUser = await loginMethods.host?.peek(request.req);
  // The return URL for the host is our own and names a console page.
  const hostUrl = hostUser ? undefined : loginMethods.host?.signInUrl(paths.url(signInPath(to)));
  const isOpen =
    loginMethods.passwords || loginMethods.providers.length > 0 || hostUser !== undefined || hostUrl !== undefined;
  const lead = to.startsWith('/approvals/')
    ? 'Sign in to review what your assistant asks to do.'
    : 'Sign in to manage assistants, approvals and permissions.';
  const choices = {
    action: paths.path('/sign-in'),
    csrf,
    email,
    problem,
    hidden,
    loginMethods,
    hostUrl,
    hostUser,
  };
  const page = createConsoleCard(
    problem ? 'Error: Sign in' : 'Sign in',
    request.place,
    html`<h1>Sign in</h1>
<p class="lead">${lead}</p>
${signInChoices(choices)}`,
    loginMethods.providers.length > 0 ? 'away' : 'here',
  );
  return { page, status: status ?? (problem !== undefined ? 400 : isOpen ? 200 : 401) };
}

export async function signIn(request: PageRequest, parts: Parts): Promise<Answer> {
  const { loginMethods } = parts;
  const action = readAction(request.form);
  const throughSso = readSsoAction(action, loginMethods);
  if (throughSso) return beginSso(request, parts, throughSso);
  if (loginMethods.host && action === 'host') return signInByHost(request, parts);
  if (!loginMethods.passwords)
    return signInPage(request, parts, { problem: 'Password sign-in is off here. Use a sign-in that the page offers.' });
  if (action === 'code') return secondStep(request, parts);
  return action === 'set-up' ? setUp(request, parts) : signInByPassword(request, parts);
}

async function signInByPassword(request: PageRequest, parts: Parts): Promise<Answer> {
  const credentials = readCredentials(request.form);
  const answer = await parts.signIn.password({ ...credentials, ...guesserOf(request) });
  if (answer.state === 'failed') {
    reportSecurity(request, parts, 'sign-in.failed');
    return signInPage(request, parts, { email: credentials.email, problem: wrongPasswordText });
  }
  if (answer.state === 'code' || answer.state === 'set-up') {
    reportSecurity(request, parts, 'sign-in.half', answer.user.id);
    return answer.state === 'code'
      ? codePage(request, parts, answer.ticket)
      : setUpPage(request, parts, { ticket: answer.ticket, email: answer.user.email });
  }
  return finishSignIn(answer, request, parts);
}

async function secondStep(request: PageRequest, parts: Parts): Promise<Answer> {
  const code = readCode(request.form);
  const answer = await parts.signIn.code({ ...code, ...guesserOf(request) });
  if (answer.state === 'failed') {
    reportSecurity(request, parts, 'totp.failed', answer.user?.id);
    return codePage(request, parts, code.ticket, wrongCodeText);
  }
  if (answer.state === 'ok') reportSecurity(request, parts, `totp.${answer.by}`, answer.user.id);
  return finishSignIn(answer, request, parts);
}

async function setUp(request: PageRequest, parts: Parts): Promise<Answer> {
  const submitted = readSetUp(request.form);
  const answer = await parts.signIn.setUp({ ...submitted, binding: request.visitor.binding });
  if (answer.state === 'failed')
    return setUpPage(request, parts, { ...submitted, email: answer.user?.email, problem: wrongAppCodeText });
  if (answer.state === 'ok') reportSecurity(request, parts, 'totp.on', answer.user.id);
  return finishSignIn(answer, request, parts);
}

// The visit cookie, which only this browser holds, ties the two steps together.
const guesserOf = ({ address, visitor }: PageRequest) => ({
  address,
  device: visitor.device,
  binding: visitor.binding,
});

function codePage(request: PageRequest, { paths }: Parts, ticket: string, problem?: string): PageAnswer {
  const hidden = html`<input type="hidden" name="to" value="${request.to}">`;
  const page = createConsoleCard(
    problem ? 'Error: One more step' : 'One more step',
    request.place,
    html`<h1>One more step</h1>
<p class="lead">${codeLead}</p>
${codeForm({ action: paths.path('/sign-in'), csrf: request.csrf, ticket, problem, hidden })}
<p class="below"><a href="${paths.path('/sign-in')}">Start again</a></p>`,
  );
  return { page, status: problem === undefined ? 200 : 400 };
}

interface SetUpAttempt {
  readonly ticket: string;
  readonly email?: string | undefined;
  /** Secret that the page showed before. */
  readonly secret?: string;
  readonly problem?: string;
}

async function setUpPage(
  request: PageRequest,
  { paths, store }: Parts,
  { ticket, email = '', secret, problem }: SetUpAttempt,
): Promise<PageAnswer> {
  const hidden = html`<input type="hidden" name="to" value="${request.to}">`;
  const app = await store.secondFactors.propose(email, request.place.organization, secret);
  const page = createConsoleCard(
    problem ? 'Error: Set up an authenticator app' : 'Set up an authenticator app',
    request.place,
    html`<h1>Set up an authenticator app</h1>
<p class="lead">${setUpLead}</p>
${setUpForm({ action: paths.path('/sign-in'), csrf: request.csrf, ticket, problem, hidden, app })}
<p class="below"><a href="${paths.path('/sign-in')}">Start again</a></p>`,
  );
  return { page, status: problem === undefined ? 200 : 400 };
}

async function finishSignIn(answer: SignInAnswer, request: PageRequest, parts: Parts): Promise<Answer> {
  reportSecurity(request, parts, `sign-in.${answer.state}`, answer.state === 'ok' ? answer.user.id : undefined);
  if (answer.state === 'throttled') return throttledAnswer(answer.retryAfterSeconds, 'sign in again.');
  if (answer.state !== 'ok') return signInPage(request, parts, { problem: 'That took too long. Sign in again.' });
  const { user, since, device, recoveryCodes: codes } = answer;
  const begun = await startSession(request, parts, { userId: user.id, issuer: null, since, device }, request.to);
  if (!codes) return begun;
  const content = recoveryCodes(codes, parts.paths.path(request.to), 'Continue');
  const page = createConsoleCard('Your recovery codes', request.place, content);
  return { page, cookies: begun.cookies ?? [] };
}

export function throttledAnswer(seconds: number, next: string): Answer {
  const text = throttledText(seconds, next);
  return {
    status: 429,
    headers: { 'Retry-After': `${seconds}` },
    page: messagePage({ title: 'Please wait', text }, consoleLook),
  };
}

/** Asks the host again: its session may have changed since the page was rendered. */
async function signInByHost(request: PageRequest, parts: Parts): Promise<Answer> {
  const host = parts.loginMethods.host!;
  const answer = await host.identify(request.req);
  if (answer.state === 'nobody') return signInPage(request, parts, {});
  if (answer.state === 'refused') {
    reportSecurity(request, parts, 'sign-in.refused', undefined, answer.reason);
    const problem = 'Your account has no access here. Ask an administrator for access.';
    return signInPage(request, parts, { problem, status: 403 });
  }
  reportSecurity(request, parts, 'sign-in.ok', answer.user.id);
  return startSession(request, parts, { userId: answer.user.id, issuer: host.issuer }, request.to);
}

async function beginSso(
  request: PageRequest,
  parts: Parts,
  { sso, forceLogin }: NonNullable<ReturnType<typeof readSsoAction>>,
): Promise<Answer> {
  try {
    const url = await sso.begin({ ...ssoContext(request, parts, sso), about: request.to, forceLogin });
    return { leaveTo: url.href };
  } catch (error) {
    if (!isAppError(error, 'SSO_UNAVAILABLE')) throw error;
    return signInPage(request, parts, { problem: error.message, status: error.status });
  }
}

export async function finishSso(request: PageRequest, parts: Parts): Promise<Answer> {
  const sso = parts.loginMethods.providers.find(({ id }) => id === (request.params.provider ?? ''));
  if (!sso)
    return {
      status: 404,
      page: messagePage({ title: 'Page not found', text: 'This server has no sign-in provider.' }, consoleLook),
    };
  const returned = await sso.finish({ ...ssoContext(request, parts, sso), query: request.query });
  if (returned.state === 'lost') return { status: 400, page: invalidSignInPage(consoleLook) };
  // Check again on the way back: the stored value may not be a console page (CWE-601).
  const to = parts.readReturn(returned.about);
  if (returned.state === 'failed') {
    const { status, message } = returned.error;
    return { status, page: tryAgainPage(message, parts.paths.path(signInPath(to)), consoleLook) };
  }
  return startSession(request, parts, { userId: returned.user.id, issuer: sso.issuer }, to);
}

/** The visit cookie binds the redirect to the provider to this browser. */
const ssoContext = ({ visitor, address }: PageRequest, { paths }: Parts, { id }: Sso) =>
  ({ door: 'console', binding: visitor.binding, redirectUri: paths.url(ssoPage(id)), address }) as const;

type SessionStart = Omit<NewSession, 'browser' | 'address'>;

async function startSession(
  request: PageRequest,
  parts: Parts,
  user: SessionStart,
  to: string,
): Promise<RedirectAnswer> {
  const { visitor, browser, address } = request;
  return { to, cookies: await parts.sessions.begin(visitor, { ...user, browser, address }) };
}

function reportSecurity(request: PageRequest, parts: Parts, event: string, userId?: number, detail?: string): void {
  parts.observe({
    type: 'security',
    event: `console.${event}`,
    address: request.address,
    ...(userId !== undefined && { userId }),
    ...(detail !== undefined && { detail }),
  });
}

export async function signOut(request: PageRequest, parts: Parts): Promise<Answer> {
  const userId = request.visitor.session?.access.caller.id;
  const cookies = await parts.sessions.end(request.visitor);
  if (userId !== undefined) {
    parts.observe({ type: 'security', event: 'console.sign-out', address: request.address, userId });
  }
  return { to: '/sign-in', cookies };
}
