// A server with the shop data and tokens for notes, for the tests of notes over HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database/database.ts';
import { openShop, type Shop } from '../app/shop.ts';
import type { TestServerOptions } from '../server.ts';

export interface NoteAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of it
  readonly body: any;
}

export interface NoteClient {
  readonly shop: Shop;
  /** Direct access to the storage for setups that no API allows; closed at the end of the test. */
  tables(): Database;
  /** A token of the user; the first user if absent. */
  secret(scopes?: readonly string[], email?: string): Promise<string>;
  /** `path` follows `/v1`; `{notes}` expands to the notes of the environment. Bodies except strings become JSON. */
  ask(
    method: string,
    path: string,
    options?: { readonly secret?: string; readonly body?: unknown },
  ): Promise<NoteAnswer>;
  /** The ids in a list response. */
  ids(query?: string): Promise<readonly number[]>;
  create(note: Readonly<Record<string, unknown>>, secret?: string): Promise<NoteAnswer['body']>;
}

export const notesPath = '/project/My%20project/environment/Production/notes';

export async function openNoteClient(options: Omit<TestServerOptions, 'database'> = {}): Promise<NoteClient> {
  const many = { SERVICE_API_PER_MINUTE: '1000000', SERVICE_API_PER_HOUR: '1000000', SERVICE_API_PER_DAY: '1000000' };
  const folder = mkdtempSync(join(tmpdir(), 'portico-notes-'));
  const url = options.env?.SERVICE_STORAGE_URL ?? `sqlite:${join(folder, 'portico.sqlite')}`;
  const opened = await openShop({ ...options, env: { ...many, ...options.env, SERVICE_STORAGE_URL: url } });
  const shop: Shop = {
    ...opened,
    async stop() {
      await opened.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  let made = 0;
  const secret: NoteClient['secret'] = async (scopes = ['all'], email = shop.account.email) => {
    const user = (await shop.store.identity.findUserByEmail(email))!;
    return (await shop.store.tokens.create({ userId: user.id, name: `notes ${++made}`, scopes })).secret;
  };
  const everything = await secret();
  const ask: NoteClient['ask'] = async (method, path, { secret: sent = everything, body } = {}) => {
    const response = await fetch(`${shop.address}/v1${path.replace('{notes}', notesPath)}`, {
      method,
      headers: { authorization: `Bearer ${sent}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    shop,
    tables() {
      const tables = openDatabase({ url, dataDir: folder, sqlite: 'auto' });
      onTestFinished(() => tables.close());
      return tables;
    },
    secret,
    ask,
    async ids(query = '') {
      const { status, body } = await ask('GET', `{notes}${query}`);
      if (status !== 200) throw new Error(`${status} ${body.message}`);
      return body.data.map(({ id }: { id: number }) => id);
    },
    async create(note, sent = everything) {
      const given = { title: 'A note', collectionName: 'customers', recordId: '1', ...note };
      const { status, body } = await ask('POST', '{notes}', { secret: sent, body: given });
      if (status !== 201) throw new Error(`${status} ${body.message}`);
      return body;
    },
  };
}
