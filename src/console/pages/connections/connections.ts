// Connected apps: the user's own grants, with a button to revoke each, and for administrators those of all users. A
// revoked grant fails from the next call on, in every process.
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { listedClient } from '../../../oauth/clients/display-name.ts';
import { type Connection, findConnections } from '../../../oauth/consent/connection.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { createFramed } from '../../ui/frame.ts';
import { connectionRow } from './view.ts';

const under = '/apps';
const own = '/apps';
const everyone = '/apps/everyone';
/** Connections per page in the list of all users. */
const LISTED = 50;
const OWN_MOST = 500;

const isAdmin = ({ access }: MemberVisit): boolean => access.caller.permissionLevel === 'admin';

export async function listApps(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { id } = visit.access.caller;
  const connections = await findConnections(parts.store, { userId: id, limit: OWN_MOST });
  const content = html`<h1>Connected apps</h1>
<p class="lead">What you allowed assistants to do in your name. An app that you disconnect can do nothing from that moment, and has to ask you again.</p>
${endedNote(visit)}
${connectionList(connections, visit, parts, own)}
<p class="quietly">Programs that cannot sign in use <a href="${parts.paths.path('/tokens')}">tokens</a>.</p>
${isAdmin(visit) && html`<p class="quietly"><a href="${parts.paths.path(everyone)}">Apps of everybody</a></p>`}`;
  return { page: createFramed(visit, parts, { title: 'Connected apps', under, content }) };
}

const endedNotes: Readonly<Record<string, string>> = {
  app: 'It is disconnected: it can do nothing from now on.',
  gone: 'It was over already.',
};

function endedNote({ query }: MemberVisit): Html | undefined {
  const text = endedNotes[query.get('ended') ?? ''];
  return text === undefined ? undefined : html`<p class="state done" role="status"><b>${text}</b></p>`;
}

function connectionList(
  connections: readonly Connection[],
  visit: MemberVisit,
  parts: Parts,
  page: string,
  users?: ReadonlyMap<number, User>,
): Html {
  if (connections.length === 0) {
    const hint = parts.mcpUrl !== null && html`Add <code>${parts.mcpUrl}</code> to an assistant, and it asks you here.`;
    return html`<div class="empty"><b>No app is connected</b>${users ? 'None that fits what you look for.' : hint}</div>`;
  }
  return html`<ul class="apps">${connections.map((connection) => connectionRow(connection, visit, parts, { page, user: users?.get(connection.userId) }))}</ul>`;
}

/** For administrators; other users get 404. */
export async function listAppsOfEveryone(visit: MemberVisit, parts: Parts): Promise<Answer> {
  if (!isAdmin(visit)) return fail('NOT_FOUND', { path: everyone });
  const user = (visit.query.get('user') ?? '').trim().slice(0, 254);
  const app = (visit.query.get('app') ?? '').trim().slice(0, 400);
  const users = new Map((await parts.store.identity.listUsers()).map((one) => [one.id, one]));
  const connections = await findConnections(parts.store, {
    isMeant: (connection) => isOf(users.get(connection.userId), user) && isApp(connection, app),
    after: visit.query.get('after') ?? undefined,
    limit: LISTED,
  });
  const last = connections.length === LISTED ? connections.at(-1) : undefined;
  const older = last && new URLSearchParams({ user, app, after: last.cursor });
  const content = html`<h1>Apps of everybody</h1>
${endedNote(visit)}
<form method="get" action="${parts.paths.path(everyone)}" class="filter">
<div><label for="user">Person</label><input id="user" name="user" type="search" value="${user}" maxlength="254" autocomplete="off" spellcheck="false"></div>
<div><label for="app">App</label><input id="app" name="app" type="search" value="${app}" maxlength="400" autocomplete="off" spellcheck="false"></div>
<button class="plain">Find</button>
</form>
${connectionList(connections, visit, parts, everyone, users)}
${older && html`<p class="quietly"><a href="${parts.paths.path(everyone)}?${`${older}`}">Older ones</a></p>`}
<p class="quietly"><a href="${parts.paths.path(own)}">Your own</a></p>`;
  return { page: createFramed(visit, parts, { title: 'Apps of everybody', under, content }) };
}

function isOf(user: User | undefined, text: string): boolean {
  const names = user ? `${user.email} ${user.firstName} ${user.lastName}` : '';
  return names.toLowerCase().includes(text.toLowerCase());
}

function isApp({ clientName, clientId }: Connection, text: string): boolean {
  return `${clientName} ${clientId}`.toLowerCase().includes(text.toLowerCase());
}

/** For the owner and administrators. Other users get the same response as for an unknown id. */
export async function disconnectApp(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const back = visit.form.get('from') === everyone && isAdmin(visit) ? everyone : own;
  const [connection] = await findConnections(parts.store, { id: visit.id, limit: 1 });
  if (!connection || !(connection.userId === caller.id || isAdmin(visit))) return { to: `${back}?ended=gone` };
  const { id, clientId, clientName } = connection;
  const named = listedClient(clientId, clientName);
  const ended = await parts.store.connections.end({ id, by: caller.id, clientName: named });
  if (ended) {
    parts.observe({ type: 'security', event: 'connection.revoked', userId: caller.id, clientId, detail: id });
  }
  return { to: `${back}?ended=${ended ? 'app' : 'gone'}` };
}
