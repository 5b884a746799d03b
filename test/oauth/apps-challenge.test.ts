// The token with which OpenAI verifies the domain of an app for ChatGPT.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { copyDemo } from '../demo.ts';
import { startServer, type TestServer } from '../server.ts';

const path = '/.well-known/openai-apps-challenge';

describe.each([
  { token: 'v_8hKq-2XzL', status: 200, type: 'text/plain', body: 'v_8hKq-2XzL' },
  { token: undefined, status: 404, type: 'application/json', body: expect.stringContaining('not_found') },
])('with the token $token', ({ token, status, type, body }) => {
  let server: TestServer;
  const folder = mkdtempSync(join(tmpdir(), 'portico-challenge-'));
  beforeAll(async () => {
    copyDemo(join(folder, 'demo.sqlite'));
    const env = token === undefined ? {} : { SERVICE_OPENAI_APPS_CHALLENGE: token };
    server = await startServer({ database: `sqlite:${join(folder, 'demo.sqlite')}`, env });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test(`the path returns ${status}`, async () => {
    const answer = await fetch(server.address + path);
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      status,
      expect.stringContaining(type),
      body,
    ]);
    const posted = await fetch(server.address + path, { method: 'POST', body: 'x' });
    expect(posted.status).toBe(token === undefined ? 404 : 405);
  });
});

test.each(['two words', 'line\nbreak', 'x'.repeat(513)])('%j is refused as a token', (token) => {
  expect(() => loadConfig({ env: { SERVICE_OPENAI_APPS_CHALLENGE: token } })).toThrow(
    /SERVICE_OPENAI_APPS_CHALLENGE.*512 ASCII characters without spaces/,
  );
});
