// Sends a one-time link by mail, or shows it to the administrator, only once. Its holder can choose a password.
import { type Html, html } from '../../../http/html.ts';
import { writeLinkMail } from '../../../notifications/link-mail.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { checkField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { describeLeft } from '../../ui/times.ts';
import { personPage } from '../rights/places.ts';
import { nameOf, under } from './list.ts';

/** Whether to send the link by mail; absent without a mail server. */
export const mailChoice = ({ mailer }: Parts): Html | false =>
  mailer !== null && checkField({ id: 'mail', name: 'mail', label: 'Send the link by mail', checked: true });

export async function linkAnswer(user: User, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { store, paths, clock, observe, mailer } = parts;
  const by = request.access.caller.id;
  const purpose = user.hasPassword ? 'reset' : 'invite';
  const { token, expiresAt } = await store.links.make(user.id, purpose, by);
  observe({ type: 'security', event: `user.${purpose}`, userId: by, address: request.address, detail: `${user.id}` });
  const link = paths.url(`/welcome/${token}`);
  const life = describeLeft(expiresAt - clock.now());
  const isAsked = mailer !== null && request.form.get('mail') !== null;
  const isSent =
    isAsked &&
    (await mailer.send(writeLinkMail({ user, purpose, organization: request.place.organization, link, life })));
  const title = purpose === 'invite' ? `${nameOf(user)} is invited` : `A new password for ${nameOf(user)}`;
  const content = html`<h1>${title}</h1>
${
  isSent
    ? html`<p class="lead">The link was sent to ${user.email}. It works once and expires in ${life}.</p>`
    : html`${isAsked && html`<p class="alert" role="alert">The mail server did not accept the mail. The log has the reason.</p>`}
<p class="lead">Send this link over a channel you trust. It is shown once, works once and expires in ${life}.</p>
${copyable(link, 'the link')}`
}
<p>${purpose === 'invite' ? 'They use it to set a password.' : 'The current password works until a new one is set. Then every session ends.'}</p>
<p><a class="button plain" href="${paths.path(personPage(user.id))}">Go to ${user.email}</a></p>`;
  return { page: createFramedPage(request, parts, { title, under, content }) };
}
