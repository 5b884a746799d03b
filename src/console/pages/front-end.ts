// Consent page for the sign-in of a front end of the agent's HTTP API (rest/sign-in.ts). It shows the user and the
// front end. Only submitting its form answers, and the answer goes to the front end that began the sign-in.
import { html } from '../../http/html.ts';
import { createCard, messagePage, type Page } from '../../http/page.ts';
import type { AgentSignIn } from '../../store/sessions/types.ts';
import type { Answer, MemberVisit, Parts } from '../page-request.ts';
import { frontEndPage } from '../paths.ts';
import { consoleLook, lookLeadingTo } from '../ui/frame.ts';

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

function answerPage({ origin }: AgentSignIn, visit: MemberVisit, { paths }: Parts, problem?: string): Page {
  const { caller } = visit.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const { host } = new URL(origin);
  return createCard(
    lookLeadingTo(origin),
    problem ? 'Error: Sign in to a front end' : 'Sign in to a front end',
    visit.place,
    html`<h1>Continue to ${host}?</h1>
<p class="lead">It will work with your data in your name, with your rights, until its session ends or you sign out there.</p>
<dl class="facts">
<div><dt>Signs in to</dt><dd>${origin}</dd></div>
<div><dt>You are</dt><dd>${name || caller.email}${name && html`<small>${caller.email}</small>`}<small>${caller.team} · ${caller.role}</small></dd></div>
</dl>
${problem && html`<p class="alert above" role="alert">${problem}</p>`}
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
  const action = visit.form.get('action');
  if (action !== 'allow' && action !== 'deny')
    return { status: 400, page: answerPage(asked, visit, parts, 'Nothing is decided yet: press Continue or Cancel.') };
  if (action === 'allow') {
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
