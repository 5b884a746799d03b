// Connects the user's own account at a remote server. The page has a link to the server's authorization server, which
// redirects back to the callback page. The callback counts once, and only in the session that began it
// (store/remotes/remotes.ts).
import { isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { RemoteServer } from '../../../store/remotes/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { isAdmin, listPage, reportSecurity } from './list.ts';
import { changeServer } from './server.ts';

const under = '/remotes';
const to = (done: string): Answer => ({ to: `${under}?done=${done}` });

export async function changeRemote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { store } = parts;
  const { id: userId } = request.access.caller;
  const server = await store.remotes.find(request.id);
  if (!server) return to('gone');
  const action = request.form.get('action');
  if (action === 'connect' && server.signIn === 'oauth') return redirectToServer(server, request, parts);
  if (action === 'disconnect') {
    if (!(await store.remotes.disconnect({ serverId: server.id, userId }, userId))) return to('gone');
    reportSecurity(request, parts, 'remote.disconnected', server);
    return to('disconnected');
  }
  if (!isAdmin(request)) return { to: under };
  if (action === 'remove') {
    if (!(await store.remotes.remove(server.id, userId))) return to('gone');
    reportSecurity(request, parts, 'remote.removed', server);
    return to('removed');
  }
  return (await changeServer(server, request, parts)) ?? { to: under };
}

async function redirectToServer(server: RemoteServer, request: SignedInRequest, parts: Parts): Promise<Answer> {
  let address: URL;
  try {
    address = await parts.remotes.begin(server, byOf(request));
  } catch (thrown) {
    return failurePage(thrown, request, parts);
  }
  const content = html`<h1>Connect ${server.name}</h1>
<p class="lead">Sign in at <b>${address.host}</b> and choose what Portico can do there in your name. Only your own runs use this account.</p>
<p class="spaced"><a class="button primary slim" href="${address.href}" rel="noreferrer">Continue to ${address.host}</a></p>
<p class="quietly"><a href="${parts.paths.path(under)}">Cancel</a></p>`;
  return { page: createFramedPage(request, parts, { title: `Connect ${server.name}`, under, content }) };
}

/** This GET changes data, like every callback of an authorization server. Its code counts only once. */
export async function finishRemote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { query } = request;
  const code = query.has('error') ? null : query.get('code');
  try {
    const answer = { serverId: request.id, state: query.get('state') ?? '', code, iss: query.get('iss') };
    const server = await parts.remotes.finish(answer, byOf(request));
    if (!server) return to('unknown');
    reportSecurity(request, parts, 'remote.connected', server);
    return to('connected');
  } catch (thrown) {
    return failurePage(thrown, request, parts);
  }
}

function byOf({ access, visitor }: SignedInRequest) {
  return { userId: access.caller.id, sessionId: visitor.session?.id ?? '' };
}

/** Shows our own error text. The cause goes to the operator's log. */
async function failurePage(thrown: unknown, request: SignedInRequest, parts: Parts): Promise<Answer> {
  if (!isAppError(thrown, 'REMOTE_UNAVAILABLE') && !isAppError(thrown, 'REMOTE_REFUSED')) throw thrown;
  const { server, problem } = thrown.details;
  const isOpen = thrown.code === 'REMOTE_UNAVAILABLE';
  // Do not show the remote server's error text, which is untrusted.
  const cause = isOpen ? (thrown.cause ?? thrown) : undefined;
  parts.observe({ type: 'warning', message: `Failed to connect an account at ${server}: ${problem}`, cause });
  const more = isOpen ? ' Try again. Details are in the server log.' : '';
  return listPage(request, parts, { failed: `Could not connect to ${server}: ${problem}${more}` });
}
