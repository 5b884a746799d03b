// A server in its own process with a limit on file size, as on a full disk. It keeps creating records, creates one more
// after the limit is lifted, and sends the answers. Arguments: the served database, the storage.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { startServer } from '../server.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';

const [, , database, storage] = process.argv;
const file = storage!.slice('sqlite:'.length);
const server = await startServer({
  database: database!,
  env: { SERVICE_STORAGE_URL: storage!, SERVICE_DATA_DIR: dirname(file) },
});
const { token } = await signedIn(server);
const create = (id: number) =>
  callTool(server.mcpUrl, token, 'create', { collectionName: 'things', attributes: { id, name: 'anvil' } });
const limitFiles = (bytes: number | 'unlimited') =>
  execFileSync('/usr/bin/prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]);

// Without a handler, the system ends the process with this signal at the limit.
process.on('SIGXFSZ', () => {});
// The driver without native code has no WAL file, and the database file grows slowly.
const log = `${file}-wal`;
limitFiles(existsSync(log) ? statSync(log).size + 400_000 : statSync(file).size + 8_000);
const answers: unknown[] = [];
const ready = async () => (await fetch(server.mcpUrl.replace(/\/mcp$/, '/readyz'))).status;
const readiness = [await ready()];
for (let id = 1; id <= 40; id++) answers.push(await create(id).catch(String));
readiness.push(await ready());
const reads = [];
for (let n = 0; n < 5; n++) reads.push(await callTool(server.mcpUrl, token, 'list', { collectionName: 'things' }));
await systemClock.sleep(300);
limitFiles('unlimited');
readiness.push(await ready());
answers.push(await create(1000));
await server.stop();
process.send!({ answers, reads, readiness });
