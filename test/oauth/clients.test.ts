// Rejected client registrations and metadata documents, their error messages, and the limits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

let server: OAuthTestServer;
beforeAll(async () => {
  server = await startServer({ env: { SERVICE_DCR_PER_HOUR: '1000' } });
});
afterAll(() => server.stop());

async function tryRegister(metadata: unknown, from = server): Promise<[number, string, string]> {
  const response = await fetch(`${from.local}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
  const { error, error_description } = (await response.json()) as Record<string, string>;
  return [response.status, `${error}`, `${error_description}`];
}

test.each([
  [['http://evil.example/callback'], 'redirect_uris must be https, unless they point to localhost'],
  [['http://localhost.evil.example/callback'], 'redirect_uris must be https, unless they point to localhost'],
  [
    ['javascript:alert(1)'],
    'redirect_uris must not use the scheme javascript: an app uses a reversed domain name, such as com.example.app',
  ],
  [
    ['data:text/html,x'],
    'redirect_uris must not use the scheme data: an app uses a reversed domain name, such as com.example.app',
  ],
  [['https://a.example/#x'], 'redirect_uris must not contain fragments'],
  [['https://u:p@a.example/'], 'redirect_uris must not contain credentials'],
  [['https://*.example/'], 'redirect_uris must not contain spaces, backslashes or wildcards'],
  [['https://a.example\\@evil.example/'], 'redirect_uris must not contain spaces, backslashes or wildcards'],
  [['https://a.example/', 'https://a.example/x\\y'], 'redirect_uris must not contain spaces, backslashes or wildcards'],
  [['https://a.example/a b'], 'redirect_uris must not contain spaces, backslashes or wildcards'],
  [['/callback'], 'redirect_uris must only contain absolute URIs'],
  [[], 'redirect_uris must be a list of 1 to 50 URIs'],
  ['https://a.example/', 'redirect_uris must be a list of 1 to 50 URIs'],
])('registration with %j is refused according to RFC 7591', async (redirect_uris, description) => {
  expect(await tryRegister({ client_name: 'Notebook', redirect_uris })).toEqual([
    400,
    'invalid_redirect_uri',
    description,
  ]);
});

test('registration with invalid JSON or unsupported metadata is refused', async () => {
  const redirect_uris = ['https://a.example/'];
  expect([
    (await tryRegister('{')).slice(0, 2),
    (await tryRegister('[]')).slice(0, 2),
    await tryRegister({ redirect_uris, client_name: 'x'.repeat(201) }),
    await tryRegister({ redirect_uris, response_types: ['token'] }),
    await tryRegister({ redirect_uris, grant_types: ['client_credentials'] }),
    (await tryRegister({ redirect_uris, client_name: 'x'.repeat(60_000) })).slice(0, 2),
  ]).toEqual([
    [400, 'invalid_request'],
    [400, 'invalid_request'],
    [400, 'invalid_client_metadata', 'client_name must be a string of at most 200 characters'],
    [400, 'invalid_client_metadata', 'response_types must include code'],
    [400, 'invalid_client_metadata', 'grant_types must include authorization_code'],
    [413, 'body_too_large'],
  ]);
});

test('registration is limited for each address, with 429', async () => {
  const small = await startServer({ env: { SERVICE_DCR_PER_HOUR: '2' } });
  try {
    const body = { client_name: 'Notebook', redirect_uris: ['https://a.example/'] };
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await tryRegister(body, small))[0]);
    expect(statuses).toEqual([201, 201, 429]);
  } finally {
    await small.stop();
  }
});

test('disabled registration returns 404 and is not advertised', async () => {
  const closed = await startServer({ env: { SERVICE_DCR: 'false', SERVICE_CIMD: 'false' } });
  try {
    const metadata = await (await fetch(`${closed.local}/.well-known/oauth-authorization-server`)).json();
    const [status] = await tryRegister({ redirect_uris: ['https://a.example/'] }, closed);
    const document = metadata as Record<string, unknown>;
    expect([status, document.registration_endpoint, document.client_id_metadata_document_supported]).toEqual([
      404,
      undefined,
      false,
    ]);
  } finally {
    await closed.stop();
  }
});

async function askAs(clientId: string, redirectUri = 'https://a.example/'): Promise<[number, string]> {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const response = await fetch(`${server.local}/oauth/authorize?${query}`, {
    redirect: 'manual',
    headers: { accept: 'text/html' },
  });
  return [response.status, /<code>(.*?)<\/code>/.exec(await response.text())?.[1] ?? ''];
}

test.each([
  [
    'https://127.0.0.1/client.json',
    'invalid_client: client_id cannot be fetched: the host must be a name, not an address',
  ],
  ['https://[::1]/client.json', 'invalid_client: client_id cannot be fetched: the host must be a name, not an address'],
  ['https://localhost/client.json', 'invalid_client: client_id cannot be fetched: the host must be a public name'],
  ['https://db.internal/client.json', 'invalid_client: client_id cannot be fetched: the host must be a public name'],
  [
    'https://a.example:8443/client.json',
    'invalid_client: client_id cannot be fetched: only the default https port is allowed',
  ],
  ['http://a.example/client.json', 'invalid_client: client is invalid'],
  ['https://a.example/missing.json', 'invalid_client: client_id metadata document fetch failed'],
])('a metadata document at %s is refused', async (clientId, detail) => {
  expect(await askAs(clientId)).toEqual([400, detail]);
});

test('a metadata document must contain its own URL, no secret, and the requested redirect URI', async () => {
  const redirect_uris = ['https://a.example/'];
  const serve = (path: string, document: object) => {
    const clientId = `https://docs.example/${path}`;
    server.documents.set(clientId, { client_id: clientId, redirect_uris, ...document });
    return clientId;
  };
  expect([
    await askAs(serve('other', { client_id: 'https://docs.example/else', client_name: 'A' })),
    await askAs(serve('nameless', {})),
    await askAs(serve('secret', { client_name: 'A', client_secret: 'x' })),
    await askAs(serve('elsewhere', { client_name: 'A' }), 'https://evil.example/'),
  ]).toEqual([
    [400, 'invalid_client_metadata: client_id metadata document client_id does not match the expected value'],
    [400, 'invalid_client_metadata: client_name is required in a metadata document'],
    [
      400,
      'invalid_client_metadata: client_id metadata document must not contain client_secret or client_secret_expires_at',
    ],
    [400, 'invalid_redirect_uri: redirect_uri did not match any of the client&#39;s registered redirect_uris'],
  ]);
});

test('metadata documents are fetched at most thirty times a minute for one address', async () => {
  const other = await startServer();
  try {
    const details = [];
    for (let i = 0; i < 32; i++) {
      const query = new URLSearchParams({ client_id: `https://docs.example/${i}`, response_type: 'code' });
      const response = await fetch(`${other.local}/oauth/authorize?${query}`, { headers: { accept: 'text/html' } });
      details.push(/<code>(.*?)<\/code>/.exec(await response.text())?.[1]);
    }
    expect([details[29], details[30], details[31]]).toEqual([
      'invalid_client: client_id metadata document fetch failed',
      'temporarily_unavailable: too many client metadata documents; try again in a minute',
      'temporarily_unavailable: too many client metadata documents; try again in a minute',
    ]);
  } finally {
    await other.stop();
  }
});
