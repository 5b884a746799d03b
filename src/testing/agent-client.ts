// The client for tests of an agent. It calls the HTTP API, like a frontend, as the user of a sandbox.
import { callSite } from '../agent/customize/call-site.ts';
import type { AnySchema } from '../agent/customize/typed-schema.ts';
import { systemClock } from '../core/clock.ts';
import { createChartReaders } from './charts.ts';
import { createCollectionClient, readChart } from './collections.ts';
import { connectToSandbox } from './connected.ts';
import { createConnection } from './connection.ts';
import type { TestClientOptions } from './options.ts';
import { pathOf } from './queries.ts';
import type { PermissionOverrides } from './rights.ts';
import type { AgentTestClient, Timing } from './typed-client.ts';

/**
 * `S` is the interface of generated typings, if you have them. Start the agent with the sandbox as its serverUrl first.
 * Throws CONFIGURATION, with the option and a remedy, for invalid options. Throws AgentHttpError when the agent is not
 * reachable or rejects the user. (Behaviour 2.9 and 4.7.)
 *
 * @example
 * import { createAgentTestClient } from 'portico/testing';
 *
 * const client = await createAgentTestClient({
 *   agentUrl: 'http://127.0.0.1:3931',
 *   serverUrl: 'http://127.0.0.1:4000',
 *   agentServiceEnvSecret: 'the envSecret of the agent',
 *   agentServiceAuthSecret: 'the authSecret of the agent',
 *   agentSchemaPath: '.portico-schema.json',
 * });
 * const paid = await client.collection('orders').count({ filters: { field: 'status', operator: 'Equal', value: 'paid' } });
 */
export async function createAgentTestClient<S extends object = AnySchema>(
  options: TestClientOptions,
): Promise<AgentTestClient<S>> {
  const connected = await connectToSandbox('createAgentTestClient', options, callSite(createAgentTestClient));
  const { schema, sandbox, token, overridePermissions } = connected;
  const { agentUrl: address, timezone, timeoutSeconds } = connected.options;
  const connection = createConnection({ address, token, timeoutSeconds });
  try {
    await connection.request('GET', '/authentication/session');
  } catch (error) {
    await sandbox.close();
    throw error;
  }
  return {
    ...createChartReaders((chart) => readChart(connection, pathOf('_charts', chart), { timezone })),
    collection: (name) => createCollectionClient({ connection, schema, timezone }, name) as never,
    overridePermissions: (overrides) => overridePermissions(overrides as PermissionOverrides),
    benchmark: measure,
    close: () => sandbox.close(),
  };
}

const defaultTimes = 10;

/** Runs sequentially, without a warm-up. */
async function measure(
  run: () => unknown,
  { times = defaultTimes }: { readonly times?: number } = {},
): Promise<Timing> {
  const taken: number[] = [];
  for (let at = 0; at < times; at++) {
    const from = systemClock.monotonic();
    await run();
    taken.push(systemClock.monotonic() - from);
  }
  taken.sort((a, b) => a - b);
  const at = (share: number): number => taken[Math.min(times - 1, Math.floor(share * times))] ?? 0;
  const mean = taken.reduce((sum, one) => sum + one, 0) / Math.max(1, times);
  return { times, mean, median: at(0.5), p95: at(0.95), least: at(0), most: at(1) };
}
