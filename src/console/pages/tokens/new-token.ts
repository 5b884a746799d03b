// Creating a token: its use, scopes and expiry. The secret appears only in the response to the form, never in a URL,
// log or cache. A form is accepted once, so reloading the response neither shows the secret again nor creates another
// token.
import { isAppError } from '../../../core/errors.ts';
import { randomToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import { wrongCode } from '../../../oauth/login/sign-in-form.ts';
import type { ApplicationToken, TokenEntrance } from '../../../store/oauth/token-types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { checkField, field, formOf, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { showTime } from '../../ui/times.ts';
import { confirmPassword, wrongPresent } from '../account/account.ts';
import { toWait } from '../sign-in.ts';
import { emptyTyped, expiries, findProblems, type Problems, readExpiry, readTyped, type Typed } from './filters.ts';
import { entranceWords, needsAdmin, type ScopeWords, scopeWords, titleOf } from './words.ts';

const under = '/tokens';
const title = 'New token';
const entrances = ['api', 'mcp'] as const;

interface Standing {
  /** Spec public-http-api 5, 3: where SSO is required, the creator of a token must have signed in through it. */
  readonly refused: string | undefined;
  readonly sso: boolean;
  readonly needsPassword: boolean;
  /** Whether to require a code from the user's authenticator app. */
  readonly needsCode: boolean;
}

async function standingOf(visit: MemberVisit, { store, ways }: Parts): Promise<Standing> {
  const { id } = visit.access.caller;
  const [session, user, factor] = await Promise.all([
    store.sessions.find(visit.visitor.session?.id ?? ''),
    store.identity.findUser(id),
    store.secondFactors.of(id),
  ]);
  const issuer = session?.issuer ?? null;
  const sso = ways.sso !== undefined && issuer === ways.sso.issuer;
  const refused =
    ways.sso && !sso
      ? `Single sign-on is on here, and you signed in without it. Sign out, sign in with ${ways.sso.name}, and make the token then.`
      : undefined;
  const needsPassword = issuer === null && ways.passwords && Boolean(user?.hasPassword);
  return { refused, sso, needsPassword, needsCode: needsPassword && factor !== undefined };
}

export async function showNewToken(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const standing = await standingOf(visit, parts);
  if (standing.refused !== undefined) return refusedPage(standing.refused, visit, parts);
  const asked = visit.query.get('for');
  const entrance = entrances.find((one) => one === asked);
  return entrance === undefined ? choicePage(visit, parts) : formPage(emptyTyped(entrance), {}, standing, visit, parts);
}

function refusedPage(text: string, visit: MemberVisit, parts: Parts): Answer {
  const content = html`<h1>${title}</h1><p class="state bad" role="alert"><span><b>Not in this session</b>${text}</span></p>
<p><a href="${parts.paths.path(under)}">Your tokens</a></p>`;
  return { page: createFramed(visit, parts, { title, under, content }), status: 403 };
}

const offeredEntrances = ({ mcpUrl }: Parts): readonly TokenEntrance[] => (mcpUrl === null ? ['api'] : entrances);

function choicePage(visit: MemberVisit, parts: Parts): Answer {
  const ways = offeredEntrances(parts).map((entrance) => {
    const { title, detail } = entranceWords[entrance];
    return html`<li><a href="${parts.paths.path(`/tokens/new?for=${entrance}`)}"><b>${title}</b><span>${detail}</span></a></li>`;
  });
  const content = html`<h1>${title}</h1>
<p class="lead">Who is to use it? A token opens one entrance, never both.</p>
<ul class="rows">${ways}</ul>`;
  return { page: createFramed(visit, parts, { title, under, content }) };
}

function formPage(typed: Typed, problems: Problems, standing: Standing, visit: MemberVisit, parts: Parts): Answer {
  const wrong = Object.keys(problems).length > 0;
  const { entrance, level, expires, date, name } = typed;
  const words = entranceWords[entrance];
  const legend = (text: string, problem?: string) =>
    html`<legend>${text}</legend>${problem && html`<p class="note" role="alert">${problem}</p>`}`;
  const content = html`<h1>${title}</h1>
<p class="lead">${words.detail} Whoever holds it works in your name.</p>
${formOf(visit, parts, '/tokens/new')}<input type="hidden" name="entrance" value="${entrance}"><input type="hidden" name="once" value="${randomToken(128)}">
${field({ id: 'name', label: 'Name', value: name, most: 100, required: true, problem: problems.name, hint: 'Where it is used, such as “Nightly report”.' })}
<fieldset class="plain-set">${legend('It may')}
${checkField({ id: 'level-read', name: 'level', type: 'radio', value: 'read-only', checked: level === 'read-only', label: 'Read only', hint: 'It changes nothing, whatever else is chosen.' })}
${checkField({ id: 'level-write', name: 'level', type: 'radio', value: 'read-write', checked: level === 'read-write', label: 'Read and write' })}
</fieldset>
<fieldset class="plain-set">${legend('Scopes', problems.scopes)}
${adminNote(entrance, visit)}
${scopeWords[entrance].map((one) => scopeField(one, typed))}
</fieldset>
<div class="two">${selectField({ id: 'expires', label: 'It ends', value: expires, options: expiries, problem: problems.expires })}
${field({ id: 'date', label: 'The date, where you chose one', type: 'date', value: date })}</div>
${standing.needsPassword && field({ id: 'password', label: 'Your password', type: 'password', most: 1024, autocomplete: 'current-password', required: true, problem: problems.password, hint: 'Once more, since a token opens what you can open.' })}
${standing.needsCode && field({ id: 'code', label: 'Code', most: 40, autocomplete: 'one-time-code', required: true, problem: problems.code, hint: 'The six digits that your authenticator app shows now, or one of your recovery codes.' })}
<button class="primary slim" name="action" value="make">Make the token</button> <a class="aside" href="${parts.paths.path(under)}">Leave it</a>
</form>`;
  const page = createFramed(visit, parts, { title: wrong ? `Error: ${title}` : title, under, content });
  return { page, ...(wrong && { status: 400 }) };
}

function adminNote(entrance: TokenEntrance, { access }: MemberVisit): Html | false {
  if (!scopeWords[entrance].some(({ admin }) => admin)) return false;
  return access.caller.permissionLevel === 'admin'
    ? html`<p class="quietly">They count as long as you have the Admin role.</p>`
    : html`<p class="warning" role="note">They need the Admin role, which you have not got. You can make the token, and its calls are refused until you have it.</p>`;
}

function scopeField({ scope, title, detail, writes }: ScopeWords, { scopes }: Typed): Html {
  const label = html`${title}${writes && html` <span class="badge unsure">writes</span>`}`;
  const hint = html`${detail} <code>${scope}</code>`;
  const id = `scope-${scope.replace(/\W/g, '-')}`;
  return checkField({ id, name: 'scope', value: scope, label, hint, checked: scopes.includes(scope) });
}

export async function makeToken(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const standing = await standingOf(visit, parts);
  if (standing.refused !== undefined) return refusedPage(standing.refused, visit, parts);
  const typed = readTyped(visit.form);
  const again = (problems: Problems) => formPage(typed, problems, standing, visit, parts);
  const expiresAt = readExpiry(typed, parts.clock.now(), caller.timezone);
  const problems = findProblems(typed, expiresAt);
  if (Object.keys(problems).length > 0 || expiresAt === undefined) return again(problems);
  // OWASP ASVS 3.7.1: an open browser is not enough to create a token that outlives the session.
  if (standing.needsPassword) {
    const answer = await confirmPassword(visit, parts, standing.needsCode);
    if (answer.state === 'throttled') return toWait(answer.retryAfterSeconds, 'try again.');
    if (answer.state === 'failed')
      return again(answer.wrong === 'code' ? { code: wrongCode } : { password: wrongPresent });
  }
  if (!(await isFirst(visit, parts))) return again({ name: sentAlready });
  const { name, scopes } = typed;
  const wanted = { userId: caller.id, name, scopes, expiresAt, sso: standing.sso };
  const made = await parts.store.tokens.create(wanted, caller.id).catch((error: unknown) => {
    if (isAppError(error, 'INVALID_ARGUMENT') && error.details.argument === 'name') return error.details.problem;
    throw error;
  });
  if (typeof made === 'string') return again({ name: sentence(made) });
  const clientId = `token:${name}`;
  parts.observe({ type: 'security', event: 'token.made', userId: caller.id, clientId, detail: `${made.token.id}` });
  return madePage(made.token, made.secret, visit, parts);
}

const sentAlready = 'This form was sent already. If you want another token, send it once more.';

/**
 * Whether the form is new. Each form creates one token, and a reload submits it again, even after the token was
 * revoked.
 */
async function isFirst({ form, access }: MemberVisit, { store }: Parts): Promise<boolean> {
  const once = form.get('once') ?? '';
  if (!/^[\w-]{22}$/.test(once)) return false;
  return (await store.windows.add(`new token ${access.caller.id} ${once}`, FORM_MS)).count === 1;
}

/** Longer than a session, which the form's CSRF token depends on. */
const FORM_MS = 90 * 86_400_000;

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

/** The secret is shown only once. */
function madePage(token: ApplicationToken, secret: string, visit: MemberVisit, parts: Parts): Answer {
  const { expiresAt, scopes, name } = token;
  const until =
    expiresAt === null ? 'until you revoke it' : html`until ${showTime(expiresAt, visit.access.caller.timezone)}`;
  const content = html`<h1>Your token</h1>
<p class="lead">“${name}” may ${scopes.map(titleOf).join(', ')}, ${until}. Copy it now: it is not shown again, to anybody.</p>
${copyable(secret, 'the token')}
${needsAdmin(token) && visit.access.caller.permissionLevel !== 'admin' && html`<p class="warning" role="note">Its calls are refused until you have the Admin role.</p>`}
<h2 class="plainly">Try it</h2>
${examples(token, secret, parts)}
<p class="spaced"><a class="button primary slim" href="${parts.paths.path(under)}">I have kept it</a></p>`;
  return { page: createFramed(visit, parts, { title: 'Your token', under, content }) };
}

const ask = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';

function examples({ entrance }: ApplicationToken, secret: string, { mcpUrl, apiUrl }: Parts): Html {
  const header = `Authorization: Bearer ${secret}`;
  if (entrance === 'api') return copyable(`curl -H '${header}' ${apiUrl}/token`, 'the command');
  const types = "-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'";
  return html`${copyable(`curl ${mcpUrl} -H '${header}' ${types} -d '${ask}'`, 'the command')}
<p class="quietly">In Claude Code:</p>
${copyable(`claude mcp add --transport http portico ${mcpUrl} --header '${header}'`, 'the command for Claude Code')}`;
}
