// Signing in and out. The count of wrong passwords is the one of the authorization server.
import { html } from '../oauth/html.ts';
import { messagePage } from '../oauth/page.ts';
import { readCredentials, signInForm, throttledText, wrongPassword } from '../oauth/sign-in.ts';
import { consoleLook, createConsoleCard } from './frame.ts';
import type { Answer, Parts, Sent, Visit } from './visit.ts';

/** The sign-in page, which leads back to the page that was asked for. */
export function toSignIn(page: string): Sent {
  return { to: page === '' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to: page })}` };
}

export async function showSignIn(visit: Visit, parts: Parts): Promise<Answer> {
  if (visit.visitor.session) return { to: visit.to };
  return { page: signInPage(visit, parts, '') };
}

function signInPage({ to, ...visit }: Visit, { paths }: Parts, email: string, problem?: string) {
  const hidden = html`<input type="hidden" name="to" value="${to}">`;
  const lead = to.startsWith('/approvals/')
    ? 'An assistant waits for somebody to approve what it is about to do.'
    : 'The console is where people look after what assistants do.';
  return createConsoleCard(
    problem ? 'Error: Sign in' : 'Sign in',
    visit.place,
    html`<h1>Sign in</h1>
<p class="lead">${lead}</p>
${signInForm({ action: paths.path('/sign-in'), csrf: visit.csrf, email, problem, hidden })}`,
  );
}

export async function signIn(visit: Visit, parts: Parts): Promise<Answer> {
  const credentials = readCredentials(visit.form, visit.address);
  const answer = await parts.checkPassword(credentials);
  parts.observe({
    type: 'security',
    event: `console.sign-in.${answer.state}`,
    address: visit.address,
    ...(answer.state === 'ok' && { userId: answer.user.id }),
  });
  switch (answer.state) {
    case 'throttled': {
      const text = throttledText(answer.retryAfterSeconds, 'sign in again.');
      const headers = { 'Retry-After': `${answer.retryAfterSeconds}` };
      return { status: 429, headers, page: messagePage({ title: 'Please wait', text }, consoleLook) };
    }
    case 'failed':
      return { status: 400, page: signInPage(visit, parts, credentials.email, wrongPassword) };
    case 'ok':
      return { to: visit.to, cookies: await parts.sessions.begin(visit.visitor, answer.user.id, visit.browser) };
  }
}

export async function signOut(visit: Visit, parts: Parts): Promise<Answer> {
  const userId = visit.visitor.session?.access.caller.id;
  const cookies = await parts.sessions.end(visit.visitor);
  if (userId !== undefined) {
    parts.observe({ type: 'security', event: 'console.sign-out', address: visit.address, userId });
  }
  return { to: '/sign-in', cookies };
}
