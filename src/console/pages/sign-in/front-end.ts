// Consent page for the sign-in of a front end of the agent's HTTP API (rest/sign-in.ts). It shows the user and the
// front end. Only submitting its form answers, and the answer goes to the front end that began the sign-in.
import { html } from '../../../http/html.ts';
import { createCard, messagePage, type Page } from '../../../http/page.ts';
import type { AgentSignIn } from '../../../store/sessions/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { frontEndPage } from '../../paths.ts';
import { consoleLook, lookWithRedirectTo } from '../../ui/frame.ts';

const over: Answer = {
  status: 404,
  page: messagePage(
    {
      title: 'This sign-in has expired',
      text: 'It was not completed in time, or was already completed. Go back to where you started and sign in again.',
    },
    consoleLook,
  ),
};

export async function showFrontEnd(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const signIn = await parts.store.agentSessions.findSignIn(request.id);
  return signIn ? { page: answerPage(signIn, request, parts) } : over;
}

function answerPage({ origin }: AgentSignIn, request: SignedInRequest, { paths }: Parts, problem?: string): Page {
  const { caller } = request.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const { host } = new URL(origin);
  return createCard(
    lookWithRedirectTo(origin),
    problem ? 'Error: Sign in to a front end' : 'Sign in to a front end',
    request.place,
    html`<h1>Continue to ${host}?</h1>
<p class="lead">It can use your data with your permissions until its session ends or you sign out there.</p>
<dl class="facts">
<div><dt>Signs in to</dt><dd>${origin}</dd></div>
<div><dt>You are</dt><dd>${name || caller.email}${name && html`<small>${caller.email}</small>`}<small>${caller.team} · ${caller.role}</small></dd></div>
</dl>
${problem && html`<p class="alert above" role="alert">${problem}</p>`}
<form method="post" action="${paths.path(frontEndPage(request.id))}">
<input type="hidden" name="csrf" value="${request.csrf}">
<div class="pair"><button class="plain" name="action" value="deny">Cancel</button><button class="primary" name="action" value="allow">Continue</button></div>
</form>`,
  );
}

export async function answerFrontEnd(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { agentSessions } = parts.store;
  const signIn = await agentSessions.findSignIn(request.id);
  if (!signIn) return over;
  const userId = request.access.caller.id;
  const note = (event: string) =>
    parts.observe({ type: 'security', event, userId, address: request.address, detail: signIn.origin });
  const leave = (answer: Readonly<Record<string, string>>): Answer => ({
    leaveTo: `${signIn.origin}/authentication/callback?${new URLSearchParams({ ...answer, state: request.id })}`,
  });
  const action = request.form.get('action');
  if (action !== 'allow' && action !== 'deny')
    return { status: 400, page: answerPage(signIn, request, parts, 'Press Continue or Cancel.') };
  if (action === 'allow') {
    const code = await agentSessions.allowSignIn(request.id, userId);
    if (code === undefined) return over;
    note('agent.sign-in.allowed');
    return leave({ code });
  }
  if (!(await agentSessions.dropSignIn(request.id))) return over;
  note('agent.sign-in.denied');
  // RFC 6749 section 4.1.2.1.
  return leave({ error: 'access_denied' });
}
