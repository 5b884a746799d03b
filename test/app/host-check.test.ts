// Every endpoint makes the same check of the Host header: the listen address and the public URL are accepted, other
// hosts are refused.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { openDesk } from './approvals.ts';

function ask(address: string, path: string, host: string): Promise<number | undefined> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const req = request({ hostname, port, path, headers: { host } }, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    req.on('error', reject);
    req.end();
  });
}

test('every endpoint accepts SERVICE_HOST and the public host, and refuses other hosts', async () => {
  const server = await openDesk({
    permissions: {},
    env: { SERVICE_HOST: '127.0.0.2', SERVICE_PUBLIC_URL: 'https://data.example.com' },
  });
  const { port } = new URL(server.address);
  const entrances = ['/mcp', '/oauth/jwks', '/console', '/v1/notes', new URL(server.apiUrl).pathname];
  const answers = [];
  for (const path of entrances)
    answers.push([
      path,
      (await ask(server.address, path, `127.0.0.2:${port}`)) === 403,
      (await ask(server.address, path, 'data.example.com')) === 403,
      (await ask(server.address, path, 'evil.example')) === 403,
    ]);
  expect(answers).toEqual(entrances.map((path) => [path, false, false, true]));
});
