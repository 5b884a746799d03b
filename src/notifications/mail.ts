// Mail by SMTP (RFC 5321, RFC 8314), with the optional package nodemailer: invitations and links for a forgotten
// password. Plain text only. Without TLS nothing is sent but to this machine, because links in mails are secrets.
import { importOptional } from '../core/config/optional-package.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Whether the mail server accepted the mail. A failure is logged without the text. Takes at most about 30 seconds. */
  send(mail: Mail): Promise<boolean>;
  close(): void;
}

const TIMEOUT_MS = 10_000;

interface MailerParts {
  readonly config: Pick<Config, 'mailUrl' | 'mailFrom'>;
  readonly observe: Observe;
}

/** CONFIGURATION if the package is not installed. */
async function openTransport(mailUrl: string, mailFrom: string) {
  const { createTransport } = await importOptional('nodemailer', () => import('nodemailer'));
  const { protocol, hostname, port, username, password } = new URL(mailUrl);
  const isTls = protocol === 'smtps:';
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return createTransport(
    {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (isTls ? 465 : 587) : Number(port),
      secure: isTls,
      // RFC 8314 section 3.3: no fallback to plain text.
      requireTLS: !isTls && !isLocal,
      // A server that offers no sign-in must not be used without one.
      ...(username !== '' && {
        forceAuth: true,
        auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
      }),
      pool: true,
      maxConnections: 2,
      ...{
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        dnsTimeout: TIMEOUT_MS,
      },
      // Texts cannot name files or addresses to attach.
      ...{ disableFileAccess: true, disableUrlAccess: true },
    },
    // RFC 3834 section 5: answering machines do not answer.
    { from: mailFrom, headers: { 'Auto-Submitted': 'auto-generated' } },
  );
}

/** Null if no mail server is configured. CONFIGURATION if the package is not installed. */
export async function createMailer({ config, observe }: MailerParts): Promise<Mailer | null> {
  if (config.mailUrl === null || config.mailFrom === null) return null;
  const transport = await openTransport(config.mailUrl, config.mailFrom);
  return {
    async send({ to, subject, text }) {
      try {
        // An address, not a list of addresses.
        await transport.sendMail({ to: { name: '', address: to }, subject: subject.replace(/\s+/g, ' '), text });
        return true;
      } catch (cause) {
        observe({ type: 'warning', message: `The mail server did not accept a mail: ${(cause as Error).message}` });
        return false;
      }
    },
    close: () => transport.close(),
  };
}

/** Codes of nodemailer. Its messages repeat what the server wrote, which can contain the name of the user. */
const problems: Readonly<Record<string, string>> = {
  EAUTH: 'it refuses the user or the password of SERVICE_MAIL_URL',
  ENOAUTH: 'it refuses the user or the password of SERVICE_MAIL_URL',
  ETLS: 'the connection cannot be encrypted: it offers no STARTTLS, or its certificate is not trusted',
  EDNS: 'the host of SERVICE_MAIL_URL is unknown',
  ECONNECTION: 'nothing answers at the host and port of SERVICE_MAIL_URL',
  ESOCKET: 'the connection failed: check the host, the port, and smtp: or smtps: in SERVICE_MAIL_URL',
  ETIMEDOUT: 'no answer within 10 seconds',
};

/** Connects with TLS and signs in, but sends nothing. Returns what is wrong. CONFIGURATION without the package. */
export async function probeMailServer(mailUrl: string, mailFrom: string): Promise<string | undefined> {
  const transport = await openTransport(mailUrl, mailFrom);
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    const { code = '', cause } = error as { readonly code?: string; readonly cause?: { readonly code?: string } };
    return problems[code] ?? `it cannot be used (${cause?.code ?? (code || 'unknown reason')})`;
  } finally {
    transport.close();
  }
}
