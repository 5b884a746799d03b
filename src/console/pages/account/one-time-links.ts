// One-time links: an invitation or a password reset. The link's URL contains the token. Opening it moves the token to a
// cookie and redirects to a page without it, which keeps the token out of referrers and pages. GET requests do not
// consume the token, because mail scanners and chats open URLs too.
import { html } from '../../../http/html.ts';
import { messagePage } from '../../../http/page.ts';
import type { DeadLink, FoundLink } from '../../../store/sessions/types.ts';
import type { Answer, PageRequest, Parts } from '../../page-request.ts';
import { consoleLook, createConsoleCard } from '../../ui/frame.ts';
import { describeLeft } from '../../ui/times.ts';
import { newPasswordFields, passwordProblem, readNewPassword } from './new-password.ts';

type OpenLink = Extract<FoundLink, { state: 'open' }>;

export async function openLink(request: PageRequest, parts: Parts): Promise<Answer> {
  return { to: '/welcome', cookies: parts.sessions.linkCookies(request.id) };
}

export async function showLink(request: PageRequest, parts: Parts): Promise<Answer> {
  if (!parts.loginMethods.passwords) return noPasswords();
  const link = await parts.store.links.find(request.visitor.link ?? '');
  return link.state === 'open' ? { page: linkPage(link, request, parts) } : deadLinkPage(link, request, parts);
}

export async function choosePassword(request: PageRequest, parts: Parts): Promise<Answer> {
  if (!parts.loginMethods.passwords) return noPasswords();
  const { links, sessions } = parts.store;
  const token = request.visitor.link ?? '';
  const link = await links.find(token);
  if (link.state !== 'open') return deadLinkPage(link, request, parts);
  const showProblem = (problem: string): Answer => ({ status: 400, page: linkPage(link, request, parts, problem) });
  const chosen = readNewPassword(request.form);
  if (chosen.problem) return showProblem(chosen.problem);
  const used = await links.use(token, chosen.password).catch(passwordProblem);
  if (typeof used === 'string') return showProblem(used);
  if (used.state !== 'used-now') return deadLinkPage(used, request, parts);
  const { id, email } = link.user;
  if (request.form.get('disconnect')) await sessions.endAll(id, { grants: true, by: id });
  reportSecurity(request, parts, 'link.used', id);
  reportSecurity(request, parts, 'password.changed', id);
  return {
    to: '/password-set',
    cookies: [
      ...parts.sessions.linkCookies(''),
      parts.sessions.trustedBrowserCookie(await parts.signIn.trustBrowser(email)),
    ],
  };
}

export async function showDone(request: PageRequest, { paths }: Parts): Promise<Answer> {
  const content = html`<h1>Password set</h1>
<p class="lead">Your other sessions have ended. Sign in to continue.</p>
<p><a class="button primary" href="${paths.path('/sign-in')}">Sign in</a></p>`;
  return { page: createConsoleCard('Password set', request.place, content) };
}

function linkPage(
  { user, purpose, expiresAt }: OpenLink,
  request: PageRequest,
  { paths, clock }: Parts,
  problem?: string,
) {
  const name = `${user.firstName} ${user.lastName}`.trim();
  const [title, lead] =
    purpose === 'invite'
      ? ['Welcome', html`You are invited to <b>${request.place.organization}</b>. Choose a password to sign in with.`]
      : ['Choose a new password', html`The old one stops working, and all your sessions end.`];
  return createConsoleCard(
    problem ? `Error: ${title}` : title,
    request.place,
    html`<h1>${title}${purpose === 'invite' && name && html`, ${name}`}</h1>
<p class="lead">${lead}</p>
<dl class="facts"><div><dt>You are</dt><dd>${user.email}<small>${user.team} · ${user.role}</small></dd></div></dl>
<form method="post" action="${paths.path('/welcome')}" class="spaced">
<input type="hidden" name="csrf" value="${request.csrf}">
${newPasswordFields(user.email, problem, true)}
${purpose === 'reset' && html`<div class="choice"><input type="checkbox" id="disconnect" name="disconnect" value="yes"><label for="disconnect">Also disconnect my assistants</label><small>Choose this if another person may know the password.</small></div>`}
<button class="primary" name="action" value="choose">Set password</button>
</form>
<p class="hint">This link works once and expires in ${describeLeft(expiresAt - clock.now())}.</p>`,
  );
}

const deadTexts: Readonly<Record<DeadLink, string>> = {
  used: 'It was already used. If you used it, sign in. Otherwise contact your administrator now.',
  expired: 'It has expired. Ask your administrator for a new one.',
  unknown: 'The link is incomplete or was replaced. Open the newest link that you received.',
};

function deadLinkPage(
  { state, userId }: { state: DeadLink; userId?: number },
  request: PageRequest,
  parts: Parts,
): Answer {
  reportSecurity(request, parts, state === 'used' ? 'link.replayed' : `link.${state}`, userId);
  const text = deadTexts[state];
  return { status: 410, page: messagePage({ title: 'This link no longer works', text }, consoleLook) };
}

/** Passwords have no use when users sign in by other methods only. */
function noPasswords(): Answer {
  const text = 'People sign in here with an existing account. Open the console to sign in.';
  return { status: 404, page: messagePage({ title: 'No password to set', text }, consoleLook) };
}

function reportSecurity({ address }: PageRequest, { observe }: Parts, event: string, userId?: number): void {
  observe({ type: 'security', event, address, ...(userId !== undefined && { userId }) });
}
