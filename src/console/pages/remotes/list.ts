// Remote MCP servers. Administrators add and remove servers; each user connects their own account at servers that
// require a sign-in. Secrets are entered on these pages and never displayed.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { RemoteAccount, RemoteServer, RemoteSignIn } from '../../../store/remotes/types.ts';
import { remoteSignIns } from '../../../store/remotes/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { buttonTo, field, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait } from '../../ui/times.ts';

const under = '/remotes';
const title = 'Remote servers';

const done = {
  added: 'Server added. Workflow steps can use it.',
  removed: 'Server removed, with all accounts connected to it.',
  connected: 'Account connected. Steps of your runs use it to call the server.',
  disconnected: 'Account disconnected. To revoke its permissions, use the remote server.',
  gone: 'Already removed.',
  unknown: 'Not connected: the answer does not match a request from here, or came too late. Connect the account again.',
};

const signInWords: Readonly<Record<RemoteSignIn, string>> = {
  none: 'None',
  bearer: 'Shared secret',
  oauth: 'OAuth per user',
};

/** Short labels for table cells. */
export const shortWords: Readonly<Record<RemoteSignIn, string>> = {
  none: 'none',
  bearer: 'shared secret',
  oauth: 'OAuth per user',
};

export const isAdmin = ({ access }: SignedInRequest): boolean => access.caller.permissionLevel === 'admin';

export const listRemotes = (request: SignedInRequest, parts: Parts): Promise<Answer> => listPage(request, parts);

interface Typed {
  readonly name: string;
  readonly url: string;
  readonly signIn: RemoteSignIn;
  readonly problem?: { readonly argument: string; readonly text: string };
}

/** `failed`: the reason why connecting an account failed. */
export async function listPage(
  request: SignedInRequest,
  parts: Parts,
  { typed, failed }: { readonly typed?: Typed; readonly failed?: string } = {},
): Promise<Answer> {
  const { remotes } = parts.store;
  const [servers, accounts] = await Promise.all([remotes.list(), remotes.accountsOf(request.access.caller.id)]);
  const hint = isAdmin(request) ? 'Add one below.' : 'An administrator adds them.';
  const content = html`<h1>${title}</h1>
<p class="lead">External MCP servers that workflow steps can call. With OAuth, a step uses the account of the person who started the run.</p>
${flash(done, request.query)}
${failed !== undefined && html`<p class="note" role="alert">${failed}</p>`}
${servers.length === 0 ? empty('No remote servers', hint) : serverTable(servers, accounts, request, parts)}
${isAdmin(request) && addForm(request, parts, typed)}`;
  const page = createFramedPage(request, parts, { title, under, content, wide: true });
  return { page, ...(typed && { status: 400 }), ...(failed !== undefined && { status: 422 }) };
}

function serverTable(
  servers: readonly RemoteServer[],
  accounts: readonly RemoteAccount[],
  request: SignedInRequest,
  parts: Parts,
): Html {
  const now = parts.clock.now();
  const button = ({ id, name }: RemoteServer, action: string, text: string) =>
    buttonTo(request, parts, { page: `/remotes/${id}`, action, text, label: `${text} ${name}` });
  const rows = servers.map((server) => {
    const account = accounts.find(({ serverId }) => serverId === server.id);
    const isOwn = server.signIn === 'oauth';
    const { origin, pathname } = new URL(server.url);
    return [
      html`${isAdmin(request) ? html`<a href="${parts.paths.path(`/remotes/${server.id}`)}">${server.name}</a>` : server.name}<small>${origin}${pathname}</small>`,
      shortWords[server.signIn],
      isOwn ? stateOf(account) : 'not needed',
      !account ? '' : account.usedAt === null ? 'never' : `${describeWait(now - account.usedAt)} ago`,
      html`<div class="deeds">${isOwn && account?.state !== 'connected' && button(server, 'connect', account ? 'Connect again' : 'Connect')}${account && button(server, 'disconnect', 'Disconnect')}${isAdmin(request) && button(server, 'remove', 'Remove')}</div>`,
    ];
  });
  return table({ caption: title, heads: ['Server', 'Authentication', 'Your account', 'Last used', 'Actions'], rows });
}

function stateOf(account: RemoteAccount | undefined): Html | string {
  if (!account) return 'not connected';
  return account.state === 'connected' ? 'connected' : html`<span class="badge unsure">connect again</span>`;
}

function addForm(request: SignedInRequest, parts: Parts, typed: Typed | undefined): Html {
  const { name = '', url = '', signIn = 'oauth', problem } = typed ?? {};
  const wrong = (argument: string) => (problem?.argument === argument ? problem.text : undefined);
  return html`<h2 class="plainly">Add a server</h2>
${openForm(request, parts, under)}
${field({ id: 'name', label: 'Name', value: name, maxLength: 100, required: true, problem: wrong('name'), hint: 'Steps use this name, such as “tickets”.' })}
${field({ id: 'url', label: 'Address of the MCP endpoint', value: url, maxLength: 2000, required: true, problem: wrong('url'), hint: 'Such as https://tickets.example/mcp. The address cannot be changed later.' })}
${selectField({ id: 'signIn', label: 'Authentication', value: signIn, options: remoteSignIns.map((one) => [one, signInWords[one]] as const) })}
${field({ id: 'secret', label: 'Shared secret', type: 'password', maxLength: 4096, problem: wrong('secret'), hint: 'Stored encrypted and not shown again.' })}
<button class="primary slim" name="action" value="add">Add</button></form>`;
}

/** For administrators; other users do not see the form. */
export async function addRemote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form, access } = request;
  if (!isAdmin(request)) return listPage(request, parts);
  const text = (name: string) => (form.get(name) ?? '').trim();
  const signIn = remoteSignIns.find((one) => one === form.get('signIn')) ?? 'oauth';
  const typed = { name: text('name'), url: text('url'), signIn };
  try {
    const server = await parts.remotes.add({ ...typed, secret: text('secret'), addedBy: access.caller.id });
    reportSecurity(request, parts, 'remote.added', server);
  } catch (thrown) {
    if (!isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { argument, problem } = thrown.details;
    return listPage(request, parts, { typed: { ...typed, problem: { argument, text: sentence(problem) } } });
  }
  return { to: `${under}?done=added` };
}

export const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

export function reportSecurity(
  request: SignedInRequest,
  parts: Parts,
  event: string,
  { id }: Pick<RemoteServer, 'id'>,
): void {
  parts.observe({ type: 'security', event, userId: request.access.caller.id, detail: id });
}
