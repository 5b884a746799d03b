// One remote server, for administrators: its OAuth client, when the authorization server has no dynamic registration,
// and the tools that workflows may call. Also publishes the client ID metadata document. Anyone may read it: it reveals
// only the redirect URI.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { RemoteServer } from '../../../store/remotes/types.ts';
import { formatToolRules, parseToolRules } from '../../../workflows/remote-mcp/tools.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { facts } from '../../ui/data.ts';
import { areaField, buttonTo, field, openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { copyable, flash } from '../../ui/notices.ts';
import { isAdmin, reportSecurity, sentence, shortWords } from './list.ts';

const under = '/remotes';
const pageOf = ({ id }: Pick<RemoteServer, 'id'>): string => `${under}/${id}`;

const done = {
  entered: 'Client saved. New connections use it.',
  allowed: 'Allowed tools saved. They apply from the next step.',
  forgotten: 'Client removed. Accounts that used it must be connected again.',
};

interface Typed {
  readonly clientId?: string;
  readonly issuer?: string;
  readonly tools?: string;
  readonly argument: string;
  readonly problem: string;
}

/** For administrators; other users are redirected to the list. */
export async function showRemote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const server = isAdmin(request) ? await parts.store.remotes.find(request.id) : undefined;
  return server ? serverPage(server, request, parts) : { to: under };
}

/** Handles the administrator's forms of the page; undefined for any other action. */
export async function changeServer(
  server: RemoteServer,
  request: SignedInRequest,
  parts: Parts,
): Promise<Answer | undefined> {
  const action = request.form.get('action');
  if (action === 'enter') return saveClient(server, request, parts);
  if (action === 'allow') return saveTools(server, request, parts);
  if (action !== 'forget') return undefined;
  await parts.store.remotes.setClient(server.id, null, request.access.caller.id);
  reportSecurity(request, parts, 'remote.client-forgotten', server);
  return { to: `${pageOf(server)}?done=forgotten` };
}

async function saveTools(server: RemoteServer, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const tools = request.form.get('tools') ?? '';
  try {
    await parts.store.remotes.setTools(server.id, parseToolRules(tools), request.access.caller.id);
  } catch (thrown) {
    if (!isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { argument, problem } = thrown.details;
    return serverPage(server, request, parts, { tools, argument, problem: sentence(problem) });
  }
  reportSecurity(request, parts, 'remote.tools-allowed', server);
  return { to: `${pageOf(server)}?done=allowed` };
}

async function saveClient(server: RemoteServer, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const text = (name: string) => (request.form.get(name) ?? '').trim();
  const entered = { id: text('clientId'), secret: text('clientSecret'), issuer: text('issuer') };
  try {
    await parts.remotes.saveClient(server, entered, request.access.caller.id);
  } catch (thrown) {
    if (!isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { argument, problem } = thrown.details;
    return serverPage(server, request, parts, {
      clientId: entered.id,
      issuer: entered.issuer,
      argument,
      problem: sentence(problem),
    });
  }
  reportSecurity(request, parts, 'remote.client-entered', server);
  return { to: `${pageOf(server)}?done=entered` };
}

function serverPage(server: RemoteServer, request: SignedInRequest, parts: Parts, typed?: Typed): Answer {
  const { name, url, signIn } = server;
  const { origin, pathname } = new URL(url);
  const content = html`<h1>${name}</h1>
${flash(done, request.query)}
${facts([
  ['Address', `${origin}${pathname}`],
  ['Authentication', shortWords[signIn]],
])}
${signIn === 'oauth' && clientForm(server, request, parts, typed)}
${toolsForm(server, request, parts, typed)}
<p class="quietly"><a href="${parts.paths.path(under)}">All remote servers</a></p>`;
  const page = createFramedPage(request, parts, { title: name, under, content });
  return { page, ...(typed && { status: 400 }) };
}

function clientForm(server: RemoteServer, request: SignedInRequest, parts: Parts, typed: Typed | undefined): Html {
  const { client } = server;
  const wrong = (argument: string) => (typed?.argument === argument ? typed.problem : undefined);
  const clientText = client
    ? html`<p>People sign in at <b>${client.issuer}</b> with the client <b>${client.id}</b>. Its secret is sent only there.</p>
${buttonTo(request, parts, { page: pageOf(server), action: 'forget', text: 'Remove this client' })}`
    : html`<p>Required only if the authorization server supports neither client ID metadata documents nor dynamic registration. Register Portico there with this redirect address, and enter the client that you receive.</p>`;
  return html`<h2 class="plainly">Client at its authorization server</h2>
${clientText}
${copyable(parts.remotes.callback(server.id), 'the redirect address')}
${openForm(request, parts, pageOf(server))}
${field({ id: 'clientId', label: 'Client ID', value: typed?.clientId ?? '', maxLength: 2000, required: true, problem: wrong('clientId') })}
${field({ id: 'clientSecret', label: 'Client secret (optional)', type: 'password', maxLength: 4000, problem: wrong('clientSecret'), hint: 'Stored encrypted and not shown again.' })}
${field({ id: 'issuer', label: 'Authorization server', value: typed?.issuer ?? '', maxLength: 2000, problem: wrong('issuer'), hint: 'Such as https://login.example. Default: the one that the server names now. The id and secret are sent only there.' })}
<button class="primary slim" name="action" value="enter">Save client</button></form>`;
}

function toolsForm(
  { id, tools }: RemoteServer,
  request: SignedInRequest,
  parts: Parts,
  typed: Typed | undefined,
): Html {
  const problem = typed?.argument === 'tools' ? typed.problem : undefined;
  const value = typed?.tools ?? formatToolRules(tools);
  return html`<h2 class="plainly">Tools that workflows may call</h2>
${openForm(request, parts, pageOf({ id }))}
${areaField({ id: 'tools', label: 'One tool per line', value, problem, maxLength: 20_000, hint: html`Empty: all tools are allowed. Add <code>ask</code> after a tool to require approval for every call, whatever the mode of the step. <code>*</code> matches all tools that are not listed. Other tools are blocked.` })}
<button class="primary slim" name="action" value="allow">Save tools</button></form>`;
}

/** MCP authorization, Client ID Metadata Documents: public, because authorization servers fetch it by its URL. */
export const publishClient = (id: string, { remotes }: Parts): object | undefined => remotes.document(id);
