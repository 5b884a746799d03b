import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createAddressReader } from '../../src/http/client-address.ts';
import { createDocumentFetch, findAddressProblem, guardedFetch } from '../../src/oauth/clients/documents.ts';
import { anyDomain } from '../../src/oauth/clients/domains.ts';
import { canonicalResource, createPaths } from '../../src/oauth/server/paths.ts';

describe("the client's address", () => {
  const from = (remoteAddress: string, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

  test.each([
    [[], '::ffff:10.0.0.1', '1.2.3.4', '10.0.0.1', 'without trusted proxies the header is ignored'],
    [['loopback'], '127.0.0.1', '1.2.3.4', '1.2.3.4', 'the header of a trusted proxy is used'],
    [['10.0.0.0/8'], '10.9.9.9', '6.6.6.6, 1.2.3.4', '1.2.3.4', 'what a stranger wrote is not'],
    [['10.0.0.0/8'], '10.9.9.9', '6.6.6.6, 1.2.3.4, 10.1.1.1', '1.2.3.4', 'each trusted hop leads one further'],
    [['10.0.0.0/8'], '8.8.8.8', '1.2.3.4', '8.8.8.8', 'the header of another address is ignored'],
    [['uniquelocal'], '192.168.1.1', '1.2.3.4', '1.2.3.4', 'names of ranges work'],
    [['fd00::/8'], 'fd00::1', 'nonsense', 'fd00::1', 'an invalid address is ignored'],
  ])('behind %j, from %s for %s is %s: %#', (trusted, remote, forwarded, address) => {
    expect(createAddressReader(trusted)(from(remote, forwarded))).toBe(address);
  });

  test('cannot be configured with an invalid range', () => {
    expect(() => createAddressReader(['proxy.example'])).toThrow(
      "SERVICE_TRUSTED_PROXIES: expected addresses or networks such as 10.0.0.0/8, got 'proxy.example'.",
    );
  });
});

describe('a client document', () => {
  test('is not fetched from a name that resolves to this machine: no connection is made', async () => {
    let connections = 0;
    const server = createServer((_req, res) => res.end('secret')).on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const outcome = await guardedFetch(`http://localhost:${(server.address() as AddressInfo).port}/`, {
      headers: new Headers({ accept: 'application/json' }),
      signal: AbortSignal.timeout(2500),
    }).then(
      () => 'fetched',
      (error: Error) => (error.cause as Error).message,
    );
    await new Promise((resolve) => server.close(resolve));
    expect([outcome, connections]).toEqual(['localhost does not resolve to public addresses', 0]);
  });

  test('is never fetched without the check of its URL (jwks_uri included)', async () => {
    const fetchDocument = createDocumentFetch(anyDomain);
    const refused = [
      'https://127.0.0.1/jwks',
      'https://169.254.169.254/latest',
      'http://a.example/',
      'https://a.example:22/',
    ];
    const outcomes = await Promise.all(
      refused.map((url) =>
        fetchDocument(url).then(
          () => 'fetched',
          () => 'refused',
        ),
      ),
    );
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused']);
  });

  test('is fetched only from the allowed domains, if a list is set', () => {
    const problem = (url: string) =>
      findAddressProblem(url, { allowed: ['claude.ai'], denied: ['old.claude.ai'] }) ?? 'fine';
    const addresses = [
      'https://claude.ai/c',
      'https://api.claude.ai/c',
      'https://notclaude.ai/c',
      'https://a.old.claude.ai/c',
    ];
    expect(addresses.map(problem)).toEqual([
      'fine',
      'fine',
      'its domain is not on the allow-list of this server',
      'its domain is on the deny-list of this server',
    ]);
  });
});

test('the default port, the case of the host and a trailing slash do not change the resource', () => {
  const { resource } = createPaths('https://data.example.com', '/shop');
  expect(
    [
      'https://DATA.example.com:443/shop/mcp/',
      'https://data.example.com/Shop/mcp',
      'https://data.example.com/shop',
    ].map((sent) => canonicalResource(sent, resource) === resource),
  ).toEqual([true, false, false]);
});
