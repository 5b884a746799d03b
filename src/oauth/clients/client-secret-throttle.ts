// Limits failed client authentication. Secrets contain 256 random bits and assertions are signed, so no guess can
// succeed. But each attempt costs a storage read or a signature check, and a client that keeps failing is broken or
// hostile. Failures are counted per client and address. Other users of the same client, or of the same address, are not
// affected. Public clients are never counted.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/clock.ts';
import { createAddressLimiter } from '../../core/limit/addresses.ts';
import { sharedLimiters, type Windows } from '../../core/limit.ts';
import { hashToken } from '../../core/secret.ts';

/** Failures allowed for one client from one address in 15 minutes. */
const FAILURE_LIMIT = { points: 100, seconds: 900 } as const;

interface ClientSecretThrottle {
  /**
   * Runs `work` for a request. RATE_LIMITED if the client failed too often. `failed` inspects the response afterwards.
   */
  run(request: ClientRequest, work: () => Promise<void>, isFailed: () => boolean): Promise<void>;
}

interface ClientRequest {
  readonly req: IncomingMessage;
  readonly form: URLSearchParams;
  /** Client address. */
  readonly address: string;
}

/** The count is shared by all processes. */
export function createClientSecretThrottle(shared: {
  readonly windows: Windows;
  readonly clock: Pick<Clock, 'now'>;
}): ClientSecretThrottle {
  const guesses = createAddressLimiter(sharedLimiters(shared), 'oauth-secret', FAILURE_LIMIT);
  return {
    async run(request, work, isFailed) {
      const client = findAuthenticatingClient(request);
      if (client === undefined) return work();
      const { address } = request;
      const clientKey = `${hashToken(client)} `;
      // RFC 6749 section 2.3.1: endpoints that accept client secrets must be protected against guessing. The attempt is
      // counted before the check, because parallel guesses must not bypass the limit.
      await guesses.consume(address, clientKey);
      await work();
      if (!isFailed()) await guesses.giveBack(address, clientKey);
    },
  };
}

/**
 * The client id of a request that authenticates its client; otherwise undefined. With HTTP Basic the credentials
 * contain the id.
 */
function findAuthenticatingClient({ req, form }: ClientRequest): string | undefined {
  const [, credentials] = /^Basic +(.+)$/i.exec(req.headers.authorization ?? '') ?? [];
  if (credentials !== undefined) return Buffer.from(credentials, 'base64').toString('utf8').split(':')[0];
  // RFC 7521 section 4.2: without a `client_id`, the assertion identifies the client.
  const assertion = form.get('client_assertion');
  if (assertion !== null) return form.get('client_id') ?? readSubject(assertion);
  return form.has('client_secret') ? (form.get('client_id') ?? '') : undefined;
}

/** Reads the subject of an unverified assertion. */
function readSubject(assertion: string): string {
  try {
    const [, payload = ''] = assertion.split('.');
    return `${(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { readonly sub?: unknown }).sub}`;
  } catch {
    return '';
  }
}
