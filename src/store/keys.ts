// Keys of the installation: signing keys and cookie keys. They are stored in the database because all processes share
// them. They are encrypted with the installation's secret, which is not in the database, and a copy of the database
// cannot sign. Rotation adds the next generation of a purpose. Older generations verify until they are retired. Both
// operations raise a version, and every process has loaded the change before its next response.
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Clock } from '../core/clock.ts';
import { AppError, fail } from '../core/errors.ts';
import { decrypt, encrypt, makeSigningKey, randomToken } from '../core/secret.ts';
import type { Database } from './database/database.ts';
import { logChange } from './permissions/roles.ts';
import type { KeyGeneration, Keys } from './store.ts';
import type { VersionRows } from './versions.ts';

interface KeyRow {
  readonly key_id: string;
  readonly sealed: string;
}

interface GenerationRow {
  readonly purpose: string;
  readonly generation: number;
  readonly key_id: string;
  readonly created_at: number | string;
}

/** Generators for the purposes that need more than a random string. */
const makers: Readonly<Record<string, () => string>> = { 'oauth-signing': makeSigningKey };

/**
 * The purpose of a key that an agent requests from this process (remote-store/rpc-server.ts). Each agent has its own
 * keys and cannot sign for this process.
 */
export const agentPurpose = (environmentId: number, purpose: string): string => `agent/${environmentId}/${purpose}`;
const plainPurpose = (purpose: string): string => purpose.replace(/^agent\/\d+\//, '');

export function createKeys(database: Database, versions: VersionRows, clock: Clock, getSecret: () => string): Keys {
  const { knex } = database;
  const listAll = async (on: Knex): Promise<readonly KeyGeneration[]> => {
    const rows = await on('installation_keys')
      .orderBy('purpose')
      .orderBy('generation', 'desc')
      .select<GenerationRow[]>('purpose', 'generation', 'key_id', 'created_at');
    return rows.map((row, at) => {
      const next = rows[at - 1];
      return {
        purpose: row.purpose,
        generation: row.generation,
        id: row.key_id,
        createdAt: Number(row.created_at),
        replacedAt: next?.purpose === row.purpose ? Number(next.created_at) : null,
      };
    });
  };
  const listOf = async (on: Knex, purpose: string | undefined): Promise<readonly KeyGeneration[]> => {
    const all = await listAll(on);
    const found = purpose === undefined ? all : all.filter((one) => one.purpose === purpose);
    if (purpose !== undefined && found.length === 0) {
      const purposes = [...new Set(all.map((one) => one.purpose))];
      const those =
        purposes.length > 0 ? `purposes with a key: ${purposes.join(', ')}.` : 'keys are created at the first start.';
      fail('INVALID_ARGUMENT', { argument: 'purpose', problem: `'${purpose}' has no key; ${those}` });
    }
    return found;
  };
  const rowsOf = (purpose: string, on: Knex = knex): Promise<KeyRow[]> =>
    on('installation_keys').where({ purpose }).orderBy('generation', 'desc').select('key_id', 'sealed');

  return {
    async of(purpose, make) {
      let rows = await rowsOf(purpose);
      if (rows.length === 0) {
        const sealed = encrypt(await make(), getSecret());
        // Two processes may insert at once. The primary key (purpose, generation) admits one, and both read the stored
        // row.
        await knex('installation_keys')
          .insert({ purpose, generation: 1, key_id: randomToken(96), sealed, created_at: clock.now() })
          .onConflict(['purpose', 'generation'])
          .ignore();
        rows = await rowsOf(purpose);
      }
      return rows.map((row) => ({ id: row.key_id, value: unseal(row.sealed, getSecret()) }));
    },
    list: () => listAll(knex),
    rotate(purpose) {
      return versions.change('keys', async (trx) => {
        const newest = (await listOf(trx, purpose)).filter(({ replacedAt }) => replacedAt === null);
        const created: KeyGeneration[] = [];
        for (const { purpose, generation } of newest) {
          // Check that the older keys use the same secret: a new key under another secret would be unusable.
          for (const row of await rowsOf(purpose, trx)) unseal(row.sealed, getSecret());
          const next = { purpose, generation: generation + 1, key_id: randomToken(96), created_at: clock.now() };
          const sealed = encrypt((makers[plainPurpose(purpose)] ?? randomToken)(), getSecret());
          await trx('installation_keys').insert({ ...next, sealed });
          const subject = `${purpose} ${next.generation}`;
          await logChange(trx, { at: clock.now(), action: 'key.rotate', subject });
          created.push({ ...next, id: next.key_id, createdAt: next.created_at, replacedAt: null });
        }
        return created;
      });
    },
    retire(replacedBefore, purpose) {
      return versions.change('keys', async (trx) => {
        const generations = await listOf(trx, purpose);
        const old = generations.filter(({ replacedAt }) => replacedAt !== null && replacedAt <= replacedBefore);
        for (const { purpose, generation } of old) {
          await trx('installation_keys').where({ purpose, generation }).delete();
          await logChange(trx, { at: clock.now(), action: 'key.retire', subject: `${purpose} ${generation}` });
        }
        return old;
      });
    },
  };
}

function unseal(sealed: string, secret: string): string {
  try {
    return decrypt(sealed, secret);
  } catch (cause) {
    const problem =
      'SERVICE_SECRET: the keys in the storage were encrypted with another secret. Set that secret (without SERVICE_SECRET it is the file named secret in the data folder).';
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

/** CONFIGURATION when the secret cannot decrypt the stored keys. Sign-in would fail for every user. */
export async function checkSecret(knex: Knex, getSecret: () => string): Promise<void> {
  const [row] = await knex('installation_keys').orderBy('created_at', 'desc').limit(1).select('sealed');
  if (row) unseal(row.sealed, getSecret());
}

/**
 * The secret of the installation: the configured one, else a file in the data folder that the first process creates. It
 * is read on first use. For an in-memory storage it lasts as long as the process.
 */
export function createSecretReader(options: {
  readonly configured: string | null;
  readonly dataDir: string;
  readonly inMemory: boolean;
  /** With false, a missing file is an error. */
  readonly make?: false;
}): () => string {
  let secret = options.configured;
  return () => {
    secret ??= options.inMemory ? randomToken() : readSecretFile(options.dataDir, options.make ?? true);
    return secret;
  };
}

function readSecretFile(dataDir: string, make: boolean): string {
  const path = join(dataDir, 'secret');
  try {
    const found = readFound(path);
    if (found === undefined && !make) throw new Error('there is no such file');
    return found ?? makeSecretFile(dataDir, path);
  } catch (cause) {
    throw new AppError('CONFIGURATION', { problem: `SERVICE_SECRET: '${path}' cannot be read or created.` }, cause);
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

/** Writes a temporary file and links it. No reader sees a partial secret, and an existing secret is never replaced. */
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
  const written = readFound(path);
  if (written === undefined) throw new Error('the file was removed');
  return written;
}
