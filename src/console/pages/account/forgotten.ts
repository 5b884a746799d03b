// A link for a forgotten password, by mail. The answer is the same for every address, and is sent before the account is
// looked up: neither its text nor its time shows who has one (OWASP Forgot Password Cheat Sheet).
import { fail, isAppError } from '../../../core/errors.ts';
import { createAddressLimiter } from '../../../core/limit/addresses.ts';
import { createSharedLimiter, sharedLimiters } from '../../../core/limit.ts';
import { html } from '../../../http/html.ts';
import { messagePage } from '../../../http/page.ts';
import { writeLinkMail } from '../../../notifications/link-mail.ts';
import type { Answer, PageRequest, Parts } from '../../page-request.ts';
import { forgotPage } from '../../paths.ts';
import { consoleLook, createConsoleCard } from '../../ui/frame.ts';
import { describeLeft } from '../../ui/times.ts';

const requests = { points: 10, seconds: 900 };
/** Nobody can fill the mailbox of a user. */
const mailsToUser = { points: 3, seconds: 3600 };

export async function showForgotten(request: PageRequest, parts: Parts): Promise<Answer> {
  if (!canReset(parts)) fail('NOT_FOUND', { path: forgotPage });
  const content = html`<h1>Forgot your password?</h1>
<p class="lead">Enter your e-mail address. You get a link to choose a new password. The current one works until then.</p>
<form method="post" action="${parts.paths.path(forgotPage)}">
<input type="hidden" name="csrf" value="${request.csrf}">
<div class="field"><label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus></div>
<button class="primary" name="action" value="forgot">Send the link</button>
</form>
<p class="below"><a href="${parts.paths.path('/sign-in')}">Back to the sign-in</a></p>`;
  return { page: createConsoleCard('Forgot your password?', request.place, content) };
}

export async function sendForgotten(request: PageRequest, parts: Parts): Promise<Answer> {
  if (!canReset(parts)) fail('NOT_FOUND', { path: forgotPage });
  try {
    const shared = sharedLimiters({ windows: parts.store.windows, clock: parts.clock });
    await createAddressLimiter(shared, 'forgotten password', requests).consume(request.address);
  } catch (error) {
    if (!isAppError(error, 'RATE_LIMITED')) throw error;
    return waitAnswer(error.details.retryAfterSeconds);
  }
  const email = (request.form.get('email') ?? '').trim().slice(0, 254);
  const afterwards = () =>
    void mailLink(email, request, parts).catch((cause: unknown) =>
      parts.observe({ type: 'warning', message: 'Failed to send a link for a forgotten password.', cause }),
    );
  const content = html`<h1>Check your mail</h1>
<p class="lead">If there is an account with this address, a link to choose a new password is on its way. It can take a few minutes.</p>
<p><a class="button primary" href="${parts.paths.path('/sign-in')}">Back to the sign-in</a></p>
<p class="hint">No mail? Check your spam folder. Accounts without a password here get no mail: ask your administrator.</p>`;
  return { page: createConsoleCard('Check your mail', request.place, content), afterwards };
}

function waitAnswer(seconds: number): Answer {
  const minutes = Math.ceil(seconds / 60);
  const text = `This address asked for too many links. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, then ask again.`;
  const page = messagePage({ title: 'Please wait', text }, consoleLook);
  return { status: 429, headers: { 'Retry-After': `${seconds}` }, page };
}

const canReset = ({ mailer, loginMethods }: Parts): boolean => mailer !== null && loginMethods.passwords;

async function mailLink(email: string, { address, place }: PageRequest, parts: Parts): Promise<void> {
  const { store, mailer, clock, observe, paths } = parts;
  const user = await store.identity.findUserByEmail(email);
  // Users of single sign-on have no password to forget.
  if (!user?.hasPassword || user.disabled) return observe({ type: 'security', event: 'link.refused', address });
  try {
    await createSharedLimiter('forgotten password of', mailsToUser, { windows: store.windows, clock }).consume(
      `${user.id}`,
    );
  } catch (error) {
    if (!isAppError(error, 'RATE_LIMITED')) throw error;
    return observe({ type: 'security', event: 'link.throttled', userId: user.id, address });
  }
  const { token, expiresAt } = await store.links.make(user.id, 'reset');
  observe({ type: 'security', event: 'link.requested', userId: user.id, address });
  const link = paths.url(`/welcome/${token}`);
  const life = describeLeft(expiresAt - clock.now());
  await mailer!.send(writeLinkMail({ user, purpose: 'reset', organization: place.organization, link, life }));
}
