import { randomId } from '../core/secret.ts';
import type { Database } from './database/database.ts';
import type { SettingRows } from './store.ts';

export function createSettingRows({ knex }: Database): SettingRows {
  return {
    async get(key) {
      const row = await knex('settings').where({ key }).first<{ value: string } | undefined>('value');
      return row?.value;
    },
    async set(key, value) {
      await knex('settings').insert({ key, value }).onConflict('key').merge(['value']);
    },
  };
}

/** The last request to read the tables of the served databases again. Every process compares it with the one it knows. */
const RELOAD = 'tables.reload';

/** An id that differs after each request; undefined before the first. */
export function lastReloadRequest(settings: SettingRows): Promise<string | undefined> {
  return settings.get(RELOAD);
}

/** Returns the id of the request. */
export async function requestReload(settings: SettingRows): Promise<string> {
  const id = randomId();
  await settings.set(RELOAD, id);
  return id;
}
