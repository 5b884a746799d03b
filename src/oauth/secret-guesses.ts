// Guessing client secrets. They hold 256 random bits, so that no guess can be right; but each costs a look into the storage,
// and a client that keeps failing with a secret is a broken or a hostile one. What counts is a client and the address
// that speaks for it: others with the same client, or behind the same address, are not held up. Clients without a secret are never counted.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { createSharedLimiter, type Windows } from '../core/limit.ts';
import { hashToken } from '../core/secret.ts';

/** Failures of one client from one address in a quarter of an hour. */
const window = { points: 100, seconds: 900 } as const;

export interface SecretGuesses {
  /** Does the work of a request, unless its client failed too often: RATE_LIMITED. `failed` looks at the answer. */
  watch(presented: Presented, work: () => Promise<void>, failed: () => boolean): Promise<void>;
}

export interface Presented {
  readonly req: IncomingMessage;
  readonly form: URLSearchParams;
  /** The client's address. */
  readonly address: string;
}

/** All processes count together. */
export function createSecretGuesses(shared: {
  readonly windows: Windows;
  readonly clock: Pick<Clock, 'now'>;
}): SecretGuesses {
  const guesses = createSharedLimiter('oauth-secret', window, shared);
  return {
    async watch(presented, work, failed) {
      const client = clientWithSecret(presented);
      if (client === undefined) return work();
      const key = hashToken(`${client} ${presented.address}`);
      // RFC 6749 section 2.3.1: endpoints that take client secrets are protected against guessing. Counted before the
      // secret is looked at, so that guesses side by side cannot slip through.
      await guesses.consume(key);
      await work();
      if (!failed()) await guesses.giveBack(key);
    },
  };
}

/** Who a request says it is, where it brings a secret along; by HTTP Basic the name is part of what is sent. */
function clientWithSecret({ req, form }: Presented): string | undefined {
  const [, credentials] = /^Basic +(.+)$/i.exec(req.headers.authorization ?? '') ?? [];
  if (credentials !== undefined) return Buffer.from(credentials, 'base64').toString('utf8').split(':')[0];
  return form.has('client_secret') ? (form.get('client_id') ?? '') : undefined;
}
