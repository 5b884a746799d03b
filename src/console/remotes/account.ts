// Connecting one's own account at a remote server. The browser leaves by a link on a page that says where it leads, and comes back
// to the callback page, whose answer counts in the session that asked, once (store/remotes.ts).
import { isAppError } from '../../core/errors.ts';
import { html } from '../../oauth/html.ts';
import type { RemoteServer } from '../../store/remote-types.ts';
import { createFramed } from '../frame.ts';
import type { Answer, MemberVisit, Parts } from '../visit.ts';
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

/** A GET that changes something, as every way back from an authorization server: what it carries counts once. */
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

/** What it says is ours; why it is so is for the log. */
async function failed(thrown: unknown, visit: MemberVisit, parts: Parts): Promise<Answer> {
  if (!isAppError(thrown, 'REMOTE_UNAVAILABLE') && !isAppError(thrown, 'REMOTE_REFUSED')) throw thrown;
  const { server, problem } = thrown.details;
  const isOpen = thrown.code === 'REMOTE_UNAVAILABLE';
  // What it refuses with are the words of a stranger.
  const cause = isOpen ? (thrown.cause ?? thrown) : undefined;
  parts.observe({ type: 'warning', message: `An account at ${server} was not connected: ${problem}`, cause });
  const more = isOpen ? ' Try again; the log of the operator says why.' : '';
  return listPage(visit, parts, { failed: `Nothing was connected to ${server}: ${problem}${more}` });
}
