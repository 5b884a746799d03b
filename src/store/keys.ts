// Keys of the installation: signing keys, cookie keys. They lie in the storage, so that every process has the same, and
// are sealed with the installation's secret, which does not: a copy of the storage alone signs nothing.
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { decrypt, encrypt, randomToken } from '../core/secret.ts';
import type { Database } from './database.ts';
import type { Keys } from './store.ts';

interface KeyRow {
  readonly key_id: string;
  readonly sealed: string;
}

export function createKeys(database: Database, clock: Clock, getSecret: () => string): Keys {
  const { knex } = database;
  const rowsOf = (purpose: string): Promise<KeyRow[]> =>
    knex('installation_keys').where({ purpose }).orderBy('generation', 'desc').select('key_id', 'sealed');

  return {
    async of(purpose, make) {
      let rows = await rowsOf(purpose);
      if (rows.length === 0) {
        const sealed = encrypt(await make(), getSecret());
        // Two processes at once: the primary key (purpose, generation) lets one in, and both read what is there then.
        await knex('installation_keys')
          .insert({ purpose, generation: 1, key_id: randomToken(96), sealed, created_at: clock.now() })
          .onConflict(['purpose', 'generation'])
          .ignore();
        rows = await rowsOf(purpose);
      }
      return rows.map((row) => ({ id: row.key_id, value: unseal(row.sealed, getSecret()) }));
    },
  };
}

function unseal(sealed: string, secret: string): string {
  try {
    return decrypt(sealed, secret);
  } catch (cause) {
    const problem =
      'SERVICE_SECRET: the keys in the storage were sealed with another secret. Give the one they were made with (without SERVICE_SECRET it is the file named secret in the data folder).';
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

/**
 * The secret of the installation: the configured one, else a file in the data folder, made by whichever process comes
 * first. Read when it is first needed; for a storage in memory it lives as long as the process.
 */
export function createSecretReader(options: {
  readonly configured: string | null;
  readonly dataDir: string;
  readonly inMemory: boolean;
}): () => string {
  let secret = options.configured;
  return () => {
    secret ??= options.inMemory ? randomToken() : readSecretFile(options.dataDir);
    return secret;
  };
}

function readSecretFile(dataDir: string): string {
  const path = join(dataDir, 'secret');
  try {
    return readFound(path) ?? makeSecretFile(dataDir, path);
  } catch (cause) {
    throw new AppError('CONFIGURATION', { problem: `SERVICE_SECRET: '${path}' cannot be read or made.` }, cause);
  }
}

function readFound(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (text === '') throw new Error('the file is empty');
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written whole under another name, then linked: nobody reads half a secret, and a second one is never put in its place. */
function makeSecretFile(dataDir: string, path: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chmodSync(dataDir, 0o700);
  const draft = `${path}.${randomToken(64)}`;
  writeFileSync(draft, `${randomToken()}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = readFound(path);
  if (made === undefined) throw new Error('the file vanished');
  return made;
}
