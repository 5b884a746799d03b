// Application tokens: the user's own, and for administrators those of all users. A revoked token fails at once, in
// every process.
import { levelOf } from '../../../api/token-routes.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ApplicationToken } from '../../../store/oauth/token-types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { buttonTo, field, filterForm, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { entranceWords, titleOf } from './words.ts';

const own = '/tokens';
const everyone = '/tokens/everyone';

const isAdmin = ({ access }: MemberVisit): boolean => access.caller.permissionLevel === 'admin';

const done = {
  revoked: 'The token is revoked: it opens nothing from now on.',
  gone: 'It was revoked already.',
};

export async function listTokens(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const all = await parts.store.tokens.list();
  const mine = all.filter(({ userId }) => userId === visit.access.caller.id);
  const content = html`<div class="head"><h1>Tokens</h1><a class="button primary slim" href="${parts.paths.path('/tokens/new')}">New token</a></div>
<p class="lead">For programs that cannot sign in. Whoever holds one works in your name.</p>
${flash(done, visit.query)}
${mine.length === 0 ? empty('You have no token', 'Assistants do not need one: they sign in. A script or a report does: make one for each, so that you can revoke it alone.') : tokenTable(mine, 'Your tokens', visit, parts, own)}
${isAdmin(visit) && html`<p class="quietly"><a href="${parts.paths.path(everyone)}">Tokens of everybody</a></p>`}`;
  return { page: createFramed(visit, parts, { title: 'Tokens', under: own, content, wide: true }) };
}

const states: Readonly<Record<string, (token: ApplicationToken, now: number) => boolean>> = {
  good: ({ expiresAt }, now) => expiresAt === null || expiresAt > now,
  expired: ({ expiresAt }, now) => expiresAt !== null && expiresAt <= now,
  unused: ({ lastUsedAt }) => lastUsedAt === null,
};

/** For administrators (console/routes.ts). */
export async function listTokensOfEveryone(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const user = (visit.query.get('user') ?? '').trim().slice(0, 254);
  const entrance = visit.query.get('entrance') ?? '';
  const state = visit.query.get('state') ?? '';
  const now = parts.clock.now();
  const isIn = Object.hasOwn(states, state) ? states[state]! : () => true;
  const found = (await parts.store.tokens.list()).filter(
    (token) =>
      token.email.toLowerCase().includes(user.toLowerCase()) &&
      (entrance === '' || token.entrance === entrance) &&
      isIn(token, now),
  );
  const filters = [
    field({ id: 'user', label: 'E-mail', type: 'search', value: user, most: 254 }),
    selectField({
      id: 'entrance',
      label: 'Opens',
      value: entrance,
      options: [
        ['', 'Either'],
        ['api', entranceWords.api.name],
        ['mcp', entranceWords.mcp.name],
      ],
    }),
    selectField({
      id: 'state',
      label: 'State',
      value: state,
      options: [
        ['', 'Any'],
        ['good', 'Good'],
        ['expired', 'Expired'],
        ['unused', 'Never used'],
      ],
    }),
  ];
  const content = html`<h1>Tokens of everybody</h1>
${flash(done, visit.query)}
${filterForm(parts, everyone, filters)}
${found.length === 0 ? empty('No token fits', 'Ask for less, or look at all of them.') : tokenTable(found, 'Tokens of everybody', visit, parts, everyone)}
<p class="quietly"><a href="${parts.paths.path(own)}">Your own</a></p>`;
  return { page: createFramed(visit, parts, { title: 'Tokens of everybody', under: own, content, wide: true }) };
}

function tokenTable(
  tokens: readonly ApplicationToken[],
  caption: string,
  visit: MemberVisit,
  parts: Parts,
  from: string,
): Html {
  const { timezone } = visit.access.caller;
  const now = parts.clock.now();
  const whose = from === everyone;
  const ends = ({ expiresAt }: ApplicationToken): Html | string => {
    if (expiresAt === null) return 'never';
    return html`${showTime(expiresAt, timezone)}${expiresAt <= now && html` <span class="badge unsure">expired</span>`}`;
  };
  const rows = tokens.map((token) => {
    const { id, name, email, entrance, scopes, createdAt, lastUsedAt, sso } = token;
    return [
      html`${name}${whose && html`<small>${email}</small>`}`,
      html`${entranceWords[entrance].name}<small>${levelOf(token)}${sso && ', by single sign-on'}</small>`,
      scopes.map(titleOf).join(', '),
      lastUsedAt === null ? 'never' : `${describeWait(now - lastUsedAt)} ago`,
      ends(token),
      showTime(createdAt, timezone),
      buttonTo(visit, parts, {
        page: `/tokens/${id}`,
        action: 'revoke',
        text: 'Revoke',
        label: `Revoke ${name}${whose ? ` of ${email}` : ''}`,
        values: { from },
      }),
    ];
  });
  const heads = ['Name', 'Opens', 'May', 'Last used', 'Ends', 'Made', 'Take back'];
  return table({ caption, heads, rows });
}

/** For the owner and administrators. Other users get the same response as for an unknown id. */
export async function revokeToken(visit: MemberVisit, { store, observe }: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const back = visit.form.get('from') === everyone && isAdmin(visit) ? everyone : own;
  const token = (await store.tokens.list()).find(({ id }) => `${id}` === visit.id);
  const isHis = token && (token.userId === caller.id || isAdmin(visit));
  const gone = isHis && (await store.tokens.revoke(token.id, caller.id));
  if (gone) {
    const clientId = `token:${gone.name}`;
    observe({ type: 'security', event: 'token.revoked', userId: caller.id, clientId, detail: `${gone.id}` });
  }
  return { to: `${back}?done=${gone ? 'revoked' : 'gone'}` };
}
