// Remote MCP servers. Administrators add and remove servers; each user connects their own account at servers that
// require a sign-in. Secrets are entered on these pages and never displayed.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { RemoteAccount, RemoteServer, RemoteSignIn } from '../../../store/remotes/types.ts';
import { remoteSignIns } from '../../../store/remotes/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { buttonTo, field, formOf, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait } from '../../ui/times.ts';

const under = '/remotes';
const title = 'Remote servers';

const done = {
  added: 'The server is added: steps of workflows can name it.',
  removed: 'The server is removed, with the accounts that were connected there.',
  connected: 'Your account is connected: steps of your runs call the server with it.',
  disconnected: 'Your account is disconnected. What it may do at the server can be taken back there.',
  gone: 'It was gone already.',
  unknown: 'Nothing was connected: that answer was not asked for here, or came too late. Connect the account again.',
};

const signInWords: Readonly<Record<RemoteSignIn, string>> = {
  none: 'Nothing',
  bearer: 'One secret for everybody',
  oauth: 'An account of each person (OAuth)',
};

/** Short labels for table cells. */
export const shortWords: Readonly<Record<RemoteSignIn, string>> = {
  none: 'nothing',
  bearer: 'one secret',
  oauth: 'own account',
};

export const isAdmin = ({ access }: MemberVisit): boolean => access.caller.permissionLevel === 'admin';

export const listRemotes = (visit: MemberVisit, parts: Parts): Promise<Answer> => listPage(visit, parts);

interface Typed {
  readonly name: string;
  readonly url: string;
  readonly signIn: RemoteSignIn;
  readonly problem?: { readonly argument: string; readonly text: string };
}

/** `failed`: the reason why connecting an account failed. */
export async function listPage(
  visit: MemberVisit,
  parts: Parts,
  { typed, failed }: { readonly typed?: Typed; readonly failed?: string } = {},
): Promise<Answer> {
  const { remotes } = parts.store;
  const [servers, accounts] = await Promise.all([remotes.list(), remotes.accountsOf(visit.access.caller.id)]);
  const hint = isAdmin(visit) ? 'Add one below.' : 'An administrator adds them.';
  const content = html`<h1>${title}</h1>
<p class="lead">MCP servers elsewhere, whose tools steps of workflows call. Where people sign in, a step uses the account of whoever its run belongs to, and no other.</p>
${flash(done, visit.query)}
${failed !== undefined && html`<p class="note" role="alert">${failed}</p>`}
${servers.length === 0 ? empty('There is no remote server', hint) : serverTable(servers, accounts, visit, parts)}
${isAdmin(visit) && addForm(visit, parts, typed)}`;
  const page = createFramed(visit, parts, { title, under, content, wide: true });
  return { page, ...(typed && { status: 400 }), ...(failed !== undefined && { status: 422 }) };
}

function serverTable(
  servers: readonly RemoteServer[],
  accounts: readonly RemoteAccount[],
  visit: MemberVisit,
  parts: Parts,
): Html {
  const now = parts.clock.now();
  const button = ({ id, name }: RemoteServer, action: string, text: string) =>
    buttonTo(visit, parts, { page: `/remotes/${id}`, action, text, label: `${text} ${name}` });
  const rows = servers.map((server) => {
    const account = accounts.find(({ serverId }) => serverId === server.id);
    const isOwn = server.signIn === 'oauth';
    const { origin, pathname } = new URL(server.url);
    return [
      html`${isAdmin(visit) ? html`<a href="${parts.paths.path(`/remotes/${server.id}`)}">${server.name}</a>` : server.name}<small>${origin}${pathname}</small>`,
      shortWords[server.signIn],
      isOwn ? stateOf(account) : 'not needed',
      !account ? '' : account.usedAt === null ? 'never' : `${describeWait(now - account.usedAt)} ago`,
      html`<div class="deeds">${isOwn && account?.state !== 'connected' && button(server, 'connect', account ? 'Connect again' : 'Connect')}${account && button(server, 'disconnect', 'Disconnect')}${isAdmin(visit) && button(server, 'remove', 'Remove')}</div>`,
    ];
  });
  return table({ caption: title, heads: ['Server', 'Opened by', 'Your account', 'Last used', 'Change'], rows });
}

function stateOf(account: RemoteAccount | undefined): Html | string {
  if (!account) return 'not connected';
  return account.state === 'connected' ? 'connected' : html`<span class="badge unsure">connect it again</span>`;
}

function addForm(visit: MemberVisit, parts: Parts, typed: Typed | undefined): Html {
  const { name = '', url = '', signIn = 'oauth', problem } = typed ?? {};
  const wrong = (argument: string) => (problem?.argument === argument ? problem.text : undefined);
  return html`<h2 class="plainly">Add a server</h2>
${formOf(visit, parts, under)}
${field({ id: 'name', label: 'Name', value: name, most: 100, required: true, problem: wrong('name'), hint: 'What steps call it, such as “tickets”.' })}
${field({ id: 'url', label: 'Address of its MCP endpoint', value: url, most: 2000, required: true, problem: wrong('url'), hint: 'Such as https://tickets.example/mcp. It stays as it is: another address is another server.' })}
${selectField({ id: 'signIn', label: 'Opened by', value: signIn, options: remoteSignIns.map((one) => [one, signInWords[one]] as const) })}
${field({ id: 'secret', label: 'The secret, where there is one for everybody', type: 'password', most: 4096, problem: wrong('secret'), hint: 'It is kept encrypted and not shown again.' })}
<button class="primary slim" name="action" value="add">Add</button></form>`;
}

/** For administrators; other users do not see the form. */
export async function addRemote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { form, access } = visit;
  if (!isAdmin(visit)) return listPage(visit, parts);
  const text = (name: string) => (form.get(name) ?? '').trim();
  const signIn = remoteSignIns.find((one) => one === form.get('signIn')) ?? 'oauth';
  const typed = { name: text('name'), url: text('url'), signIn };
  try {
    const server = await parts.remotes.add({ ...typed, secret: text('secret'), by: access.caller.id });
    tell(visit, parts, 'remote.added', server);
  } catch (thrown) {
    if (!isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { argument, problem } = thrown.details;
    return listPage(visit, parts, { typed: { ...typed, problem: { argument, text: sentence(problem) } } });
  }
  return { to: `${under}?done=added` };
}

export const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

export function tell(visit: MemberVisit, parts: Parts, event: string, { id }: Pick<RemoteServer, 'id'>): void {
  parts.observe({ type: 'security', event, userId: visit.access.caller.id, detail: id });
}
