// Where somebody answers the sign-in of a front end of the agent's HTTP API (rest/sign-in.ts). The page says who would be
// signed in where; only its form gives the answer, which goes to the front end that the sign-in was begun for.
import { html } from '../oauth/html.ts';
import { createCard, messagePage, type Page } from '../oauth/page.ts';
import type { AgentSignIn } from '../store/session-types.ts';
import { consoleLook, lookLeadingTo } from './frame.ts';
import { frontEndPage } from './paths.ts';
import type { Answer, MemberVisit, Parts } from './visit.ts';

const over: Answer = {
  status: 404,
  page: messagePage(
    {
      title: 'This sign-in has expired',
      text: 'It was not finished in time, or was finished already. Go back to where you came from and sign in again.',
    },
    consoleLook,
  ),
};

export async function showFrontEnd(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const asked = await parts.store.agentSessions.findSignIn(visit.id);
  return asked ? { page: answerPage(asked, visit, parts) } : over;
}

function answerPage({ origin }: AgentSignIn, visit: MemberVisit, { paths }: Parts): Page {
  const { caller } = visit.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const { host } = new URL(origin);
  return createCard(
    lookLeadingTo(origin),
    'Sign in to a front end',
    visit.place,
    html`<h1>Continue to ${host}?</h1>
<p class="lead">It will work with your data in your name, with your rights, until its session ends or you sign out there.</p>
<dl class="facts">
<div><dt>Signs in to</dt><dd>${origin}</dd></div>
<div><dt>You are</dt><dd>${name || caller.email}${name && html`<small>${caller.email}</small>`}<small>${caller.team} · ${caller.role}</small></dd></div>
</dl>
<form method="post" action="${paths.path(frontEndPage(visit.id))}">
<input type="hidden" name="csrf" value="${visit.csrf}">
<div class="pair"><button class="plain" name="action" value="deny">Cancel</button><button class="primary" name="action" value="allow">Continue</button></div>
</form>`,
  );
}

export async function answerFrontEnd(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { agentSessions } = parts.store;
  const asked = await agentSessions.findSignIn(visit.id);
  if (!asked) return over;
  const userId = visit.access.caller.id;
  const note = (event: string) =>
    parts.observe({ type: 'security', event, userId, address: visit.address, detail: asked.origin });
  const leave = (answer: Readonly<Record<string, string>>): Answer => ({
    leaveTo: `${asked.origin}/authentication/callback?${new URLSearchParams({ ...answer, state: visit.id })}`,
  });
  if (visit.form.get('action') === 'allow') {
    const code = await agentSessions.allowSignIn(visit.id, userId);
    if (code === undefined) return over;
    note('agent.sign-in.allowed');
    return leave({ code });
  }
  if (!(await agentSessions.dropSignIn(visit.id))) return over;
  note('agent.sign-in.denied');
  // RFC 6749 section 4.1.2.1.
  return leave({ error: 'access_denied' });
}
