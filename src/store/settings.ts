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
