// One-time codes of an authenticator app (TOTP) and recovery codes. The app's secret is encrypted with the secret of
// the installation, and recovery codes are stored as keyed hashes. A copy of the database reveals neither. Each code
// works once across all processes, because one conditional statement consumes it.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { decrypt, encrypt, randomToken, sign } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/duplicates.ts';
import { logChange } from '../permissions/roles.ts';
import type { SecondFactors } from '../sessions/types.ts';

const STEP_MS = 30_000;
/** RFC 6238 section 5.2: one step before and after allows for clock drift and slow typing. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
/** Without similar letters and digits: 32 characters of 5 bits; 16 of them are 80 bits. */
const signs = 'abcdefghijkmnpqrstuvwxyz23456789';
const RECOVERY_LENGTH = 16;

/** Loaded on first use. */
const loadPackage = () => import('otpauth');

export function createSecondFactors(database: Database, clock: Clock, getSecret: () => string): SecondFactors {
  const { knex } = database;
  // A separate key: data encrypted with it cannot be confused with other encrypted data.
  const key = () => sign('second-factors', getSecret());
  const hashOf = (userId: number, code: string) => sign(`recovery ${userId} ${code}`, key());

  /** The time step of the code; null when it matches no step in the window. */
  async function findStep(secret: string, code: string): Promise<number | null> {
    const { Secret, TOTP } = await loadPackage();
    const timestamp = clock.now();
    const delta = new TOTP({ secret: Secret.fromBase32(secret) }).validate({ token: code, timestamp, window: WINDOW });
    return delta === null ? null : Math.floor(timestamp / STEP_MS) + delta;
  }

  async function writeRecoveryCodes(trx: Knex.Transaction, userId: number): Promise<readonly string[]> {
    await trx('recovery_codes').where({ user_id: userId }).delete();
    const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode);
    for (const code of codes) {
      await trx('recovery_codes').insert({ user_id: userId, code_hash: hashOf(userId, simplify(code)) });
    }
    return codes;
  }

  async function logFactorChange(trx: Knex.Transaction, userId: number, action: string, by?: number): Promise<void> {
    const { email } = await trx('users').where({ id: userId }).first<{ email: string }>('email');
    await logChange(trx, { at: clock.now(), by, action, subject: email });
  }

  return {
    async of(userId) {
      const row = await knex('second_factors').where({ user_id: userId }).first<Row | undefined>();
      if (!row) return undefined;
      const left = await knex('recovery_codes').where({ user_id: userId }).pluck('code_hash');
      return { since: Number(row.created_at), recoveryCodes: left.length };
    },
    async propose(email, issuer, existingSecret) {
      const { Secret, TOTP } = await loadPackage();
      const bytes = new Uint8Array(Buffer.from(randomToken(160), 'base64url'));
      const secret =
        existingSecret === undefined ? new Secret({ buffer: bytes.buffer }) : Secret.fromBase32(existingSecret);
      return { secret: secret.base32, uri: new TOTP({ issuer, label: email, secret }).toString() };
    },
    async switchOn(userId, secret, code) {
      const step = await findStep(secret, simplify(code));
      if (step === null) return undefined;
      const row = { user_id: userId, sealed: encrypt(secret, key()), last_step: step, created_at: clock.now() };
      try {
        return await database.write(async (trx) => {
          // The primary key lets one of several concurrent calls through. None replaces an app that is on.
          await trx('second_factors').insert(row);
          await logFactorChange(trx, userId, 'user.totp-on', userId);
          return writeRecoveryCodes(trx, userId);
        });
      } catch (error) {
        if (isDuplicate(error)) return undefined;
        throw error;
      }
    },
    renewRecoveryCodes: (userId) =>
      database.write(async (trx) => {
        await logFactorChange(trx, userId, 'user.recovery-codes', userId);
        return writeRecoveryCodes(trx, userId);
      }),
    async check(userId, input) {
      const code = simplify(input);
      const row = await knex('second_factors').where({ user_id: userId }).first<Row | undefined>();
      if (!row) return undefined;
      if (!/^\d{6}$/.test(code)) {
        const codeRow = { user_id: userId, code_hash: hashOf(userId, code) };
        const deleted = await database.retry(() => knex('recovery_codes').where(codeRow).delete());
        return deleted === 1 ? 'recovery' : undefined;
      }
      const step = await findStep(decrypt(row.sealed, key()), code);
      if (step === null) return undefined;
      // RFC 6238 section 5.2: a code works once. Codes older than the last one are refused too.
      const taken = await database.retry(() =>
        knex('second_factors').where({ user_id: userId }).where('last_step', '<', step).update({ last_step: step }),
      );
      return taken === 1 ? 'app' : undefined;
    },
    switchOff: (userId, by) =>
      database.write(async (trx) => {
        await trx('recovery_codes').where({ user_id: userId }).delete();
        const deleted = await trx('second_factors').where({ user_id: userId }).delete();
        if (deleted > 0) await logFactorChange(trx, userId, 'user.totp-off', by);
        return deleted > 0;
      }),
  };
}

interface Row {
  readonly sealed: string;
  readonly created_at: number | string;
}

/** Removes the spaces and dashes that people may type. */
function simplify(code: string): string {
  return code.toLowerCase().replace(/[\s-]/g, '').slice(0, 64);
}

/** `abcd-efgh-ijkm-npqr` */
function makeRecoveryCode(): string {
  const bytes = Buffer.from(randomToken(RECOVERY_LENGTH * 8), 'base64url');
  const text = Array.from(bytes.subarray(0, RECOVERY_LENGTH), (byte) => signs[byte % signs.length]!).join('');
  return text.match(/.{4}/g)!.join('-');
}
