// A platform and an agent as operators run them: two processes of the command that share only the secret.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import { buildOnce, makePlace, portico, type StartedServer, startServer } from '../cli/command.ts';
import { takePort } from '../ports.ts';
import { envSecret, platformSettings } from './platform-servers.ts';

const places = [makePlace(), makePlace()] as const;
const account = { email: 'you@example.com', password: 'correct horse battery' };
const processes: StartedServer[] = [];
beforeAll(buildOnce);
afterAll(async () => {
  for (const one of processes.reverse()) {
    one.signal('SIGTERM');
    await one.ended;
  }
  for (const one of places) one.remove();
});

test('users are administered at the platform, and served by the agent', async () => {
  const [{ folder }, agentPlace] = places;
  const [first, second] = [await takePort(), await takePort()];
  await Promise.all([first.free(), second.free()]);
  const serverUrl = `http://127.0.0.1:${first.port}`;
  const env = { SERVICE_SERVER_URL: serverUrl, SERVICE_ENV_SECRET: envSecret };
  const doctor = async () =>
    /^.*Platform[: ].*$/m.exec((await portico(['doctor'], { ...agentPlace, env })).stdout)?.[0].trim();
  const without = [
    await doctor(),
    (await portico(['start', '--port', `${second.port}`], { ...agentPlace, env })).stderr,
  ];
  processes.push(await startServer(['--port', `${first.port}`], { folder, env: platformSettings }));
  const set = await portico(['user', 'password', account.email, '--password-stdin'], {
    folder,
    input: `${account.password}\n`,
  });
  const elsewhere = await portico(['user', 'list'], { ...agentPlace, env });
  processes.push(await startServer(['--port', `${second.port}`], { ...agentPlace, env }));
  const mcpUrl = `http://127.0.0.1:${second.port}/mcp`;
  const { token } = await signedIn({ mcpUrl } as never, account);
  const counted = await callTool(mcpUrl, token, 'aggregate', { collectionName: 'products', operation: 'count' });
  expect([without, set.code, elsewhere.code, elsewhere.stderr, await doctor(), counted]).toMatchObject([
    [
      expect.stringContaining(`serverUrl: no server answers at ${serverUrl}/platform (ECONNREFUSED)`),
      expect.stringContaining(`serverUrl: no server answers at ${serverUrl}/platform (ECONNREFUSED)`),
    ],
    0,
    1,
    expect.stringContaining(
      `SERVICE_SERVER_URL: ${serverUrl} keeps users, permissions and logs. Run this command there.`,
    ),
    expect.stringContaining(`Platform ${serverUrl}: environment 'Production' of 'My project'`),
    { json: {} },
  ]);
}, 60_000);
