// One-time links: an invitation or a password reset. The link's URL contains the token. Opening it moves the token to a
// cookie and redirects to a page without it, which keeps the token out of referrers and pages. GET requests do not
// consume the token, because mail scanners and chats open URLs too.
import { html } from '../../../http/html.ts';
import { messagePage } from '../../../http/page.ts';
import type { DeadLink, FoundLink } from '../../../store/sessions/types.ts';
import type { Answer, Parts, Visit } from '../../page-request.ts';
import { consoleLook, createConsoleCard } from '../../ui/frame.ts';
import { describeWait } from '../../ui/times.ts';
import { newPasswordFields, passwordProblem, readNewPassword } from './new-password.ts';

type OpenLink = Extract<FoundLink, { state: 'open' }>;

export async function openLink(visit: Visit, parts: Parts): Promise<Answer> {
  return { to: '/welcome', cookies: parts.sessions.keepLink(visit.id) };
}

export async function showLink(visit: Visit, parts: Parts): Promise<Answer> {
  if (!parts.ways.passwords) return noPasswords();
  const link = await parts.store.links.find(visit.visitor.link ?? '');
  return link.state === 'open' ? { page: linkPage(link, visit, parts) } : dead(link, visit, parts);
}

export async function choosePassword(visit: Visit, parts: Parts): Promise<Answer> {
  if (!parts.ways.passwords) return noPasswords();
  const { links, sessions } = parts.store;
  const token = visit.visitor.link ?? '';
  const link = await links.find(token);
  if (link.state !== 'open') return dead(link, visit, parts);
  const again = (problem: string): Answer => ({ status: 400, page: linkPage(link, visit, parts, problem) });
  const chosen = readNewPassword(visit.form);
  if (chosen.problem) return again(chosen.problem);
  const used = await links.use(token, chosen.password).catch(passwordProblem);
  if (typeof used === 'string') return again(used);
  if (used.state !== 'used-now') return dead(used, visit, parts);
  const { id, email } = link.user;
  if (visit.form.get('disconnect')) await sessions.endAll(id, { grants: true, by: id });
  tell(visit, parts, 'link.used', id);
  tell(visit, parts, 'password.changed', id);
  return {
    to: '/password-set',
    cookies: [...parts.sessions.keepLink(''), parts.sessions.keepDevice(await parts.signIn.introduce(email))],
  };
}

export async function showDone(visit: Visit, { paths }: Parts): Promise<Answer> {
  const content = html`<h1>Your password is set</h1>
<p class="lead">You are signed out everywhere else. Sign in with your new password to go on.</p>
<p><a class="button primary" href="${paths.path('/sign-in')}">Sign in</a></p>`;
  return { page: createConsoleCard('Your password is set', visit.place, content) };
}

function linkPage({ user, purpose, expiresAt }: OpenLink, visit: Visit, { paths, clock }: Parts, problem?: string) {
  const name = `${user.firstName} ${user.lastName}`.trim();
  const [title, lead] =
    purpose === 'invite'
      ? [
          'Welcome',
          html`You were invited to <b>${visit.place.organization}</b>. Choose the password with which you will sign in.`,
        ]
      : ['Choose a new password', html`The old one stops working, and you are signed out everywhere.`];
  return createConsoleCard(
    problem ? `Error: ${title}` : title,
    visit.place,
    html`<h1>${title}${purpose === 'invite' && name && html`, ${name}`}</h1>
<p class="lead">${lead}</p>
<dl class="facts"><div><dt>You are</dt><dd>${user.email}<small>${user.team} · ${user.role}</small></dd></div></dl>
<form method="post" action="${paths.path('/welcome')}" class="spaced">
<input type="hidden" name="csrf" value="${visit.csrf}">
${newPasswordFields(user.email, problem, true)}
${purpose === 'reset' && html`<div class="choice"><input type="checkbox" id="disconnect" name="disconnect" value="yes"><label for="disconnect">Also disconnect my assistants</label><small>Do this when somebody else may have known the password.</small></div>`}
<button class="primary" name="action" value="choose">Set the password</button>
</form>
<p class="hint">This link works once, for another ${describeWait(expiresAt - clock.now())}.</p>`,
  );
}

const deadTexts: Readonly<Record<DeadLink, string>> = {
  used: 'It was used already. If that was you, sign in; if it was not, tell your administrator now.',
  expired: 'Its time is over. Ask your administrator for another.',
  unknown: 'It is not whole, or another one took its place. Open the newest link that you were given.',
};

function dead({ state, userId }: { state: DeadLink; userId?: number }, visit: Visit, parts: Parts): Answer {
  tell(visit, parts, state === 'used' ? 'link.replayed' : `link.${state}`, userId);
  const text = deadTexts[state];
  return { status: 410, page: messagePage({ title: 'This link does not work any more', text }, consoleLook) };
}

/** Passwords have no use when users sign in by other methods only. */
function noPasswords(): Answer {
  const text = 'Here people sign in with the accounts that they have already. Open the console and sign in as it says.';
  return { status: 404, page: messagePage({ title: 'There is no password to choose', text }, consoleLook) };
}

function tell({ address }: Visit, { observe }: Parts, event: string, userId?: number): void {
  observe({ type: 'security', event, address, ...(userId !== undefined && { userId }) });
}
