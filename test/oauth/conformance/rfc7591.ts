import { createBrowser } from '../flow.ts';
import { ask, endpoint, names, newClient, open, redirectUri, refusal, register, shown } from './asks.ts';
import type { Standard } from './case.ts';

const body = { client_name: 'Notebook', redirect_uris: [redirectUri] };

export const rfc7591: Standard = {
  name: 'RFC 7591',
  title: 'Dynamic Client Registration',
  url: 'https://www.rfc-editor.org/rfc/rfc7591',
  file: 'rfc7591.ts',
  cases: [
    {
      section: '2',
      level: 'MUST',
      requires: 'Unknown metadata is ignored',
      send: async (at) => (await register(at, { ...body, favourite_colour: 'blue', software_id: 'x' })).status,
      back: 201,
    },
    {
      section: '2',
      level: 'MAY',
      requires: 'Unsupported grants and response types are dropped, and the response contains the registered ones',
      async send(at) {
        const { status, json } = await register(at, {
          ...body,
          grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
          response_types: ['code', 'id_token'],
        });
        return [status, json.grant_types, json.response_types];
      },
      back: [201, ['authorization_code', 'refresh_token'], ['code']],
    },
    {
      section: '2',
      level: 'MAY',
      requires: 'A client that names no authentication method is public, and the response says so',
      async send(at) {
        const { json } = await register(at, body);
        return [json.token_endpoint_auth_method, 'client_secret' in json];
      },
      back: ['none', false],
      otherwise:
        'The default of the standard is `client_secret_basic`. Assistants that name nothing are programs on a device, which keep no secret; the answer names the value, as section 3.2.1 asks.',
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'Keys are sent as a document or as a URL, not both',
      send: async (at) =>
        shown(
          await register(at, {
            ...body,
            token_endpoint_auth_method: 'private_key_jwt',
            jwks: { keys: [] },
            jwks_uri: 'https://notebook.example/jwks',
          }),
        ),
      back: [400, 'invalid_client_metadata'],
    },
    {
      section: '3.1',
      level: 'MUST',
      requires: 'Registration is a JSON object by POST: anything else is refused',
      send: async (at) => [
        (await register(at, '{')).status,
        (await register(at, '[]')).status,
        (await register(at, 'client_name=x', { 'content-type': 'application/x-www-form-urlencoded' })).status,
        (await ask(endpoint(at, 'register'))).status,
      ],
      back: [400, 400, 400, 405],
    },
    {
      section: '3.2.1',
      level: 'MUST',
      requires: 'The response is 201, JSON with no-store, with the id and everything that was registered',
      async send(at) {
        const { status, headers, json } = await register(at, body);
        const [type, cache] = names(headers, 'content-type', 'cache-control');
        return [
          status,
          type?.split(';')[0],
          cache,
          typeof json.client_id,
          json.redirect_uris,
          json.client_name,
          json.grant_types,
          typeof json.client_id_issued_at,
        ];
      },
      back: [
        201,
        'application/json',
        'no-store',
        'string',
        [redirectUri],
        'Notebook',
        ['authorization_code', 'refresh_token'],
        'number',
      ],
    },
    {
      section: '3.2.1',
      level: 'MUST',
      requires: 'A secret is returned with its expiry time; 0 means never',
      async send(at) {
        const { json } = await register(at, { ...body, token_endpoint_auth_method: 'client_secret_basic' });
        return [Buffer.from(json.client_secret, 'base64url').length >= 32, json.client_secret_expires_at];
      },
      back: [true, 0],
    },
    {
      section: '3.2.1',
      level: 'MUST',
      requires: 'Each registration has a unique id, which cannot be guessed',
      async send(at) {
        const [one, two] = [await newClient(at), await newClient(at)];
        return [one.id === two.id, Buffer.from(one.id, 'base64url').length >= 16];
      },
      back: [false, true],
    },
    {
      section: '3.2.2',
      level: 'MUST',
      requires: 'An error is 400 with a code and a description in JSON',
      async send(at) {
        const { status, headers, json } = await register(at, { ...body, redirect_uris: ['/callback'] });
        const [type, cache] = names(headers, 'content-type', 'cache-control');
        return [status, type?.split(';')[0], cache, json.error, typeof json.error_description];
      },
      back: [400, 'application/json', 'no-store', 'invalid_redirect_uri', 'string'],
    },
    {
      section: '3.2.2',
      level: 'MUST',
      requires: 'Invalid redirect URIs are invalid_redirect_uri',
      async send(at) {
        const wrong = [
          [],
          'https://notebook.example/callback',
          ['http://notebook.example/callback'],
          ['https://notebook.example/#part'],
          ['https://user:secret@notebook.example/'],
          ['https://*.example/callback'],
          ['http://localhost.evil.example/callback'],
          [redirectUri, 'javascript:alert(1)'],
        ];
        const answers = await Promise.all(wrong.map((redirect_uris) => register(at, { ...body, redirect_uris })));
        return answers.map(shown);
      },
      back: Array(8).fill([400, 'invalid_redirect_uri']),
    },
    {
      section: '3.2.2',
      level: 'MUST',
      requires: 'Other invalid metadata is invalid_client_metadata',
      async send(at) {
        const wrong = [
          { response_types: ['token'] },
          { grant_types: ['client_credentials'] },
          { token_endpoint_auth_method: 'tls_client_auth' },
          { client_name: 'x'.repeat(201) },
          { client_name: 7 },
        ];
        return (await Promise.all(wrong.map((one) => register(at, { ...body, ...one })))).map(shown);
      },
      back: Array(5).fill([400, 'invalid_client_metadata']),
    },
    {
      section: '5',
      level: 'MUST',
      requires: 'The name of a client is its own claim: consent shows it as unverified',
      async send(at) {
        const { id } = await newClient(at, { client_name: 'Your Bank' });
        const browser = createBrowser();
        const page = await browser.press(await open(at, { client_id: id }, browser), 'sign-in', { ...at.account });
        return [page.html.includes('Your Bank'), /unverified|not verified|not been verified/i.test(page.html)];
      },
      back: [true, true],
    },
    {
      section: '5',
      level: 'MUST NOT',
      requires: 'A client cannot choose its own id or secret',
      async send(at) {
        const { json } = await register(at, { ...body, client_id: 'chosen', client_secret: 'chosen' });
        return [
          json.client_id === 'chosen',
          json.client_secret === 'chosen',
          await refusal(at, { client_id: 'chosen' }),
        ];
      },
      back: [false, false, 400],
    },
    {
      section: '5',
      level: 'SHOULD',
      requires: 'A registration is small: more than 56 KB is not read',
      send: async (at) => shown(await register(at, { ...body, client_name: 'x'.repeat(60_000) })),
      back: [413, 'body_too_large'],
    },
    {
      section: '3',
      level: 'MAY',
      requires: 'A registration cannot be read or changed afterwards (RFC 7592 is not supported)',
      async send(at) {
        const { json } = await register(at, body);
        const url = `${endpoint(at, 'register')}/${json.client_id}`;
        return [
          'registration_access_token' in json,
          (await ask(url)).status,
          (await ask(url, { method: 'PUT' })).status,
        ];
      },
      back: [false, 404, 404],
    },
  ],
};
