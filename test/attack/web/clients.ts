// Clients that strangers register and publish: names, redirect URIs, URLs to fetch, and floods of registrations.
import { authorizationUrl } from '../../oauth/client.ts';
import { type Attack, verdict } from '../attack.ts';
import { ask, headline, limited, on, redirectUri, registerRaw, web } from './web.ts';

/** A client with a redirect URI that is not on the user's device. */
const onTheWeb = { redirect_uris: ['https://notebook.example/callback'] };
const registration = { redirect_uris: [redirectUri] };

export const clientAttacks: readonly Attack[] = [
  {
    id: 'web-3-name-as-headline',
    finding: 'web 3',
    title: 'the name that a client gave itself is the headline of the consent (CWE-451)',
    place: web,
    on,
    async attack(target) {
      const { page } = await ask(target, await target.person(), {
        client_name: 'Claude by Anthropic (claude.ai)',
        ...onTheWeb,
      });
      return verdict(headline(page).includes('Claude'), headline(page));
    },
    protection: [
      {
        file: 'src/oauth/clients/display-name.ts',
        text: '  return verifiedHost ?? destination?.name ?? name;',
        into: '  return name;',
      },
    ],
  },
  {
    id: 'issue-18-remembered-self-registered',
    finding: 'issue 18',
    title:
      'the second authorization of a client that registered itself gives a code without a page (RFC 7591 section 5)',
    place: web,
    on,
    async attack(target) {
      const { browser, page, registered } = await ask(target, await target.person(), onTheWeb);
      await browser.press(page, 'allow');
      const [to = ''] = onTheWeb.redirect_uris;
      const scope = 'mcp:read mcp:write mcp:action';
      const { url } = await authorizationUrl(registered, { redirectUri: to, resource: target.mcpUrl, scope });
      const { leftTo, html } = await browser.open(url, { headers: { 'sec-fetch-site': 'none' } });
      return verdict(leftTo?.searchParams.has('code') ?? false, `${leftTo ?? /<h1[^>]*>([^<]*)/.exec(html)?.[1]}`);
    },
    protection: [
      {
        file: 'src/oauth/consent/consent.ts',
        text: '  if (!isDocumentClient(client.clientId)) return undefined;\n',
        into: '',
      },
    ],
  },
  {
    id: 'web-15-unseen-name',
    finding: 'web 15',
    title: 'a name of characters that cannot be seen is asked for (CWE-451)',
    place: web,
    on,
    async attack(target) {
      const { page } = await ask(target, await target.person(), { client_name: '\u3164', ...onTheWeb });
      return verdict(/“[\s\u3164]*”/.test(page.html), headline(page));
    },
    protection: [
      {
        file: 'src/core/suggestions/visible-text.ts',
        text: "    .replace(invisible, (found) => (/\\s/.test(found) ? ' ' : ''))\n",
        into: '',
      },
    ],
  },
  {
    id: 'web-6-final-dot',
    finding: 'web 6',
    title: 'a denied domain is registered with a final dot (CWE-184)',
    place: web,
    on,
    async attack(target) {
      const { status, text } = await registerRaw(target, { redirect_uris: ['https://evil.example./cb'] });
      return verdict(status === 201, `${status} ${text}`);
    },
    protection: [{ file: 'src/core/config/hosts.ts', text: ".replace(/\\.$/, '')", into: '' }],
  },
  {
    id: 'web-7-open-redirector',
    finding: 'web 7',
    title: 'a link to the server sends a browser where a stranger registered (RFC 9700 section 4.11.2)',
    place: web,
    on,
    async attack(target) {
      const metadata = { redirect_uris: ['https://phish.example/land'] };
      const ways = [{ prompt: 'none' }, { code_challenge_method: 'plain' }, { scope: 'mcp:read "' }];
      const left = [];
      for (const way of ways) left.push((await ask(target, undefined, metadata, way)).page.leftTo?.host);
      return verdict(left.includes('phish.example'), left);
    },
    protection: [
      { file: 'src/oauth/server/refusal-page.ts', text: 'if (await isDecided(ctx)) return;', into: 'return;' },
    ],
  },
  {
    id: 'web-7-scheme-of-the-system',
    finding: 'web 7',
    title: 'the answer is sent to a scheme that opens a program of the visitor',
    place: web,
    on,
    async attack(target) {
      const schemes = ['ms-msdt:/id', 'search-ms:query=x', 'intent://x', 'smb://host/x'];
      const statuses = [];
      for (const uri of schemes) statuses.push((await registerRaw(target, { redirect_uris: [uri] })).status);
      return verdict(statuses.includes(201), statuses);
    },
    protection: [{ file: 'src/oauth/clients/normalize.ts', text: ' && !isAppScheme(url.protocol)', into: ' && false' }],
  },
  {
    id: 'web-held-redirect-with-credentials',
    finding: 'web held',
    title: 'the host of a redirect looks like another one (CWE-451)',
    place: web,
    on,
    async attack(target) {
      const { status, text } = await registerRaw(target, { redirect_uris: ['https://claude.ai@far.example/cb'] });
      return verdict(status === 201, `${status} ${text}`);
    },
    protection: [
      {
        file: 'src/oauth/clients/normalize.ts',
        text: 'if (url.username || url.password) return',
        into: 'if (false) return',
      },
    ],
  },
  {
    id: 'web-8-one-network',
    finding: 'web 8',
    title: 'one IPv6 network has as many registrations as it has addresses (CWE-770)',
    place: limited,
    on,
    async attack(target) {
      const statuses = [];
      for (let n = 1; n <= 12; n++)
        statuses.push((await registerRaw(target, registration, { 'x-forwarded-for': `2001:db8:1:2:${n}::1` })).status);
      return verdict(statuses.filter((status) => status === 201).length > 5, statuses);
    },
    protection: [{ file: 'src/core/limit/addresses.ts', text: 'networkOf(64)', into: 'networkOf(128)' }],
  },
  {
    id: 'web-8-one-site',
    finding: 'web 8',
    title: 'a site with 65,536 IPv6 networks registers from each (CWE-770)',
    place: limited,
    on,
    async attack(target) {
      let made = 0;
      for (let n = 1; n <= 90; n++) {
        const { status } = await registerRaw(target, registration, { 'x-forwarded-for': `2001:db8:7:${n}::1` });
        if (status === 201) made++;
      }
      return verdict(made > 80, `${made} of 90`);
    },
    protection: [{ file: 'src/core/limit/addresses.ts', text: ', wide: networkOf(48) }', into: ' }' }],
  },
  {
    id: 'web-13-members-with-methods',
    finding: 'web 13',
    title: 'a registration with an object in place of a text is a 500 (CWE-248)',
    place: web,
    on,
    async attack(target) {
      const members = [
        'token_endpoint_auth_signing_alg',
        'request_object_signing_alg',
        'introspection_signed_response_alg',
      ];
      const statuses = [];
      for (const name of members)
        statuses.push((await registerRaw(target, { ...registration, [name]: { toString: 1 } })).status);
      return verdict(
        statuses.some((status) => status >= 500),
        statuses,
      );
    },
    protection: [
      {
        file: 'src/oauth/server/provider.ts',
        text: '    if (problem) throw new errors.InvalidClientMetadata(problem);\n',
        into: '',
      },
    ],
  },
  {
    id: 'web-16-https-on-the-device',
    finding: 'web 16',
    title: 'an app on the device passes for a web site by using https',
    place: web,
    on,
    async attack(target) {
      const { page } = await ask(target, await target.person(), { redirect_uris: ['https://localhost:7777/cb'] });
      return verdict(!headline(page).includes('on this device'), headline(page));
    },
    protection: [
      {
        file: 'src/oauth/clients/normalize.ts',
        text: '  if (isWeb && isLoopback(url)) return',
        into: "  if (url.protocol === 'http:' && isLoopback(url)) return",
      },
    ],
  },
  {
    id: 'web-held-markup-in-name',
    finding: 'web held',
    title: 'the name of a client is markup on the page of consent (CWE-79)',
    place: web,
    on,
    async attack(target) {
      const { page } = await ask(target, await target.person(), {
        client_name: '<img src=x onerror=alert(1)>',
        ...onTheWeb,
      });
      return verdict(
        page.html.includes('<img src=x'),
        page.html.slice(page.html.indexOf('<h1'), page.html.indexOf('<h1') + 300),
      );
    },
    protection: [
      { file: 'src/http/html.ts', text: '  return escapeText(String(part));', into: '  return String(part);' },
    ],
  },
];
