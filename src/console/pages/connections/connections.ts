// Connected apps: the user's own grants, with a button to revoke each, and for administrators those of all users. A
// revoked grant fails from the next call on, in every process.
import { fail } from '../../../core/errors.ts';
import { visibleName } from '../../../core/suggestions/visible-text.ts';
import { type Html, html } from '../../../http/html.ts';
import { clientLabel } from '../../../oauth/clients/display-name.ts';
import { type Connection, findConnections } from '../../../oauth/consent/connection.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { connectionRow, MAX_NAME } from './view.ts';

const under = '/apps';
const own = '/apps';
const everyone = '/apps/everyone';
/** Connections per page in the list of all users. */
const LISTED = 50;
const MAX_OWN = 500;

const isAdmin = ({ access }: SignedInRequest): boolean => access.caller.permissionLevel === 'admin';

export async function listApps(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { id } = request.access.caller;
  const connections = await findConnections(parts.store, { userId: id, limit: MAX_OWN });
  const content = html`<h1>Connected apps</h1>
<p class="lead">Apps that can act in your name. A disconnected app loses access immediately and must ask again.</p>
${endedNote(request)}
${connectionList(connections, request, parts, own)}
<p class="quietly">Programs that cannot sign in use <a href="${parts.paths.path('/tokens')}">tokens</a>.</p>
${isAdmin(request) && html`<p class="quietly"><a href="${parts.paths.path(everyone)}">Apps of all users</a></p>`}`;
  return { page: createFramedPage(request, parts, { title: 'Connected apps', under, content }) };
}

const endedNotes: Readonly<Record<string, string>> = {
  app: 'Disconnected. The app no longer has access.',
  gone: 'Already disconnected.',
};

function endedNote({ query }: SignedInRequest): Html | undefined {
  const text = query.has('named') ? 'Name saved.' : endedNotes[query.get('ended') ?? ''];
  return text === undefined ? undefined : html`<p class="state done" role="status"><b>${text}</b></p>`;
}

function connectionList(
  connections: readonly Connection[],
  request: SignedInRequest,
  parts: Parts,
  page: string,
  users?: ReadonlyMap<number, User>,
): Html {
  if (connections.length === 0) {
    const hint =
      parts.mcpUrl !== null && html`Add <code>${parts.mcpUrl}</code> to an assistant. It will ask for access here.`;
    return html`<div class="empty"><b>${users ? 'No results' : 'No app is connected'}</b>${users ? 'Clear the filters.' : hint}</div>`;
  }
  return html`<ul class="apps">${connections.map((connection) => connectionRow(connection, request, parts, { page, user: users?.get(connection.userId) }))}</ul>`;
}

/** For administrators; other users get 404. */
export async function listAppsOfEveryone(request: SignedInRequest, parts: Parts): Promise<Answer> {
  if (!isAdmin(request)) return fail('NOT_FOUND', { path: everyone });
  const user = (request.query.get('user') ?? '').trim().slice(0, 254);
  const app = (request.query.get('app') ?? '').trim().slice(0, 400);
  const users = new Map((await parts.store.identity.listUsers()).map((one) => [one.id, one]));
  const connections = await findConnections(parts.store, {
    matches: (connection) => isOf(users.get(connection.userId), user) && isApp(connection, app),
    after: request.query.get('after') ?? undefined,
    limit: LISTED,
  });
  const last = connections.length === LISTED ? connections.at(-1) : undefined;
  const older = last && new URLSearchParams({ user, app, after: last.cursor });
  const content = html`<h1>Apps of all users</h1>
${endedNote(request)}
<form method="get" action="${parts.paths.path(everyone)}" class="filter">
<div><label for="user">Person</label><input id="user" name="user" type="search" value="${user}" maxlength="254" autocomplete="off" spellcheck="false"></div>
<div><label for="app">App</label><input id="app" name="app" type="search" value="${app}" maxlength="400" autocomplete="off" spellcheck="false"></div>
<button class="plain">Find</button>
</form>
${connectionList(connections, request, parts, everyone, users)}
${older && html`<p class="quietly"><a href="${parts.paths.path(everyone)}?${`${older}`}">Older</a></p>`}
<p class="quietly"><a href="${parts.paths.path(own)}">Your apps</a></p>`;
  return { page: createFramedPage(request, parts, { title: 'Apps of all users', under, content }) };
}

function isOf(user: User | undefined, text: string): boolean {
  const names = user ? `${user.email} ${user.firstName} ${user.lastName}` : '';
  return names.toLowerCase().includes(text.toLowerCase());
}

function isApp({ clientName, clientId, name }: Connection, text: string): boolean {
  return `${clientName} ${clientId} ${name}`.toLowerCase().includes(text.toLowerCase());
}

/** For the owner and administrators. Other users get the same response as for an unknown id. */
export async function changeApp(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { caller } = request.access;
  if (request.form.get('action') === 'name') {
    // Only the owner names it: administrators get the response of an unknown id.
    const name = visibleName(request.form.get('name') ?? '').slice(0, MAX_NAME);
    const isNamed = await parts.store.connections.name({ id: request.id, userId: caller.id, name });
    return { to: isNamed ? `${own}?named=yes` : `${own}?ended=gone` };
  }
  const back = request.form.get('from') === everyone && isAdmin(request) ? everyone : own;
  const [connection] = await findConnections(parts.store, { id: request.id, limit: 1 });
  if (!connection || !(connection.userId === caller.id || isAdmin(request))) return { to: `${back}?ended=gone` };
  const { id, clientId, clientName } = connection;
  const named = clientLabel(clientId, clientName);
  const ended = await parts.store.connections.end({ id, by: caller.id, clientName: named });
  if (ended) {
    parts.observe({ type: 'security', event: 'connection.revoked', userId: caller.id, clientId, detail: id });
  }
  return { to: `${back}?ended=${ended ? 'app' : 'gone'}` };
}
