// The scopes that the challenge requests, and the calls that a granted token may make, against the real token check.
import { expect, test } from 'vitest';
import { connect, register } from '../oauth/client.ts';
import { ask, callTool } from './call.ts';
import { account, type Mounted, mounts, redirectUri, tokenOf } from './mounts.ts';

const [, openUnderBasePath] = mounts[1]!;
const create = { collectionName: 'customers', attributes: { id: 77, name: 'Sol', city: 'Bergen' } };

const challengeOf = async ({ mcpUrl }: Mounted, query = '') =>
  (await ask(`${mcpUrl}${query}`, undefined, 'tools/list', {})).headers.get('www-authenticate');

const metadataOf = ({ origin }: Mounted) => `${origin}/.well-known/oauth-protected-resource/data/mcp`;

test('the 401 challenge names every scope that the served tools need', async () => {
  const all = await openUnderBasePath();
  const some = await openUnderBasePath({ mcp: { enabledTools: ['describeCollection', 'list'] } });
  expect([await challengeOf(all), await challengeOf(some)]).toEqual([
    `Bearer resource_metadata="${metadataOf(all)}", scope="mcp:read mcp:write mcp:action"`,
    `Bearer resource_metadata="${metadataOf(some)}", scope="mcp:read"`,
  ]);
});

test('a URL with parameters has the same metadata URL, without the parameters', async () => {
  const mounted = await openUnderBasePath();
  const { resource } = (await (await fetch(metadataOf(mounted))).json()) as { resource: string };
  expect([await challengeOf(mounted, '?readonly=true&collections=orders'), resource]).toEqual([
    await challengeOf(mounted),
    mounted.mcpUrl,
  ]);
});

test.each([
  ['2026-07-28', 'modern'],
  ['2025-11-25', 'legacy'],
] as const)(
  'step-up, %s: a read token gets a challenge for create, and a token with the named scopes can call it',
  async (_version, era) => {
    const mounted = await openUnderBasePath();
    const { mcpUrl } = mounted;
    const shown = async (token: string) => {
      const { text } = await ask(mcpUrl, token, 'tools/list', {}, { era });
      return JSON.parse(text).result.tools.some(({ name }: { name: string }) => name === 'create');
    };
    const reader = await tokenOf(mounted, 'mcp:read');
    const refused = await ask(mcpUrl, reader, 'tools/call', { name: 'create', arguments: create }, { era });
    const challenge = `${refused.headers.get('www-authenticate')}`;
    const writer = await tokenOf(mounted, /scope="([^"]*)"/.exec(challenge)![1]);
    expect([
      await shown(reader),
      refused.status,
      challenge,
      await shown(writer),
      await callTool(mcpUrl, writer, 'create', create, { era }),
    ]).toEqual([
      false,
      403,
      `Bearer error="insufficient_scope", resource_metadata="${metadataOf(mounted)}", scope="mcp:read mcp:write"`,
      true,
      { json: expect.objectContaining({ count: 1, ids: ['77'] }) },
    ]);
  },
);

test('a token for a resource URL with parameters is valid with any parameters', async () => {
  const mounted = await openUnderBasePath();
  const { origin, prefix, mcpUrl } = mounted;
  const registered = await register(`${origin}${prefix}`, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const resource = `${mcpUrl}?readonly=true&collections=orders`;
  const { access_token: token } = (await connect(registered, account, { redirectUri, resource })).tokens;
  const count = { collectionName: 'customers', operation: 'count' };
  expect([
    await callTool(mcpUrl, token, 'aggregate', count),
    await callTool(resource, token, 'aggregate', count),
    await callTool(`${mcpUrl}?readonly=true`, token, 'create', create),
    await callTool(mcpUrl, token, 'create', create),
  ]).toEqual([
    { json: expect.objectContaining({ columns: ['count'] }) },
    { error: expect.stringContaining('UNKNOWN_COLLECTION') },
    { error: expect.stringContaining('FORBIDDEN') },
    { json: expect.objectContaining({ count: 1 }) },
  ]);
});
