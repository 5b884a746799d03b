// The text of a mail with a one-time link.
import type { LinkPurpose } from '../store/sessions/types.ts';
import type { User } from '../store/users/types.ts';
import type { Mail } from './mail.ts';

interface LinkMail {
  readonly user: Pick<User, 'email' | 'firstName'>;
  readonly purpose: LinkPurpose;
  readonly organization: string;
  /** Address of the link. */
  readonly link: string;
  /** For example `7 days`. */
  readonly life: string;
}

export function writeLinkMail({ user, purpose, organization, link, life }: LinkMail): Mail {
  const isInvitation = purpose === 'invite';
  const lines = [
    user.firstName === '' ? 'Hello,' : `Hello ${user.firstName},`,
    isInvitation
      ? `You are invited to ${organization}. Choose a password with this link:`
      : `Choose a new password for ${organization} with this link:`,
    link,
    `The link works once and expires in ${life}. ${
      isInvitation
        ? 'If you did not expect it, ignore this mail.'
        : 'If you did not ask for it, ignore this mail: your password stays as it is.'
    }`,
  ];
  const subject = isInvitation ? `Invitation to ${organization}` : `A new password for ${organization}`;
  return { to: user.email, subject, text: `${lines.join('\n\n')}\n` };
}
