// Rate limits for device authorization (RFC 8628), because its endpoints are open to any client. User codes are short,
// so wrong guesses are counted, over all processes.
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { isAppError } from '../../core/errors.ts';
import { createAddressLimiter } from '../../core/limit/addresses.ts';
import { createLimiter, sharedLimiters } from '../../core/limit.ts';
import { hashToken } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import { HASH_PREFIX } from '../server/adapter.ts';
import { deviceGrant } from '../server/metadata.ts';

/** Seconds that a client must wait between two polls; sent in the response. */
export const pollSeconds = 2;
const MAX_REQUESTS_PER_HOUR = 60;
const guessSeconds = 900;

interface DeviceLimits {
  /** RATE_LIMITED if this address starts too many device authorizations. */
  countRequest(address: string): Promise<void>;
  /** Runs `work` for an entered code. RATE_LIMITED after too many wrong codes from this address. */
  limitGuesses(address: string, work: () => Promise<void>, isWrong: () => boolean): Promise<void>;
  /** Returns the error (status 400) for a poll that must not reach the provider; otherwise undefined. */
  findPollError(
    form: URLSearchParams,
  ): Promise<{ readonly error: string; readonly error_description: string } | undefined>;
}

export function createDeviceLimits(parts: {
  readonly store: Pick<Store, 'windows'>;
  readonly config: Pick<Config, 'signInAttempts'>;
  readonly clock: Pick<Clock, 'now'>;
}): DeviceLimits {
  const { store, config, clock } = parts;
  const shared = sharedLimiters({ windows: store.windows, clock });
  const requests = createAddressLimiter(shared, 'device-request', { points: MAX_REQUESTS_PER_HOUR, seconds: 3600 });
  const guesses = createAddressLimiter(shared, 'device-code', { points: config.signInAttempts, seconds: guessSeconds });
  // One poll more than the interval allows, for differences in clocks and response times.
  const polls = createLimiter('device-poll', { points: 2, seconds: pollSeconds });
  return {
    countRequest: (address) => requests.consume(address),
    async limitGuesses(address, work, isWrong) {
      // RFC 8628 section 5.1: counted before the code is checked, because parallel guesses must not bypass the limit.
      await guesses.consume(address);
      await work();
      if (!isWrong()) await guesses.giveBack(address);
    },
    async findPollError(form) {
      if (form.get('grant_type') !== deviceGrant) return undefined;
      const code = form.get('device_code') ?? '';
      // The id in the storage is not accepted as a code, so read access to the storage reveals no usable code.
      if (code.startsWith(HASH_PREFIX))
        return { error: 'invalid_grant', error_description: 'The device code is unknown.' };
      try {
        await polls.consume(hashToken(code));
        return undefined;
      } catch (error) {
        if (!isAppError(error, 'RATE_LIMITED')) throw error;
        // RFC 8628 section 3.5.
        const error_description = 'Polling too often: wait five seconds longer between requests.';
        return { error: 'slow_down', error_description };
      }
    },
  };
}
