// One remote server, for administrators: its OAuth client, when the authorization server has no dynamic registration,
// and the tools that workflows may call. Also publishes the client ID metadata document. Anyone may read it: it reveals
// only the redirect URI.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { RemoteServer } from '../../../store/remotes/types.ts';
import { readTools, writeTools } from '../../../workflows/remote-mcp/tools.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { facts } from '../../ui/data.ts';
import { areaField, buttonTo, field, formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { copyable, flash } from '../../ui/notices.ts';
import { isAdmin, sentence, shortWords, tell } from './list.ts';

const under = '/remotes';
const pageOf = ({ id }: Pick<RemoteServer, 'id'>): string => `${under}/${id}`;

const done = {
  entered: 'The client is entered: accounts that are connected from now on use it.',
  allowed: 'What workflows may call is kept, and holds from the next step on.',
  forgotten: 'The client is forgotten. Accounts that were connected with it are to be connected again.',
};

interface Typed {
  readonly clientId?: string;
  readonly issuer?: string;
  readonly tools?: string;
  readonly argument: string;
  readonly problem: string;
}

/** For administrators; other users are redirected to the list. */
export async function showRemote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const server = isAdmin(visit) ? await parts.store.remotes.find(visit.id) : undefined;
  return server ? serverPage(server, visit, parts) : { to: under };
}

/** Handles the administrator's forms of the page; undefined for any other action. */
export async function changeServer(
  server: RemoteServer,
  visit: MemberVisit,
  parts: Parts,
): Promise<Answer | undefined> {
  const action = visit.form.get('action');
  if (action === 'enter') return enter(server, visit, parts);
  if (action === 'allow') return allow(server, visit, parts);
  if (action !== 'forget') return undefined;
  await parts.store.remotes.setClient(server.id, null, visit.access.caller.id);
  tell(visit, parts, 'remote.client-forgotten', server);
  return { to: `${pageOf(server)}?done=forgotten` };
}

async function allow(server: RemoteServer, visit: MemberVisit, parts: Parts): Promise<Answer> {
  const tools = visit.form.get('tools') ?? '';
  try {
    await parts.store.remotes.setTools(server.id, readTools(tools), visit.access.caller.id);
  } catch (thrown) {
    if (!isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { argument, problem } = thrown.details;
    return serverPage(server, visit, parts, { tools, argument, problem: sentence(problem) });
  }
  tell(visit, parts, 'remote.tools-allowed', server);
  return { to: `${pageOf(server)}?done=allowed` };
}

async function enter(server: RemoteServer, visit: MemberVisit, parts: Parts): Promise<Answer> {
  const text = (name: string) => (visit.form.get(name) ?? '').trim();
  const entered = { id: text('clientId'), secret: text('clientSecret'), issuer: text('issuer') };
  try {
    await parts.remotes.enterClient(server, entered, visit.access.caller.id);
  } catch (thrown) {
    if (!isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { argument, problem } = thrown.details;
    return serverPage(server, visit, parts, {
      clientId: entered.id,
      issuer: entered.issuer,
      argument,
      problem: sentence(problem),
    });
  }
  tell(visit, parts, 'remote.client-entered', server);
  return { to: `${pageOf(server)}?done=entered` };
}

function serverPage(server: RemoteServer, visit: MemberVisit, parts: Parts, typed?: Typed): Answer {
  const { name, url, signIn } = server;
  const { origin, pathname } = new URL(url);
  const content = html`<h1>${name}</h1>
${flash(done, visit.query)}
${facts([
  ['Address', `${origin}${pathname}`],
  ['Opened by', shortWords[signIn]],
])}
${signIn === 'oauth' && clientForm(server, visit, parts, typed)}
${toolsForm(server, visit, parts, typed)}
<p class="quietly"><a href="${parts.paths.path(under)}">All remote servers</a></p>`;
  const page = createFramed(visit, parts, { title: name, under, content });
  return { page, ...(typed && { status: 400 }) };
}

function clientForm(server: RemoteServer, visit: MemberVisit, parts: Parts, typed: Typed | undefined): Html {
  const { client } = server;
  const wrong = (argument: string) => (typed?.argument === argument ? typed.problem : undefined);
  const told = client
    ? html`<p>People sign in with the client <b>${client.id}</b> at <b>${client.issuer}</b>, and nowhere else: its secret is sent there alone.</p>
${buttonTo(visit, parts, { page: pageOf(server), action: 'forget', text: 'Forget this client' })}`
    : html`<p>Nothing to do where its authorization server takes clients that publish who they are, or registers them by itself. Where it does neither, register Portico there, with this redirect address, and enter what you were given.</p>`;
  return html`<h2 class="plainly">Client at its authorization server</h2>
${told}
${copyable(parts.remotes.callback(server.id), 'the redirect address')}
${formOf(visit, parts, pageOf(server))}
${field({ id: 'clientId', label: 'Client id', value: typed?.clientId ?? '', most: 2000, required: true, problem: wrong('clientId') })}
${field({ id: 'clientSecret', label: 'Its secret, where it has one', type: 'password', most: 4000, problem: wrong('clientSecret'), hint: 'It is kept encrypted and not shown again.' })}
${field({ id: 'issuer', label: 'Authorization server', value: typed?.issuer ?? '', most: 2000, problem: wrong('issuer'), hint: 'Such as https://login.example. Left empty, it is the one that the server names now. Neither id nor secret is sent to another.' })}
<button class="primary slim" name="action" value="enter">Enter</button></form>`;
}

function toolsForm({ id, tools }: RemoteServer, visit: MemberVisit, parts: Parts, typed: Typed | undefined): Html {
  const problem = typed?.argument === 'tools' ? typed.problem : undefined;
  const value = typed?.tools ?? writeTools(tools);
  return html`<h2 class="plainly">Tools that workflows may call</h2>
${formOf(visit, parts, pageOf({ id }))}
${areaField({ id: 'tools', label: 'A tool in each line', value, problem, most: 20_000, hint: html`Left empty, every tool may be called. Write <code>ask</code> after a tool to have a person say yes to every call, whatever the mode of the step; <code>*</code> stands for all that are not named. Other tools are not called.` })}
<button class="primary slim" name="action" value="allow">Keep</button></form>`;
}

/** MCP authorization, Client ID Metadata Documents: public, because authorization servers fetch it by its URL. */
export const publishClient = (id: string, { remotes }: Parts): object | undefined => remotes.document(id);
