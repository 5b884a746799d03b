// Users with a password, for tests of other features. Hashing a password takes a tenth of
// a second of CPU time, again at each sign-in, which would be a large part of such a test.
// So these hashes use few rounds. A hash contains its parameters, so verification works as
// usual. test/store/identity.test.ts tests the hashes of the product's own `addUser`.
import { randomBytes, scryptSync } from 'node:crypto';
import { systemClock } from '../src/core/clock.ts';
import { type Config, loadConfig } from '../src/core/config.ts';
import { locateStorage, openDatabase } from '../src/store/database/database.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import type { NewUser, User } from '../src/store/users/types.ts';
import { prepareStorage } from './storage.ts';

const ROUNDS = { N: 16, r: 8, p: 1 } as const;

function hashQuickly(password: string): string {
  const salt = randomBytes(16);
  const key = scryptSync(password.normalize('NFKC'), salt, 32, ROUNDS);
  return ['scrypt', ROUNDS.N, ROUNDS.r, ROUNDS.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** `config`: locates the storage. A storage in memory cannot be changed from outside, so hashing stays slow there. */
export async function addUser(
  { identity }: Pick<Store, 'identity'>,
  { storageUrl: url, dataDir, sqlite }: Pick<Config, 'storageUrl' | 'dataDir' | 'sqlite'>,
  { password, ...given }: NewUser,
): Promise<User> {
  const place = { url, dataDir, sqlite };
  const isInMemory = locateStorage(place) === undefined && /^sqlite:/i.test(url ?? '');
  if (password === undefined || isInMemory) return identity.addUser({ ...given, ...(password && { password }) });
  const { id } = await identity.addUser(given);
  const database = openDatabase(place);
  try {
    await database
      .knex('users')
      .where({ id })
      .update({ password_hash: hashQuickly(password) });
  } finally {
    await database.close();
  }
  return (await identity.findUser(id))!;
}

/** The same in a data folder, even while a server has it open. Creates the storage if needed. */
export async function addUserIn(dataDir: string, user: NewUser): Promise<User> {
  const config = loadConfig({ file: { dataDir } });
  await prepareStorage(config);
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  try {
    return await addUser(store, config, user);
  } finally {
    await store.close();
  }
}
