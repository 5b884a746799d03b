// Connects an agent to its platform at the start. It calls the platform endpoint and explains in words why that failed.
// On this machine, the platform may be a sandbox (sandbox-key.ts).
import type { Clock } from '../core/clock.ts';
import { fail, isAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { OpenedStore } from '../store/open.ts';
import { rpcUrlOf } from './paths.ts';
import type { Greeting } from './relayed.ts';
import { createRemoteStore } from './remote-store.ts';
import { type Channel, openChannel, RpcFailure } from './rpc-client.ts';
import { readSandboxKey } from './sandbox-key.ts';
import { environmentHashOf, rpcKeyOf } from './signature.ts';

interface ConnectOptions {
  /** Already checked by the configuration: https, or http on this machine. */
  readonly serverUrl: string;
  readonly envSecret: string;
  readonly clock: Clock;
  readonly observe: Observe;
}

const problem = (what: string, cause?: unknown): never =>
  fail('CONFIGURATION', { problem: `serverUrl: ${what}` }, cause);

/** Throws CONFIGURATION when the platform is unreachable or does not know the secret. */
export async function connectStore({ serverUrl, envSecret, clock, observe }: ConnectOptions): Promise<OpenedStore> {
  const { channel, isSandbox } = await connectChannel({ serverUrl, envSecret, clock, observe });
  return createRemoteStore({ channel, isSandbox, clock, observe });
}

/** Returns the channel to a platform endpoint that has answered `hello`. */
export async function connectChannel(
  options: Omit<ConnectOptions, 'clock'> & { readonly clock: Pick<Clock, 'now'> },
): Promise<{ readonly channel: Channel; readonly isSandbox: boolean }> {
  const { serverUrl, envSecret, clock, observe } = options;
  const url = rpcUrlOf(serverUrl);
  const parts = { url, clock, observe };
  const failure = await greetOrFail({ ...parts, key: rpcKeyOf(envSecret) });
  if ('channel' in failure) return { channel: failure.channel, isSandbox: false };
  const key = failure.status === 401 ? findSandboxKey(serverUrl) : undefined;
  if (key === undefined) return describe(failure, url);
  const second = await greetOrFail({ ...parts, key, environment: environmentHashOf(envSecret) });
  if ('channel' in second) return { channel: second.channel, isSandbox: true };
  return describe(second, url);
}

type Attempt = Parameters<typeof openChannel>[0];

async function greetOrFail(options: Attempt): Promise<{ readonly channel: Channel } | RpcFailure> {
  const channel = await openChannel(options);
  try {
    const { protocol } = (await channel.call('/v1/hello', [], 'again')) as Greeting;
    if (protocol !== 1) problem(`the platform at ${options.url} has another version. Update it, or this agent.`);
    return { channel };
  } catch (error) {
    await channel.close();
    if (isAppError(error) && error.cause instanceof RpcFailure) return error.cause;
    throw error;
  }
}

/** Key of a sandbox on the port of a local URL. */
function findSandboxKey(serverUrl: string): string | undefined {
  const { protocol, hostname, port } = new URL(serverUrl);
  if (protocol !== 'http:' || !['localhost', '127.0.0.1'].includes(hostname)) return undefined;
  return readSandboxKey(Number(port || 80));
}

function describe(failure: RpcFailure, url: string): never {
  const { status, refused, cause } = failure;
  if (refused !== undefined) return problem(failure.message, failure);
  if (status === undefined) {
    const code = (cause as { readonly code?: string } | undefined)?.code;
    return problem(
      `no server answers at ${url}${code ? ` (${code})` : ''}. Start the platform there, or correct the address.`,
      failure,
    );
  }
  const what: Readonly<Record<number, string>> = {
    401: `the platform at ${url} does not accept this envSecret. Use the same one on both.`,
    403: `${url} rejects the address of this machine (status 403). Add it to the allow-list of the platform.`,
    404: `there is no platform at ${url}. Set SERVICE_PLATFORM_DOOR=true there, or correct the address.`,
    503: `the platform at ${url} is not ready (status 503). Start the agent again when it is ready.`,
  };
  return problem(
    what[status] ?? `${url} answers with status ${status}, so it is not a platform. Correct the address.`,
    failure,
  );
}
