// How connections to a server are encrypted, in the words of the drivers. `preferred` is decided by the first statement,
// which is one for the catalogue: where the server offers no TLS, everything goes without.
import { isAppError } from '../../../core/errors.ts';
import type { Address, TlsMode } from './address.ts';
import type { Driver } from './driver.ts';
import { NO_TLS } from './stopping.ts';

/** As `tls.connect` takes it. */
export interface TlsSettings {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** What the certificate must be for. */
  readonly host: string;
}

/** What a driver is opened with: false for no TLS; undefined for what the URL says. */
export interface EncryptedAddress extends Address {
  readonly tls: TlsSettings | false | undefined;
}

export function openEncrypted(address: Address, open: (tls: EncryptedAddress['tls']) => Driver): Driver {
  const { sslMode } = address;
  if (sslMode !== 'preferred') return open(sslMode && settingsOf(sslMode, address));
  let driver = open(settingsOf('required', address));
  let isDecided = false;
  return {
    async catalogue(sql) {
      if (isDecided) return driver.catalogue(sql);
      isDecided = true;
      try {
        return await driver.catalogue(sql);
      } catch (error) {
        if (!isAppError(error, 'CONFIGURATION') || error.details.problem !== NO_TLS) throw error;
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
