// Creating a token: its use, scopes and expiry. The secret appears only in the response to the form, never in a URL,
// log or cache. A form is accepted once, so reloading the response neither shows the secret again nor creates another
// token.
import { isAppError } from '../../../core/errors.ts';
import { randomToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import { listProviders } from '../../../oauth/login/login-methods.ts';
import { wrongCodeText } from '../../../oauth/login/sign-in-form.ts';
import type { ApplicationToken, TokenEntrance } from '../../../store/oauth/token-types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { checkField, field, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { showTime } from '../../ui/times.ts';
import { confirmPassword, wrongCurrentPassword } from '../account/account.ts';
import { throttledAnswer } from '../sign-in/sign-in.ts';
import { emptyTyped, expiries, findProblems, type Problems, readExpiry, readTyped, type Typed } from './filters.ts';
import { entrances, entranceWords, needsAdmin, type ScopeWords, scopeWords, titleOf } from './words.ts';

const under = '/tokens';
const title = 'New token';

interface TokenRights {
  /** Behaviour api 5, 3: where SSO is required, the creator of a token must have signed in through it. */
  readonly refused: string | undefined;
  readonly sso: boolean;
  readonly requiresPassword: boolean;
  /** Whether to require a code from the user's authenticator app. */
  readonly requiresCode: boolean;
}

async function readTokenRights(request: SignedInRequest, { store, loginMethods }: Parts): Promise<TokenRights> {
  const { id } = request.access.caller;
  const [session, user, factor] = await Promise.all([
    store.sessions.find(request.visitor.session?.id ?? ''),
    store.identity.findUser(id),
    store.secondFactors.of(id),
  ]);
  const issuer = session?.issuer ?? null;
  const { providers } = loginMethods;
  const sso = providers.some((provider) => provider.issuer === issuer);
  const refused =
    providers.length > 0 && !sso
      ? `Single sign-on is required, and you signed in without it. Sign out, sign in with ${listProviders(providers)}, and create the token again.`
      : undefined;
  const requiresPassword = issuer === null && loginMethods.passwords && Boolean(user?.hasPassword);
  return { refused, sso, requiresPassword, requiresCode: requiresPassword && factor !== undefined };
}

export async function showNewToken(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const tokenRights = await readTokenRights(request, parts);
  if (tokenRights.refused !== undefined) return refusedPage(tokenRights.refused, request, parts);
  const requestedEntrance = request.query.get('for');
  const entrance = entrances.find((one) => one === requestedEntrance);
  return entrance === undefined
    ? choicePage(request, parts)
    : formPage(emptyTyped(entrance), {}, tokenRights, request, parts);
}

function refusedPage(text: string, request: SignedInRequest, parts: Parts): Answer {
  const content = html`<h1>${title}</h1><p class="state bad" role="alert"><span><b>Not in this session</b>${text}</span></p>
<p><a href="${parts.paths.path(under)}">Your tokens</a></p>`;
  return { page: createFramedPage(request, parts, { title, under, content }), status: 403 };
}

const availableEntrances = ({ mcpUrl }: Parts): readonly TokenEntrance[] =>
  entrances.filter((one) => one !== 'mcp' || mcpUrl !== null);

function choicePage(request: SignedInRequest, parts: Parts): Answer {
  const choices = availableEntrances(parts).map((entrance) => {
    const { title, detail } = entranceWords[entrance];
    return html`<li><a href="${parts.paths.path(`/tokens/new?for=${entrance}`)}"><b>${title}</b><span>${detail}</span></a></li>`;
  });
  const content = html`<h1>${title}</h1>
<p class="lead">What is it for? A token works with one API only.</p>
<ul class="rows">${choices}</ul>`;
  return { page: createFramedPage(request, parts, { title, under, content }) };
}

function formPage(
  typed: Typed,
  problems: Problems,
  tokenRights: TokenRights,
  request: SignedInRequest,
  parts: Parts,
): Answer {
  const wrong = Object.keys(problems).length > 0;
  const { entrance, level, expires, date, name } = typed;
  const words = entranceWords[entrance];
  const legend = (text: string, problem?: string) =>
    html`<legend>${text}</legend>${problem && html`<p class="note" role="alert">${problem}</p>`}`;
  const content = html`<h1>${title}</h1>
<p class="lead">${words.detail} Any program that has the token acts in your name.</p>
${openForm(request, parts, '/tokens/new')}<input type="hidden" name="entrance" value="${entrance}"><input type="hidden" name="once" value="${randomToken(128)}">
${field({ id: 'name', label: 'Name', value: name, maxLength: 100, required: true, problem: problems.name, hint: 'Where it is used, such as “Nightly report”.' })}
<fieldset class="plain-set">${legend('Permissions')}
${checkField({ id: 'level-read', name: 'level', type: 'radio', value: 'read-only', checked: level === 'read-only', label: 'Read only', hint: 'Overrides the scopes below: no changes.' })}
${checkField({ id: 'level-write', name: 'level', type: 'radio', value: 'read-write', checked: level === 'read-write', label: 'Read and write' })}
</fieldset>
<fieldset class="plain-set">${legend('Scopes', problems.scopes)}
${adminNote(entrance, request)}
${scopeWords[entrance].map((one) => scopeField(one, typed))}
</fieldset>
<div class="two">${selectField({ id: 'expires', label: 'Expires', value: expires, options: expiries, problem: problems.expires })}
${field({ id: 'date', label: 'Custom date', type: 'date', value: date })}</div>
${tokenRights.requiresPassword && field({ id: 'password', label: 'Your password', type: 'password', maxLength: 1024, autocomplete: 'current-password', required: true, problem: problems.password, hint: 'Confirm your password: the token has your access.' })}
${tokenRights.requiresCode && field({ id: 'code', label: 'Code', maxLength: 40, autocomplete: 'one-time-code', required: true, problem: problems.code, hint: 'The six digits that your authenticator app shows now, or one of your recovery codes.' })}
<button class="primary slim" name="action" value="make">Create token</button> <a class="aside" href="${parts.paths.path(under)}">Cancel</a>
</form>`;
  const page = createFramedPage(request, parts, { title: wrong ? `Error: ${title}` : title, under, content });
  return { page, ...(wrong && { status: 400 }) };
}

function adminNote(entrance: TokenEntrance, { access }: SignedInRequest): Html | false {
  if (!scopeWords[entrance].some(({ admin }) => admin)) return false;
  return access.caller.permissionLevel === 'admin'
    ? html`<p class="quietly">They work while your level is admin.</p>`
    : html`<p class="warning" role="note">They require the level admin, which you do not have. You can create the token, but its calls are refused until you have that level.</p>`;
}

function scopeField({ scope, title, detail, writes }: ScopeWords, { scopes }: Typed): Html {
  const label = html`${title}${writes && html` <span class="badge unsure">writes</span>`}`;
  const hint = html`${detail} <code>${scope}</code>`;
  const id = `scope-${scope.replace(/\W/g, '-')}`;
  return checkField({ id, name: 'scope', value: scope, label, hint, checked: scopes.includes(scope) });
}

export async function createToken(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { caller } = request.access;
  const tokenRights = await readTokenRights(request, parts);
  if (tokenRights.refused !== undefined) return refusedPage(tokenRights.refused, request, parts);
  const typed = readTyped(request.form);
  const showProblems = (problems: Problems) => formPage(typed, problems, tokenRights, request, parts);
  const expiresAt = readExpiry(typed, parts.clock.now(), caller.timezone);
  const problems = findProblems(typed, expiresAt);
  if (Object.keys(problems).length > 0 || expiresAt === undefined) return showProblems(problems);
  // OWASP ASVS 3.7.1: an open browser is not enough to create a token that outlives the session.
  if (tokenRights.requiresPassword) {
    const answer = await confirmPassword(request, parts, tokenRights.requiresCode);
    if (answer.state === 'throttled') return throttledAnswer(answer.retryAfterSeconds, 'try again.');
    if (answer.state === 'failed')
      return showProblems(answer.wrong === 'code' ? { code: wrongCodeText } : { password: wrongCurrentPassword });
  }
  if (!(await isFirst(request, parts))) return showProblems({ name: alreadySubmitted });
  const { name, scopes } = typed;
  const newToken = { userId: caller.id, name, scopes, expiresAt, sso: tokenRights.sso };
  const created = await parts.store.tokens.create(newToken, caller.id).catch((error: unknown) => {
    if (isAppError(error, 'INVALID_ARGUMENT') && error.details.argument === 'name') return error.details.problem;
    throw error;
  });
  if (typeof created === 'string') return showProblems({ name: sentence(created) });
  const clientId = `token:${name}`;
  parts.observe({ type: 'security', event: 'token.made', userId: caller.id, clientId, detail: `${created.token.id}` });
  return createdPage(created.token, created.secret, request, parts);
}

const alreadySubmitted = 'This form was already sent. To create another token, submit it again.';

/**
 * Whether the form is new. Each form creates one token, and a reload submits it again, even after the token was
 * revoked.
 */
async function isFirst({ form, access }: SignedInRequest, { store }: Parts): Promise<boolean> {
  const formId = form.get('once') ?? '';
  if (!/^[\w-]{22}$/.test(formId)) return false;
  return (await store.windows.add(`new token ${access.caller.id} ${formId}`, FORM_MS)).count === 1;
}

/** Longer than a session, which the form's CSRF token depends on. */
const FORM_MS = 90 * 86_400_000;

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

/** The secret is shown only once. */
function createdPage(token: ApplicationToken, secret: string, request: SignedInRequest, parts: Parts): Answer {
  const { expiresAt, scopes, name } = token;
  const until =
    expiresAt === null ? 'until you revoke it' : html`until ${showTime(expiresAt, request.access.caller.timezone)}`;
  const content = html`<h1>Your token</h1>
<p class="lead">“${name}” can ${scopes.map(titleOf).join(', ')}, ${until}. Copy it now: it is shown only once.</p>
${copyable(secret, 'the token')}
${needsAdmin(token) && request.access.caller.permissionLevel !== 'admin' && html`<p class="warning" role="note">Its calls are refused until your level is admin.</p>`}
<h2 class="plainly">Try it</h2>
${examples(token, secret, request, parts)}
<p class="spaced"><a class="button primary slim" href="${parts.paths.path(under)}">Done</a></p>`;
  return { page: createFramedPage(request, parts, { title: 'Your token', under, content }) };
}

const exampleBody = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';

function examples({ entrance }: ApplicationToken, secret: string, { access }: SignedInRequest, parts: Parts): Html {
  const { mcpUrl, agentUrl, apiUrl, engine } = parts;
  const header = `Authorization: Bearer ${secret}`;
  if (entrance === 'api') return copyable(`curl -H '${header}' ${apiUrl}/token`, 'the command');
  if (entrance === 'agent') {
    const [{ name } = { name: 'collection' }] = engine.index(access);
    return copyable(`curl -H '${header}' '${agentUrl}/${encodeURIComponent(name)}'`, 'the command');
  }
  const types = "-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'";
  return html`${copyable(`curl ${mcpUrl} -H '${header}' ${types} -d '${exampleBody}'`, 'the command')}
<p class="quietly">In Claude Code:</p>
${copyable(`claude mcp add --transport http portico ${mcpUrl} --header '${header}'`, 'the command for Claude Code')}`;
}
