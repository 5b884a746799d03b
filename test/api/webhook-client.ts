// A server with webhooks: publishes workflows, enables their triggers and calls them as programs do.
import type { TestServerOptions } from '../server.ts';
import { type AskOptions, openWays, type Told, tell, type Ways } from './ways.ts';

/** The first step waits for user input, so a run stays unchanged until the test ends it. */
export const waiting = {
  collection: 'orders',
  steps: [{ id: 'look', type: 'guidance', text: 'Look at it.' }],
} as const;

export interface WebhookTarget {
  readonly id: string;
  /** The path and query, without the host. */
  readonly path: string;
}

export interface WebhookClient extends Ways {
  readonly secret: string;
  /** Publishes a workflow of the first team and enables its trigger. */
  hook(definition?: object): Promise<WebhookTarget>;
  change(id: string, change: object): Promise<Told>;
  pathOf(id: string): Promise<string>;
  /** Calls a webhook as a program does; the default is the first user's token. */
  call(path: string, body?: unknown, more?: AskOptions): Promise<Told>;
}

export const workflowsPath = '/v1/project/My%20project/environment/Production/workflows';
export const runsPath = '/v1/project/My%20project/environment/Production/workflow-runs';

export async function openWebhookClient(options: Omit<TestServerOptions, 'database'> = {}): Promise<WebhookClient> {
  const ways = await openWays(options);
  const { secret } = await ways.make(['all']);
  const ada = (await ways.store.identity.findUserByEmail(ways.account.email))!;
  const { renderingId } = (await ways.store.permissions.caller(ada.id))!;
  let made = 0;
  const headers = { 'Content-Type': 'application/json' };
  const change = (id: string, wanted: object): Promise<Told> =>
    ways.ask(`${workflowsPath}/${id}/trigger`, { secret, method: 'PATCH', headers, body: JSON.stringify(wanted) });
  const toPath = (url: unknown): string => (typeof url === 'string' ? new URL(url).pathname : 'none');
  return {
    ...ways,
    secret,
    change,
    async hook(definition = waiting) {
      const name = `Flow ${++made}`;
      const { collection, concurrency = null } = definition as { collection: string; concurrency?: number };
      const { id } = await ways.store.workflows.publish({
        ...{ renderingId, name, collection, concurrency, by: ada.id },
        definition: JSON.stringify({ name, ...definition }),
      });
      const { json } = await change(id, { enabled: true });
      return { id, path: toPath(json?.url) };
    },
    async pathOf(id) {
      const { json } = await ways.ask(`${workflowsPath}/${id}`, { secret });
      return toPath((json?.trigger as { url?: string } | undefined)?.url);
    },
    call: (path, body = { record_id: '1' }, more = {}) =>
      tell(ways.address, path, {
        secret,
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...more,
        headers: { ...headers, ...more.headers },
      }),
  };
}

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
