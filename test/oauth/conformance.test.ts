// The official authorization server scenarios, with our test browser as the user. The runner needs Node 22.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { findTool } from '../tools.ts';
import { register } from './client.ts';
import { signIn } from './flow.ts';
import { startServer } from './oauth-server.ts';

const node = findTool('node22');
const runner = findTool('conformance');

test.skipIf(!node || !runner)(
  'the authorization scenarios of @modelcontextprotocol/conformance pass',
  { timeout: 60_000 },
  async () => {
    const testServer = await startServer({ basePath: '/app' });
    const port = await freePort();
    const { client } = await register(testServer.paths.issuer, {
      client_name: 'Conformance',
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
    });
    const options = {
      '--url': testServer.paths.issuer,
      '--client-id': client.client_id,
      '--port': `${port}`,
      '--resource': testServer.paths.resource,
    };
    const child = spawn(node!, [runner!, 'authorization', ...Object.entries(options).flat()]);
    try {
      let output = '';
      let signedIn: Promise<unknown> | undefined;
      const read = (chunk: Buffer) => {
        output += chunk;
        const url = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(output)?.[0];
        if (url) signedIn ??= signIn(url, testServer.account).then((callback) => fetch(callback));
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      const code = await new Promise((resolve) => child.on('close', resolve));
      await signedIn;
      expect([code, /Total: .*/.exec(output)?.[0] ?? output]).toEqual([0, 'Total: 3 passed, 0 failed']);
    } finally {
      child.kill();
      await testServer.stop();
    }
  },
);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
