// A server in its own process that gets a create call and hangs in a hook. It reports the hook, and the test kills it.
// Arguments: the served database, the storage, `Before` or `After`, and `mcp` or `http` for the caller.
import { dirname } from 'node:path';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { startServer } from '../server.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';

const [, , database, storage, position, way] = process.argv;
const server = await startServer({
  database: database!,
  env: {
    SERVICE_AGENT_ORIGINS: frontOrigin,
    SERVICE_STORAGE_URL: storage!,
    SERVICE_DATA_DIR: dirname(storage!.slice('sqlite:'.length)),
  },
  app: {
    customize: (agent) =>
      agent.customizeCollection('things', (things) =>
        things.addHook(position as 'Before' | 'After', 'Create', () => {
          process.send!('in the hook');
          return new Promise(() => {});
        }),
      ),
  },
});
const attributes = { id: 1, name: 'anvil' };

async function createOverMcp(): Promise<unknown> {
  const { token } = await signedIn(server);
  return callTool(server.mcpUrl, token, 'create', { collectionName: 'things', attributes, idempotencyKey: 'one' });
}

async function createOverHttp(): Promise<unknown> {
  const api = `${new URL(server.mcpUrl).origin}/service`;
  const headers = {
    authorization: `Bearer ${await sessionToken(api, server.account)}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ data: { attributes } });
  return (await fetch(`${api}/things`, { method: 'POST', headers, body })).text();
}

process.send!(await (way === 'http' ? createOverHttp() : createOverMcp()));
