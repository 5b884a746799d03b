// One connection, as people read it.
import type { Connection } from '../oauth/connection.ts';
import { describeClient, describeDestination } from '../oauth/consent-view.ts';
import { type Html, html } from '../oauth/html.ts';
import { isResourceScope, scopeTexts } from '../oauth/scopes.ts';
import type { User } from '../store/identity-types.ts';
import { describeWait, showTime } from './times.ts';
import type { MemberVisit, Parts } from './visit.ts';

export interface Listed {
  /** The page that the row stands on. */
  readonly page: string;
  /** Whose it is, where that is not plain. */
  readonly user?: User | undefined;
}

/** So many names are shown; of more, how many there are. */
const NAMED = 6;

export function connectionRow(connection: Connection, visit: MemberVisit, parts: Parts, { page, user }: Listed): Html {
  const { clientName, verifiedHost, returnsTo, scopes, createdAt, lastUsedAt, limits } = connection;
  const { timezone } = visit.access.caller;
  const client = { name: clientName, ...(verifiedHost !== undefined && { verifiedHost }) };
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Person', user && html`${`${user.firstName} ${user.lastName}`.trim() || user.email}<small>${user.email}</small>`],
    ['May', scopes.map(titleOf).join(', ')],
    ['Limited', limitsText(connection, visit.access.caller.id)],
    ['Answers go to', returnsTo && describeDestination(returnsTo)],
    ['Since', showTime(createdAt, timezone)],
    ['Last used', lastUsedAt === null ? 'never' : `${describeWait(parts.clock.now() - lastUsedAt)} ago`],
    ['Ends', limits.endsAt === null ? undefined : showTime(limits.endsAt, timezone)],
  ];
  return html`<li><h2>${describeClient(client, returnsTo?.kind !== 'web')}</h2>
<dl>${facts.map(([name, text]) => text && html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
<form method="post" action="${parts.paths.path(`/apps/${connection.id}`)}">
<input type="hidden" name="csrf" value="${visit.csrf}"><input type="hidden" name="from" value="${page}">
<button class="plain" name="action" value="disconnect" aria-label="Disconnect ${clientName}${user && ` of ${user.email}`}">Disconnect</button>
</form></li>`;
}

function titleOf(scope: string): string {
  return isResourceScope(scope) ? scopeTexts[scope].title.toLowerCase() : scope;
}

/** Names of collections are told to the one who chose them: others may not be allowed to know them. */
function limitsText({ limits, userId }: Connection, readerId: number): string | undefined {
  const { readOnly, collections } = limits;
  const count = collections?.length ?? 0;
  const counted = `${count} ${count === 1 ? 'collection' : 'collections'}`;
  const names = userId === readerId && count <= NAMED ? `${counted} (${collections?.join(', ')})` : counted;
  return [readOnly && 'only reads', collections && `only ${names}`].filter(Boolean).join('; ') || undefined;
}
