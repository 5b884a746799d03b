// Renders one connection.

import { type Html, html } from '../../../http/html.ts';
import {
  describeClient,
  describeDestination,
  clientTitle as titleOfClient,
} from '../../../oauth/clients/display-name.ts';
import type { Connection } from '../../../oauth/consent/connection.ts';
import { isResourceScope, scopeTexts } from '../../../oauth/server/scopes.ts';
import type { User } from '../../../store/users/types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { describeWait, showTime } from '../../ui/times.ts';

interface Listed {
  /** Page that contains the row. */
  readonly page: string;
  /** Owner, shown where the page does not imply it. */
  readonly user?: User | undefined;
}

/** Maximum number of names to show; the rest becomes a count. */
const NAMED = 6;
/** Characters of a user's name for a connection. */
export const MAX_NAME = 80;

export function connectionRow(
  connection: Connection,
  request: SignedInRequest,
  parts: Parts,
  { page, user }: Listed,
): Html {
  const { id, name, clientName, verifiedHost, returnsTo, scopes, createdAt, lastUsedAt, limits } = connection;
  const { timezone } = request.access.caller;
  const client = { name: clientName, ...(verifiedHost !== undefined && { verifiedHost }) };
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Person', user && html`${`${user.firstName} ${user.lastName}`.trim() || user.email}<small>${user.email}</small>`],
    ['Name', name],
    ['Permissions', scopes.map(titleOf).join(', ')],
    ['Limits', limitsText(connection, request.access.caller.id)],
    ['Returns to', returnsTo && describeDestination(returnsTo)],
    ['Since', showTime(createdAt, timezone)],
    ['Last used', lastUsedAt === null ? 'never' : `${describeWait(parts.clock.now() - lastUsedAt)} ago`],
    ['Expires', limits.endsAt === null ? undefined : showTime(limits.endsAt, timezone)],
  ];
  return html`<li><h2>${describeClient(client, returnsTo)}</h2>
<dl>${facts.map(([name, text]) => text && html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
<form method="post" action="${parts.paths.path(`/apps/${id}`)}">
<input type="hidden" name="csrf" value="${request.csrf}"><input type="hidden" name="from" value="${page}">
<button class="plain" name="action" value="disconnect" aria-label="Disconnect ${titleOfClient(client, returnsTo)} (${clientName})${user && ` of ${user.email}`}">Disconnect</button>
</form>
${
  connection.userId === request.access.caller.id &&
  !user &&
  html`<form method="post" action="${parts.paths.path(`/apps/${id}`)}" class="naming">
<input type="hidden" name="csrf" value="${request.csrf}">
<input name="name" value="${name}" maxlength="${MAX_NAME}" autocomplete="off" placeholder="Name, such as “laptop”" aria-label="Name of ${clientName}">
<button class="plain" name="action" value="name" aria-label="Save the name of ${clientName}">Save</button>
</form>`
}</li>`;
}

function titleOf(scope: string): string {
  return isResourceScope(scope) ? scopeTexts[scope].title.toLowerCase() : scope;
}

/** Only the user who chose the collections sees their names: other users may not be allowed to. */
function limitsText({ limits, userId }: Connection, readerId: number): string | undefined {
  const { readOnly, collections } = limits;
  const count = collections?.length ?? 0;
  const counted = `${count} ${count === 1 ? 'collection' : 'collections'}`;
  const names = userId === readerId && count <= NAMED ? `${counted} (${collections?.join(', ')})` : counted;
  return [readOnly && 'read-only', collections && `only ${names}`].filter(Boolean).join('; ') || undefined;
}
