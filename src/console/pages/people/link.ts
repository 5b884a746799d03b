// Shows a one-time link to the administrator, only once. Its holder can choose a password.
import { html } from '../../../http/html.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { describeLeft } from '../../ui/times.ts';
import { personPage } from '../rights/places.ts';
import { nameOf, under } from './list.ts';

export async function linkAnswer(user: User, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { store, paths, clock, observe } = parts;
  const by = request.access.caller.id;
  const purpose = user.hasPassword ? 'reset' : 'invite';
  const { token, expiresAt } = await store.links.make(user.id, purpose, by);
  observe({ type: 'security', event: `user.${purpose}`, userId: by, address: request.address, detail: `${user.id}` });
  const title = purpose === 'invite' ? `${nameOf(user)} is invited` : `A new password for ${nameOf(user)}`;
  const content = html`<h1>${title}</h1>
<p class="lead">Send this link over a channel you trust. It is shown once, works once and expires in ${describeLeft(expiresAt - clock.now())}.</p>
${copyable(paths.url(`/welcome/${token}`), 'the link')}
<p>${purpose === 'invite' ? 'They use it to set a password.' : 'The current password works until a new one is set. Then every session ends.'}</p>
<p><a class="button plain" href="${paths.path(personPage(user.id))}">Go to ${user.email}</a></p>`;
  return { page: createFramedPage(request, parts, { title, under, content }) };
}
