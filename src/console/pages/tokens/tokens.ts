// Application tokens: the user's own, and for administrators those of all users. A revoked token fails at once, in
// every process.
import { levelOf } from '../../../api/token-routes.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ApplicationToken } from '../../../store/oauth/token-types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { buttonTo, field, filterForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { entrances, entranceWords, titleOf } from './words.ts';

const own = '/tokens';
const everyone = '/tokens/everyone';

const isAdmin = ({ access }: SignedInRequest): boolean => access.caller.permissionLevel === 'admin';

const done = {
  revoked: 'Token revoked. It no longer works.',
  gone: 'Already revoked.',
};

export async function listTokens(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const all = await parts.store.tokens.list();
  const ownTokens = all.filter(({ userId }) => userId === request.access.caller.id);
  const content = html`<div class="head"><h1>Tokens</h1><a class="button primary slim" href="${parts.paths.path('/tokens/new')}">New token</a></div>
<p class="lead">For programs that cannot sign in. Any program that has a token acts in your name.</p>
${flash(done, request.query)}
${ownTokens.length === 0 ? empty('You have no token', 'Assistants sign in and need no token. Create one for each script or report, so you can revoke each separately.') : tokenTable(ownTokens, 'Your tokens', request, parts, own)}
${isAdmin(request) && html`<p class="quietly"><a href="${parts.paths.path(everyone)}">Tokens of all users</a></p>`}`;
  return { page: createFramedPage(request, parts, { title: 'Tokens', under: own, content, wide: true }) };
}

const states: Readonly<Record<string, (token: ApplicationToken, now: number) => boolean>> = {
  good: ({ expiresAt }, now) => expiresAt === null || expiresAt > now,
  expired: ({ expiresAt }, now) => expiresAt !== null && expiresAt <= now,
  unused: ({ lastUsedAt }) => lastUsedAt === null,
};

/** For administrators (console/routes.ts). */
export async function listTokensOfEveryone(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const user = (request.query.get('user') ?? '').trim().slice(0, 254);
  const entrance = request.query.get('entrance') ?? '';
  const state = request.query.get('state') ?? '';
  const now = parts.clock.now();
  const isIn = Object.hasOwn(states, state) ? states[state]! : () => true;
  const found = (await parts.store.tokens.list()).filter(
    (token) =>
      token.email.toLowerCase().includes(user.toLowerCase()) &&
      (entrance === '' || token.entrance === entrance) &&
      isIn(token, now),
  );
  const filters = [
    field({ id: 'user', label: 'E-mail', type: 'search', value: user, maxLength: 254 }),
    selectField({
      id: 'entrance',
      label: 'API',
      value: entrance,
      options: [['', 'Any'], ...entrances.map((one): [string, string] => [one, entranceWords[one].name])],
    }),
    selectField({
      id: 'state',
      label: 'State',
      value: state,
      options: [
        ['', 'Any'],
        ['good', 'Valid'],
        ['expired', 'Expired'],
        ['unused', 'Never used'],
      ],
    }),
  ];
  const content = html`<h1>Tokens of all users</h1>
${flash(done, request.query)}
${filterForm(parts, everyone, filters)}
${found.length === 0 ? empty('No results', 'Clear the filters.') : tokenTable(found, 'Tokens of all users', request, parts, everyone)}
<p class="quietly"><a href="${parts.paths.path(own)}">Your tokens</a></p>`;
  return { page: createFramedPage(request, parts, { title: 'Tokens of all users', under: own, content, wide: true }) };
}

function tokenTable(
  tokens: readonly ApplicationToken[],
  caption: string,
  request: SignedInRequest,
  parts: Parts,
  from: string,
): Html {
  const { timezone } = request.access.caller;
  const now = parts.clock.now();
  const showsOwners = from === everyone;
  const ends = ({ expiresAt }: ApplicationToken): Html | string => {
    if (expiresAt === null) return 'never';
    return html`${showTime(expiresAt, timezone)}${expiresAt <= now && html` <span class="badge unsure">expired</span>`}`;
  };
  const rows = tokens.map((token) => {
    const { id, name, email, entrance, scopes, createdAt, lastUsedAt, sso } = token;
    return [
      html`${name}${showsOwners && html`<small>${email}</small>`}`,
      html`${entranceWords[entrance].name}<small>${levelOf(token)}${sso && ', by single sign-on'}</small>`,
      scopes.map(titleOf).join(', '),
      lastUsedAt === null ? 'never' : `${describeWait(now - lastUsedAt)} ago`,
      ends(token),
      showTime(createdAt, timezone),
      buttonTo(request, parts, {
        page: `/tokens/${id}`,
        action: 'revoke',
        text: 'Revoke',
        label: `Revoke ${name}${showsOwners ? ` of ${email}` : ''}`,
        values: { from },
      }),
    ];
  });
  const heads = ['Name', 'API', 'Permissions', 'Last used', 'Expires', 'Created', 'Actions'];
  return table({ caption, heads, rows });
}

/** For the owner and administrators. Other users get the same response as for an unknown id. */
export async function revokeToken(request: SignedInRequest, { store, observe }: Parts): Promise<Answer> {
  const { caller } = request.access;
  const back = request.form.get('from') === everyone && isAdmin(request) ? everyone : own;
  const token = (await store.tokens.list()).find(({ id }) => `${id}` === request.id);
  const mayRevoke = token && (token.userId === caller.id || isAdmin(request));
  const revoked = mayRevoke && (await store.tokens.revoke(token.id, caller.id));
  if (revoked) {
    const clientId = `token:${revoked.name}`;
    observe({ type: 'security', event: 'token.revoked', userId: caller.id, clientId, detail: `${revoked.id}` });
  }
  return { to: `${back}?done=${revoked ? 'revoked' : 'gone'}` };
}
