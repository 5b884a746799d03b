// The same scenario in two sizes: a sample for every test run, and the full size for the long tests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOnce } from '../cli/command.ts';
import { remoteServers } from '../databases.ts';
import type { Account } from '../oauth/flow.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { expectSpread, signInMany } from './sign-ins.ts';
import { takeAway, takings } from './taken-away.ts';

export interface Size {
  readonly signIns: number;
  /** How many of the sign-ins run while one process restarts, and then the other. */
  readonly duringRestarts: number;
  readonly calls: number;
}

const account: Account = { email: 'ada@example.com', password: 'correct horse battery' };

export function proveProcesses({ signIns, duringRestarts, calls }: Size): void {
  // A file must contain a test.
  if (remoteServers.length === 0) test.skip('on a server', () => {});

  describe.each(remoteServers)('two processes on one $dialect', (server) => {
    let cluster: Cluster;
    beforeAll(async () => {
      await buildOnce();
      cluster = await openCluster(server);
      await cluster.addUser({ ...account, level: 'admin' });
    }, 180_000);
    afterAll(() => cluster?.stop(), 60_000);

    test(`${signIns} sign-ins over both processes succeed, each with a token that both accept`, {
      timeout: 600_000,
    }, async () => {
      const { done, failures, seconds } = await signInMany(cluster, account, signIns);
      console.log(`${server.dialect}: ${done} sign-ins in ${seconds.toFixed(1)} s`);
      expect([failures, done]).toEqual([[], signIns]);
      expectSpread(cluster);
    });

    test(`${duringRestarts} sign-ins during a rolling restart: none is lost`, {
      timeout: 600_000,
    }, async () => {
      let isRolling = true;
      const roll = async () => {
        try {
          for (const which of [0, 1]) await cluster.restart(which);
        } finally {
          isRolling = false;
        }
      };
      const [{ done, failures }] = await Promise.all([
        signInMany(cluster, account, duringRestarts, () => isRolling),
        roll(),
      ]);
      console.log(`${server.dialect}: 2 restarts, ${done} sign-ins, ${cluster.retried()} requests sent on`);
      expect([failures, done >= duringRestarts]).toEqual([[], true]);
    });

    test('both processes count the calls of a token together, and a revocation at one applies at the other', {
      timeout: 60_000,
    }, async () => {
      const { store, direct } = cluster;
      const user = (await store.identity.findUserByEmail(account.email))!;
      const { token, secret } = await store.tokens.create({ userId: user.id, name: 'counted', scopes: ['all'] });
      const call = (url: string, method = 'GET') =>
        fetch(url, { method, headers: { authorization: `Bearer ${secret}` } });
      const remaining: number[] = [];
      for (let n = 0; n < 40; n++) {
        const answer = await call(`${direct[n % 2]}/v1/token`);
        expect(answer.status).toBe(200);
        remaining.push(Number(answer.headers.get('x-ratelimit-remaining')));
      }
      expect(remaining[0]).toBeGreaterThan(40);
      expect(remaining).toEqual(remaining.map((_, n) => remaining[0]! - n));

      const revoked = await call(`${direct[0]}/v1/project/My%20project/tokens/${token.id}`, 'DELETE');
      const next = await call(`${direct[1]}/v1/token`);
      expect([revoked.status, next.status]).toEqual([204, 401]);
    });

    test.each(Object.keys(takings))(
      '%s: no call that begins after the revocation succeeds',
      { timeout: 120_000 },
      async (name) => {
        const seen = await takeAway(cluster, takings[name]!, calls);
        console.log(`${server.dialect}: ${name}: ${JSON.stringify(seen)}`);
        expect(seen.usedBefore.map((count) => count > 0)).toEqual([true, true]);
        expect(seen.begunAfter.map((count) => count >= calls)).toEqual([true, true]);
        expect(seen.usedAfter).toEqual([0, 0]);
      },
    );
  });
}
