// What stands before the device authorization (RFC 8628): its endpoints are open to everybody, so that they are limited. The
// codes that people type are short; what keeps them from being guessed is counted here, for all processes.
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { createLimiter, createSharedLimiter } from '../core/limit.ts';
import { hashToken } from '../core/secret.ts';
import type { Store } from '../store/store.ts';
import { byHash } from './adapter.ts';
import { deviceGrant } from './metadata.ts';

/** Told to the client; it must wait at least so long between two questions. */
export const pollSeconds = 2;
const requestsPerHour = 60;
const guessSeconds = 900;

export interface DeviceFront {
  /** RATE_LIMITED when somebody at this address begins too often. */
  admit(address: string): Promise<void>;
  /** Does the work of a typed code; RATE_LIMITED when too many of this address were wrong. */
  guess(address: string, work: () => Promise<void>, isWrong: () => boolean): Promise<void>;
  /** The answer to a question that is not even asked: its status is 400. Undefined for one that is. */
  refusal(form: URLSearchParams): Promise<{ readonly error: string; readonly error_description: string } | undefined>;
}

export function createDeviceFront(parts: {
  readonly store: Pick<Store, 'windows'>;
  readonly config: Pick<Config, 'signInAttempts'>;
  readonly clock: Pick<Clock, 'now'>;
}): DeviceFront {
  const { store, config, clock } = parts;
  const shared = { windows: store.windows, clock };
  const requests = createSharedLimiter('device-request', { points: requestsPerHour, seconds: 3600 }, shared);
  const guesses = createSharedLimiter('device-code', { points: config.signInAttempts, seconds: guessSeconds }, shared);
  // One more than the interval has room for: clocks differ, and answers take their time.
  const polls = createLimiter('device-poll', { points: 2, seconds: pollSeconds });
  return {
    admit: (address) => requests.consume(address),
    async guess(address, work, isWrong) {
      // RFC 8628 section 5.1: counted before the code is looked at, so that guesses side by side cannot slip through.
      await guesses.consume(address);
      await work();
      if (!isWrong()) await guesses.giveBack(address);
    },
    async refusal(form) {
      if (form.get('grant_type') !== deviceGrant) return undefined;
      const code = form.get('device_code') ?? '';
      // The name that the storage knows it by opens nothing: whoever reads the storage holds no code.
      if (code.startsWith(byHash)) return { error: 'invalid_grant', error_description: 'The device code is unknown.' };
      try {
        await polls.consume(hashToken(code));
        return undefined;
      } catch (error) {
        if (!isAppError(error, 'RATE_LIMITED')) throw error;
        // RFC 8628 section 3.5.
        const error_description = 'Asked too often: wait five seconds longer between two questions.';
        return { error: 'slow_down', error_description };
      }
    },
  };
}
