// A server in a process of its own that is asked to create a record and stops dead in a hook, which it tells; the test
// then kills it. Arguments: the served database, the storage, and `Before` or `After`.
import { dirname } from 'node:path';
import { startServer } from '../server.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';

const [, , database, storage, position] = process.argv;
const server = await startServer({
  database: database!,
  env: { SERVICE_STORAGE_URL: storage!, SERVICE_DATA_DIR: dirname(storage!.slice('sqlite:'.length)) },
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
const { token } = await signedIn(server);
const attributes = { id: 1, name: 'anvil' };
process.send!(
  await callTool(server.mcpUrl, token, 'create', { collectionName: 'things', attributes, idempotencyKey: 'one' }),
);
