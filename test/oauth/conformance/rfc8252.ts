import { createBrowser } from '../flow.ts';
import { allow, desktop, newClient, open, redirectUri, refusal, register, shown } from './asks.ts';
import type { Standard } from './case.ts';

export const rfc8252: Standard = {
  name: 'RFC 8252',
  title: 'OAuth 2.0 for Native Apps',
  url: 'https://www.rfc-editor.org/rfc/rfc8252',
  file: 'rfc8252.ts',
  cases: [
    {
      section: '7.1',
      level: 'MUST',
      requires: 'An app is redirected to its own URI scheme',
      async send(at) {
        const own = 'cursor://anysphere.cursor-mcp/oauth/callback';
        const { id } = await newClient(at, { redirect_uris: [own] });
        const callback = await allow(at, { client_id: id, redirect_uri: own }, createBrowser());
        return [callback.href.split('?')[0], callback.searchParams.has('code')];
      },
      back: ['cursor://anysphere.cursor-mcp/oauth/callback', true],
    },
    {
      section: '7.2',
      level: 'MUST',
      requires: 'An app may use an https redirect URI, which is compared exactly',
      async send(at) {
        const { id } = await newClient(at, { redirect_uris: [redirectUri, 'http://127.0.0.1/'] });
        const callback = await allow(at, { client_id: id }, createBrowser());
        const other = await refusal(at, { client_id: id, redirect_uri: 'https://notebook.example:444/callback' });
        return [callback.origin, other];
      },
      back: ['https://notebook.example', 400],
    },
    {
      section: '7.3',
      level: 'MUST',
      requires: 'A loopback redirect URI accepts any port, by IPv4, IPv6 and name',
      async send(at) {
        const hosts = ['127.0.0.1', '[::1]', 'localhost'];
        const { id } = await newClient(at, { redirect_uris: hosts.map((host) => `http://${host}/callback`) });
        const sentTo = hosts.map(async (host) => {
          const redirect_uri = `http://${host}:51004/callback`;
          const { href } = await allow(at, { client_id: id, redirect_uri }, createBrowser());
          return href.split('?')[0];
        });
        return Promise.all(sentTo);
      },
      back: ['http://127.0.0.1:51004/callback', 'http://[::1]:51004/callback', 'http://localhost:51004/callback'],
    },
    {
      section: '7.3',
      level: 'MUST NOT',
      requires: 'Loopback names are not interchangeable, and no other host is loopback',
      async send(at) {
        const { id } = await desktop(at);
        const wrong = [
          'http://localhost:1/callback',
          'http://[::1]:1/callback',
          'http://127.0.0.1.evil.example/callback',
        ];
        return Promise.all(wrong.map((redirect_uri) => refusal(at, { client_id: id, redirect_uri })));
      },
      back: [400, 400, 400],
    },
    {
      section: '8.1',
      level: 'MUST',
      requires: 'An app proves that it began the flow: a code challenge is required',
      async send(at) {
        const { id } = await desktop(at);
        const redirect_uri = 'http://127.0.0.1:51004/callback';
        const asked = { client_id: id, redirect_uri, code_challenge: undefined, code_challenge_method: undefined };
        return ((await refusal(at, asked)) as { error: string }).error;
      },
      back: 'invalid_request',
    },
    {
      section: '8.4',
      level: 'MUST',
      requires: 'An app registers complete redirect URIs, and its application type is stored',
      async send(at) {
        const { json } = await register(at, { redirect_uris: ['http://127.0.0.1/callback'], application_type: 'web' });
        return [json.application_type, json.token_endpoint_auth_method];
      },
      back: ['native', 'none'],
    },
    {
      section: '8.4',
      level: 'SHOULD',
      requires: 'Schemes without a period are refused, except those of a few known apps',
      send: async (at) => [
        (await register(at, { redirect_uris: ['notebook://callback'] })).status,
        (await register(at, { redirect_uris: ['cursor://anysphere.cursor-mcp/callback'] })).status,
      ],
      back: [400, 201],
    },
    {
      section: '8.6',
      level: 'SHOULD NOT',
      requires: 'A client on a device needs consent every time: any program there can claim its identity',
      async send(at) {
        const { id } = await newClient(at, { redirect_uris: ['http://127.0.0.1/callback'] });
        const browser = createBrowser();
        const asked = { client_id: id, redirect_uri: 'http://127.0.0.1:51004/callback' };
        await allow(at, asked, browser);
        const { html } = await open(at, asked, browser);
        return html.includes('value="allow"');
      },
      back: true,
    },
    {
      section: '8.3',
      level: 'MUST',
      requires: 'Plain http is accepted only for this device',
      send: async (at) => shown(await register(at, { redirect_uris: ['http://notebook.example/callback'] })),
      back: [400, 'invalid_redirect_uri'],
    },
  ],
};
