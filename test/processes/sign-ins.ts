// Sign-ins spread over both processes, and the checks of their results.
import { expect } from 'vitest';
import { callTool } from '../app/call.ts';
import { connect, register } from '../oauth/client.ts';
import type { Account } from '../oauth/flow.ts';
import type { Cluster } from './cluster.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';
const SIDE_BY_SIDE = 8;

export interface SignIns {
  readonly done: number;
  readonly seconds: number;
  readonly failures: readonly string[];
}

/**
 * Makes this many sign-ins, and more while `goesOn` returns true. Each is complete: authorize, sign-in page and form,
 * consent page and form, code, token, and a call at each process with the token.
 */
export async function signInMany(
  { origin, direct }: Cluster,
  account: Account,
  count: number,
  goesOn: () => boolean = () => false,
): Promise<SignIns> {
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const failures: string[] = [];
  let next = 0;
  let done = 0;
  const from = performance.now();
  const work = async (): Promise<void> => {
    while (next++ < count || goesOn()) {
      try {
        const { tokens } = await connect(registered, account, { redirectUri, resource: `${origin}/mcp` });
        const list = { collectionName: 'customers', pagination: { size: 1 } };
        // One of them may be shutting down.
        const answers = await Promise.allSettled(
          direct.map((at) => callTool(`${at}/mcp`, tokens.access_token, 'list', list)),
        );
        const good = answers.filter((one) => one.status === 'fulfilled' && 'json' in one.value).length;
        const gone = answers.filter((one) => one.status === 'rejected').length;
        if (good === 0 || good + gone < 2) failures.push(JSON.stringify(answers));
        else done++;
      } catch (error) {
        failures.push(`${(error as Error).message} ${JSON.stringify((error as { cause?: unknown }).cause ?? '')}`);
      }
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  return { done, seconds: (performance.now() - from) / 1000, failures };
}

/** Both processes served every step of the sign-ins. */
export function expectSpread({ served }: Cluster): void {
  const kinds = ['GET authorize', 'GET interaction', 'POST interaction', 'GET authorize resume', 'POST token'];
  const missing = served.map((by) => kinds.filter((kind) => !by.get(kind)));
  expect(missing).toEqual([[], []]);
}
