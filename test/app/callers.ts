// Calls the HTTP API as the clerk of a music server.
import { sessionToken } from '../rest/front-end.ts';
import type { Music } from './music.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface Http {
  ask(method: string, path: string, body?: object): Promise<HttpAnswer>;
  /** Sends a raw body and returns the text of the response. */
  raw(method: string, path: string, body: string): Promise<string>;
  execute(collection: string, action: string, ids: readonly string[], values?: object): Promise<HttpAnswer>;
}

export async function openHttp({ apiUrl, clerk, engine, store }: Music): Promise<Http> {
  const authorization = `Bearer ${await sessionToken(apiUrl, clerk)}`;
  const { id } = (await store.identity.findUserByEmail(clerk.email))!;
  const ask: Http['ask'] = async (method, path, body) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    ask,
    async raw(method, path, body) {
      const headers = { authorization, 'content-type': 'application/json' };
      return (await fetch(apiUrl + path, { method, headers, body })).text();
    },
    async execute(collection, action, ids, values = {}) {
      const access = (await store.permissions.accessOf(id))!;
      const known = engine.actions.describe(access, collection).find(({ name }) => name === action);
      // If the clerk has no right to the action, use the path of its form.
      const endpoint = known?.endpoint ?? `/_actions/${collection}/0/${action.toLowerCase()}`;
      return ask('POST', endpoint, { data: { attributes: { ids, values } } });
    },
  };
}
