// Translates the TLS mode to driver settings. The first statement, a catalogue query, decides `preferred`: if the
// server does not offer TLS, all connections go without it.
import { hasNoTls } from '../../../../core/errors/connection.ts';
import { isAppError } from '../../../../core/errors.ts';
import type { Driver } from '../driver.ts';
import type { Address, TlsMode } from './address.ts';

/** The options of `tls.connect`. */
interface TlsSettings {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The host name to check the certificate against. */
  readonly host: string;
}

/** The address with TLS settings for the driver: false for no TLS, undefined to follow the URL. */
export interface EncryptedAddress extends Address {
  readonly tls: TlsSettings | false | undefined;
}

export function openEncrypted(address: Address, open: (tls: EncryptedAddress['tls']) => Driver): Driver {
  const { sslMode } = address;
  if (sslMode !== 'preferred') return open(sslMode && settingsOf(sslMode, address));
  let driver = open(settingsOf('required', address));
  let isConnected = false;
  return {
    // The catalogue was read before.
    resultColumns: (sql, values) => driver.resultColumns(sql, values),
    async catalogue(sql) {
      if (isConnected) return driver.catalogue(sql);
      isConnected = true;
      try {
        return await driver.catalogue(sql);
      } catch (error) {
        if (!isAppError(error, 'CONFIGURATION') || !hasNoTls(error.cause)) throw error;
        await driver.close();
        driver = open(false);
        return driver.catalogue(sql);
      }
    },
    run: (...given) => driver.run(...given),
    transaction: (...given) => driver.transaction(...given),
    close: () => driver.close(),
  };
}

function settingsOf(mode: Exclude<TlsMode, 'preferred'>, { ssl, url }: Address): TlsSettings | false {
  if (mode === 'disabled') return false;
  return { ...ssl, rejectUnauthorized: mode === 'verify', host: new URL(url).hostname };
}
