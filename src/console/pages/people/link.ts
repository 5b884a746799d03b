// Shows a one-time link to the administrator, only once. Its holder can choose a password.
import { html } from '../../../http/html.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { createFramed } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { describeWait } from '../../ui/times.ts';
import { personPage } from '../rights/places.ts';
import { nameOf, under } from './list.ts';

export async function linkAnswer(user: User, visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { store, paths, clock, observe } = parts;
  const by = visit.access.caller.id;
  const purpose = user.hasPassword ? 'reset' : 'invite';
  const { token, expiresAt } = await store.links.make(user.id, purpose, by);
  observe({ type: 'security', event: `user.${purpose}`, userId: by, address: visit.address, detail: `${user.id}` });
  const title = purpose === 'invite' ? `${nameOf(user)} is invited` : `A new password for ${nameOf(user)}`;
  const content = html`<h1>${title}</h1>
<p class="lead">Hand on this link, by a way that you trust. It is shown this once, works once, and for another ${describeWait(expiresAt - clock.now())}.</p>
${copyable(paths.url(`/welcome/${token}`), 'the link')}
<p>${purpose === 'invite' ? 'Opened, it lets the person choose a password.' : 'The present password works until another is chosen; then every session ends.'}</p>
<p><a class="button plain" href="${paths.path(personPage(user.id))}">Go to ${user.email}</a></p>`;
  return { page: createFramed(visit, parts, { title, under, content }) };
}
