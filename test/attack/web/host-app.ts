// An Express application with an agent in it, as users write it: parsers first, its own sign-in with a session cookie,
// and its own routes after the agent. It is bundled and started instead of the command (target.ts).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type * as Package from '../../../src/index.ts';
import type { HostCaller } from '../../../src/index.ts';

const callers: Readonly<Record<string, HostCaller>> = {
  nina: { subject: 'u-1', email: 'nina@shop.example' },
  otto: { subject: 'u-2', email: 'otto@shop.example' },
  // The email address of a user of Portico.
  thief: { subject: 'u-3', email: 'ada@example.test', emailVerified: true },
};

async function run(): Promise<void> {
  const { createAgent, createSqlDataSource } = (await import(process.env.PACKAGE_INDEX!)) as typeof Package;
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = createAgent({
    authSecret: 'the secret of the sessions of the agent',
    envSecret: 'the secret of the environment that is attacked',
    consolePath: '/console',
    isProduction: false,
    authenticate: ({ headers }) => callers[/(?:^|; )shop_session=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? ''] ?? null,
    passwordSignIn: true,
    settings: { publicUrl },
  });
  agent.addDataSource(createSqlDataSource(process.env.SERVICE_DATABASE_URL!)).mountAiMcpServer();
  const reached: string[] = [];
  app.get('/reached', (_req, res) => void res.json(reached));
  app.get('/login', (req, res) => {
    res.setHeader('Set-Cookie', `shop_session=${req.query.as}; Path=/`);
    res.send('welcome');
  });
  app.use(express.json(), express.urlencoded({ extended: true }), agent.requestHandler);
  app.use((req, res) => {
    reached.push(`${req.method} ${req.path}`);
    res.send('of the shop');
  });
  const { server: started } = await agent.start();
  process.on('SIGTERM', () => {
    server.closeAllConnections();
    server.close();
    void agent.stop();
  });
  console.log(`MCP address  ${started?.mcpUrl}\nmcpServers`);
}

run().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
