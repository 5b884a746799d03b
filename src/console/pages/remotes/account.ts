// Connects the user's own account at a remote server. The page has a link to the server's authorization server, which
// redirects back to the callback page. The callback counts once, and only in the session that began it
// (store/remotes/remotes.ts).
import { isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { RemoteServer } from '../../../store/remotes/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { createFramed } from '../../ui/frame.ts';
import { isAdmin, listPage, tell } from './list.ts';
import { changeServer } from './server.ts';

const under = '/remotes';
const to = (done: string): Answer => ({ to: `${under}?done=${done}` });

export async function changeRemote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { store } = parts;
  const { id: userId } = visit.access.caller;
  const server = await store.remotes.find(visit.id);
  if (!server) return to('gone');
  const action = visit.form.get('action');
  if (action === 'connect' && server.signIn === 'oauth') return leave(server, visit, parts);
  if (action === 'disconnect') {
    if (!(await store.remotes.disconnect({ serverId: server.id, userId }, userId))) return to('gone');
    tell(visit, parts, 'remote.disconnected', server);
    return to('disconnected');
  }
  if (!isAdmin(visit)) return { to: under };
  if (action === 'remove') {
    if (!(await store.remotes.remove(server.id, userId))) return to('gone');
    tell(visit, parts, 'remote.removed', server);
    return to('removed');
  }
  return (await changeServer(server, visit, parts)) ?? { to: under };
}

async function leave(server: RemoteServer, visit: MemberVisit, parts: Parts): Promise<Answer> {
  let address: URL;
  try {
    address = await parts.remotes.begin(server, byOf(visit));
  } catch (thrown) {
    return failed(thrown, visit, parts);
  }
  const content = html`<h1>Connect ${server.name}</h1>
<p class="lead">You sign in at <b>${address.host}</b>, which then asks you what Portico may do there in your name. Steps of your runs use it; other people’s do not.</p>
<p class="spaced"><a class="button primary slim" href="${address.href}" rel="noreferrer">Continue to ${address.host}</a></p>
<p class="quietly"><a href="${parts.paths.path(under)}">Rather not</a></p>`;
  return { page: createFramed(visit, parts, { title: `Connect ${server.name}`, under, content }) };
}

/** This GET changes data, like every callback of an authorization server. Its code counts only once. */
export async function finishRemote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { query } = visit;
  const code = query.has('error') ? null : query.get('code');
  try {
    const answer = { serverId: visit.id, state: query.get('state') ?? '', code, iss: query.get('iss') };
    const server = await parts.remotes.finish(answer, byOf(visit));
    if (!server) return to('unknown');
    tell(visit, parts, 'remote.connected', server);
    return to('connected');
  } catch (thrown) {
    return failed(thrown, visit, parts);
  }
}

function byOf({ access, visitor }: MemberVisit) {
  return { userId: access.caller.id, sessionId: visitor.session?.id ?? '' };
}

/** Shows our own error text. The cause goes to the operator's log. */
async function failed(thrown: unknown, visit: MemberVisit, parts: Parts): Promise<Answer> {
  if (!isAppError(thrown, 'REMOTE_UNAVAILABLE') && !isAppError(thrown, 'REMOTE_REFUSED')) throw thrown;
  const { server, problem } = thrown.details;
  const isOpen = thrown.code === 'REMOTE_UNAVAILABLE';
  // Do not show the remote server's error text, which is untrusted.
  const cause = isOpen ? (thrown.cause ?? thrown) : undefined;
  parts.observe({ type: 'warning', message: `An account at ${server} was not connected: ${problem}`, cause });
  const more = isOpen ? ' Try again; the log of the operator says why.' : '';
  return listPage(visit, parts, { failed: `Nothing was connected to ${server}: ${problem}${more}` });
}
