// Users and tokens for the commands of a test, written without a process for each, in the same form as the commands.
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import type { NewUser } from '../../src/store/users/types.ts';
import { addUserIn } from '../users.ts';
import type { Place } from './command.ts';

const dataDirOf = ({ folder }: Pick<Place, 'folder'>): string => join(folder, '.portico');

export async function addPerson(place: Pick<Place, 'folder'>, user: NewUser): Promise<void> {
  await addUserIn(dataDirOf(place), user);
}

/** The secret of a new application token of an existing user. */
export async function makeToken(
  place: Pick<Place, 'folder'>,
  email: string,
  { name, scopes }: { readonly name: string; readonly scopes: readonly string[] },
): Promise<string> {
  const config = loadConfig({ env: { SERVICE_DATA_DIR: dataDirOf(place) } });
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  try {
    const { id } = (await store.identity.findUserByEmail(email))!;
    return (await store.tokens.create({ userId: id, name, scopes })).secret;
  } finally {
    await store.close();
  }
}
