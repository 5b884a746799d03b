// A server with the shop data, tokens of every kind, and requests as raw as a test needs them.
import type { ApplicationToken } from '../../src/store/oauth/token-types.ts';
import { openShop, type Shop } from '../app/shop.ts';
import { servers } from '../databases.ts';
import type { TestServerOptions } from '../server.ts';
import { ask } from './ask.ts';

export const notesPath = '/v1/project/My%20project/environment/Production/notes';

export interface Ways extends Omit<Shop, 'ask'> {
  /** The URL of the storage. */
  readonly storage: string;
  make(
    scopes: readonly string[],
    options?: MakeOptions,
  ): Promise<{ readonly token: ApplicationToken; readonly secret: string }>;
  /** Returns the status, the headers and the parsed body. */
  ask(path: string, options?: AskOptions): Promise<Told>;
}

interface MakeOptions {
  readonly email?: string;
  readonly expiresAt?: number;
  readonly sso?: boolean;
}

export interface AskOptions {
  readonly secret?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

const plenty = { SERVICE_API_PER_MINUTE: '100000', SERVICE_API_PER_HOUR: '100000', SERVICE_API_PER_DAY: '100000' };

export async function openWays(options: Omit<TestServerOptions, 'database'> = {}): Promise<Ways> {
  const storage = await servers.find(({ dialect }) => dialect === 'sqlite')!.create();
  const shop = await openShop({ ...options, env: { SERVICE_STORAGE_URL: storage.url, ...plenty, ...options.env } });
  let made = 0;
  return {
    ...shop,
    storage: storage.url,
    async make(scopes, { email = shop.account.email, ...more } = {}) {
      const user = (await shop.store.identity.findUserByEmail(email))!;
      return shop.store.tokens.create({ userId: user.id, name: `way ${++made}`, scopes, ...more });
    },
    ask: (path, asked) => tell(shop.address, path, asked),
    async stop() {
      await shop.stop();
      await storage.drop();
    },
  };
}

export async function tell(
  address: string,
  path: string,
  { secret, method = 'GET', headers, body }: AskOptions = {},
): Promise<Told> {
  const authorization = secret === undefined ? {} : { Authorization: `Bearer ${secret}` };
  const answer = await ask(address, method, path, { ...authorization, ...headers }, body);
  const isJson = answer.headers.get('content-type') === 'application/json' && answer.text !== '';
  return { ...answer, json: isJson ? (JSON.parse(answer.text) as Record<string, unknown>) : undefined };
}

/** Property names and types of an error: exactly three strings (behaviour api 7.1 and 7.2), and more for 429. */
export function shapeOf({ json }: Told): readonly string[] {
  return Object.entries(json ?? {})
    .map(([name, value]) => `${name}: ${value === '' ? 'empty' : typeof value}`)
    .sort();
}
export const errorShape = ['code: string', 'error: string', 'message: string'];
