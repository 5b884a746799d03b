// The official suite, with both frozen requirement sets, against the real application with a token
// of the real sign-in. The tests add only the tools of the fixture. The runner needs Node 22.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { connect, register } from '../oauth/client.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { findTool } from '../tools.ts';
import { type AuthProxy, conformanceFixture, openAuthProxy } from './fixture.ts';

function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(node!, [runner!, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const node = findTool('node22');
const runner = findTool('conformance');

describe.skipIf(!node || !runner)('official MCP conformance', () => {
  let database: TestDatabase;
  let server: TestServer;
  let proxy: AuthProxy;

  beforeAll(async () => {
    database = await servers[0]!.create();
    await runSql(database, ['CREATE TABLE notes (id INTEGER PRIMARY KEY, text VARCHAR(100))']);
    const mcp = { extension: conformanceFixture, legacySessions: 'auto' } as const;
    server = await startServer({ database: database.url, app: { mcp } });
    proxy = await openAuthProxy(new URL(server.mcpUrl), `Bearer ${await getToken(server)}`);
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
    await database.drop();
  });

  test.each([
    ['2025-11-25', 30],
    ['2026-07-28', 37],
  ])('every required scenario of %s passes', { timeout: 180_000 }, async (revision, required) => {
    const { code, output } = await run(['server', '--url', proxy.url, '--requirements', revision]);
    if (code !== 0) console.warn(output);
    expect({ code, ...scored(output) }).toEqual({ code: 0, passed: required, failed: [] });
  });
});

async function getToken({ address, mcpUrl, account }: TestServer): Promise<string> {
  const redirectUri = 'http://127.0.0.1:49152/callback';
  const registered = await register(address, {
    client_name: 'Conformance suite',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
  const { tokens } = await connect(registered, account, { redirectUri, resource: mcpUrl });
  return tokens.access_token;
}

/** The results in the summary, without the scenarios that the runner does not score for the revision. */
function scored(output: string): { passed: number; failed: string[] } {
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  const unscored = new Set([...summary.matchAll(/^ +[✓✗] (\S+) \([^)]*\)$/gm)].map((match) => match[1]));
  const lines = [...summary.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed/gm)];
  const counted = lines.filter((line) => !unscored.has(line[2]));
  return {
    passed: counted.filter((line) => line[1] === '✓').length,
    failed: counted.filter((line) => line[1] === '✗').map((line) => line[2]!),
  };
}
