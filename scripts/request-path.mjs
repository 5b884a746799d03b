// `node scripts/request-path.mjs [--files]` prints how many files of src/ one request executes, by folder: an MCP `list`
// and a call of a workflow's webhook. It starts an agent over the demo shop in this process, signs in as a client does,
// and repeats each request until it is warm. Then V8 counts the function calls of one request at a time (precise
// coverage). A file counts if every measured request calls one of its functions, so timers that happen to run are left
// out. The code that a module runs when it is loaded does not count. With --files it also prints each file with its
// functions.
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { register } from 'tsx/esm/api';

const WARM = 5;
const MEASURED = 3;
/** Until delayed work of earlier requests is done, such as entries of the activity log that are written in batches. */
const PAUSE_MS = 300;
/** esbuild adds this function to each file, to keep the names of inner functions. */
const ADDED = '__name';

register();
const { obtainTokens, register: registerClient } = await import('../bench/client.ts');
const { operations } = await import('../bench/operations.ts');
const { writeDemo } = await import('../examples/demo-shop/shop.ts');
const { systemClock } = await import('../src/core/clock.ts');
const { loadConfig } = await import('../src/core/config.ts');
const { loadSqliteDriver } = await import('../src/core/sqlite.ts');
const { createApp } = await import('../src/server/create-server.ts');
const { parseDefinition } = await import('../src/workflows/definition/definition.ts');

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = pathToFileURL(join(root, 'src/')).href;
const account = { email: 'ada@example.com', password: 'a password that counts files' };

/** The functions that were called since the last count, by file. */
async function takeCalls(inspector) {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const calls = new Map();
  for (const { url, functions } of result) {
    if (!url.startsWith(source)) continue;
    const called = functions.filter(
      ({ functionName, ranges: [{ startOffset, count }] }) =>
        // The function at the start of a file is the module itself.
        count > 0 && startOffset > 0 && functionName !== ADDED,
    );
    const file = relative(root, fileURLToPath(url.split('?')[0]));
    if (called.length > 0) calls.set(file, new Map(called.map((one) => [one.ranges[0].startOffset, one.functionName])));
  }
  return calls;
}

async function measure(inspector, request) {
  for (let turn = 0; turn < WARM; turn++) await request();
  let common;
  for (let turn = 0; turn < MEASURED; turn++) {
    await sleep(PAUSE_MS);
    await takeCalls(inspector);
    await request();
    const calls = await takeCalls(inspector);
    for (const [file, functions] of common ?? []) {
      for (const at of functions.keys()) if (!calls.get(file)?.has(at)) functions.delete(at);
      if (functions.size === 0) common.delete(file);
    }
    common ??= calls;
  }
  return common;
}

function print(name, calls) {
  const folders = new Map();
  let total = 0;
  for (const [file, functions] of [...calls].sort(([a], [b]) => a.localeCompare(b))) {
    const folder = dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), [file, [...functions.values()]]]);
    total += functions.size;
  }
  console.log(`${name}: ${calls.size} files, ${total} functions`);
  for (const [folder, files] of folders) {
    const functions = files.reduce((sum, [, names]) => sum + names.length, 0);
    console.log(`  ${folder.padEnd(40)} ${`${files.length}`.padStart(3)} ${`${functions}`.padStart(4)}`);
    if (!process.argv.includes('--files')) continue;
    for (const [file, names] of files) console.log(`    ${file}: ${names.map((each) => each || '(...)').join(', ')}`);
  }
}

async function post(url, headers, body, status) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== status || text.includes('"isError":true')) throw new Error(`${url}: ${text}`);
  return response;
}

/** An MCP client of the revision that most clients use, with its initialization done. */
async function createList({ address, mcpUrl }) {
  const { access_token: token } = await obtainTokens(address, await registerClient(address), account);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const protocolVersion = '2025-11-25';
  const clientInfo = { name: 'request-path', version: '0' };
  const opening = { method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } };
  const { headers: answered } = await post(mcpUrl, headers, { jsonrpc: '2.0', id: 0, ...opening }, 200);
  headers['mcp-protocol-version'] = protocolVersion;
  const session = answered.get('mcp-session-id');
  if (session) headers['mcp-session-id'] = session;
  await post(mcpUrl, headers, { jsonrpc: '2.0', method: 'notifications/initialized' }, 202);
  const { given } = operations.find(({ name }) => name === 'list');
  const params = { name: 'list', arguments: given(0) };
  let id = 0;
  return () => post(mcpUrl, headers, { jsonrpc: '2.0', id: ++id, method: 'tools/call', params }, 200);
}

async function createTrigger({ address, store }, { id: userId }) {
  const { renderingId } = await store.permissions.caller(userId);
  const steps = [{ id: 'look', type: 'read-record', fields: ['total'] }];
  const definition = parseDefinition({ name: 'look', collection: 'orders', steps });
  const wish = { renderingId, name: 'look', collection: 'orders', concurrency: null, by: userId };
  const workflow = await store.workflows.publish({ ...wish, definition: JSON.stringify(definition) });
  const { secret } = await store.tokens.create({ userId, name: 'request-path', scopes: ['all'] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const settings = `/v1/project/My%20project/environment/Production/workflows/${workflow.id}/trigger`;
  const enabling = { method: 'PATCH', headers, body: JSON.stringify({ enabled: true }) };
  const { url } = await (await fetch(address + settings, enabling)).json();
  let record = 0;
  return () => post(url, headers, { record_id: `${++record}` }, 202);
}

const folder = mkdtempSync(join(tmpdir(), 'portico-request-path-'));
const inspector = new Session();
inspector.connect();
try {
  const database = join(folder, 'demo.sqlite');
  writeDemo(database, { driver: loadSqliteDriver().driver, clock: systemClock });
  const env = {
    SERVICE_DATA_DIR: folder,
    SERVICE_DATABASE_URL: `sqlite:${database}`,
    SERVICE_LOG_LEVEL: 'Error',
    // The started runs are executed later, and by other processes.
    SERVICE_WORKFLOWS: 'false',
    SERVICE_WEBHOOK_PER_MINUTE: '1000',
    MCP_SERVER_PORT: '0',
  };
  const app = createApp(loadConfig({ env }), { version: '0.0.0-request-path' });
  const started = await app.start();
  const user = await started.store.identity.addUser({ ...account, level: 'admin' });
  const list = await createList(started);
  const trigger = await createTrigger(started, user);
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  print('MCP list', await measure(inspector, list));
  print('Webhook trigger', await measure(inspector, trigger));
  await app.stop('measured');
} finally {
  inspector.disconnect();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
