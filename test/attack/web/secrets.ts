// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Secrets of users and programs must not appear in the output of the process, even at log level Debug, nor in plain
// text in its storage.
import { TOTP } from 'otpauth';
import { createBrowser } from '../../oauth/flow.ts';
import { ask as askDevice } from '../../oauth/terminal.ts';
import { sessionToken } from '../../rest/front-end.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { dump } from './http.ts';
import { codeFor, on, post, redirectUri, tell, web } from './web.ts';

const talkative: Place = { ...web, name: 'web with a talkative log', env: { ...web.env, SERVICE_LOG_LEVEL: 'Debug' } };

type Secrets = Record<string, string>;

const told = new WeakMap<Target, Promise<Secrets>>();

/** Once per server. */
function secretsOf(target: Target): Promise<Secrets> {
  const known = told.get(target) ?? tellSecrets(target);
  told.set(target, known);
  return known;
}

/** Sends secrets of every kind to the server over HTTP, valid and invalid. */
async function tellSecrets(target: Target): Promise<Secrets> {
  const person = await target.person({ level: 'admin' });
  const other = await target.person();
  const browser = createBrowser();
  const at = (path: string) => target.consoleUrl + path;
  const secrets: Secrets = { password: person.password, 'wrong password': 'a password that is not right' };
  const { email, password } = person;

  // Users: passwords, sessions, a link, an authenticator app, and tokens that they create.
  const wrong = await browser.press(await browser.open(at('/account')), 'sign-in', {
    ...{ email, password: secrets['wrong password']! },
  });
  await browser.press(wrong, 'sign-in', { email, password });
  const form = await browser.open(at('/tokens/new?for=mcp'));
  const scope = ['mcp:read', 'mcp:write'];
  const made = await browser.press(form, 'make', { name: 'Told', level: 'read-write', expires: '30', password, scope });
  secrets['application token'] = need(/svc_[\w-]{43}/.exec(made.html)?.[0], 'application token');
  const linked = await browser.press(await browser.open(at(`/people/${other.id}`)), 'link');
  secrets.link = need(/\/welcome\/([\w-]{20,})/.exec(linked.html)?.[1], 'link');
  secrets['password of a link'] = 'a password that came by a link';
  const guest = createBrowser();
  const welcome = await guest.open(at(`/welcome/${secrets.link}`));
  const chosen = { new: secrets['password of a link'], again: secrets['password of a link'] };
  await guest.press(welcome, 'choose', chosen);
  await guest.open(at(`/welcome/${secrets.link}`));
  await guest.press(await guest.open(at('/account')), 'sign-in', {
    ...{ email: other.email, password: secrets['password of a link'] },
  });
  const app = await guest.open(at('/account/app'));
  secrets['secret of an app'] = need(/name="secret" value="([A-Z2-7]+)"/.exec(app.html)?.[1], 'secret of an app');
  const code = new TOTP({ secret: secrets['secret of an app'] }).generate();
  const switched = await guest.press(app, 'totp-on', { code, password: secrets['password of a link'] });
  secrets['recovery code'] = need(/[a-z0-9]{4}(?:-[a-z0-9]{4}){3}/.exec(switched.html)?.[0], 'recovery code');
  secrets['bearer of a remote server'] = 'remote-bearer-0123456789abcdef';
  await browser.press(await browser.open(at('/remotes')), 'add', {
    ...{ name: 'Far', url: 'http://127.0.0.1:9/mcp', signIn: 'bearer', secret: secrets['bearer of a remote server'] },
  });
  secrets['session of the HTTP API'] = await sessionToken(target.apiUrl, { email, password });
  await tell(`${target.apiUrl}/tags`, {
    headers: { authorization: `Bearer ${secrets['session of the HTTP API']}x` },
  });

  // Clients: a secret, codes, tokens, and all of them in wrong places.
  const method = { token_endpoint_auth_method: 'client_secret_post' };
  const granted = await codeFor(target, person, method);
  const { client } = granted.registered;
  secrets['client secret'] = `${client.client_secret}`;
  secrets.code = need(granted.leftTo.searchParams.get('code'), 'code');
  secrets.verifier = granted.verifier;
  const own = { client_id: client.client_id, client_secret: secrets['client secret'] };
  const redeem = { grant_type: 'authorization_code', code: secrets.code, redirect_uri: redirectUri, ...own };
  const { json: first } = await post(target, 'token', { ...redeem, code_verifier: granted.verifier });
  Object.assign(secrets, { 'access token': first.access_token, 'refresh token': first.refresh_token });
  const renew = { grant_type: 'refresh_token', refresh_token: secrets['refresh token'], ...own };
  const { json: second } = await post(target, 'token', renew);
  Object.assign(secrets, { 'second access token': second.access_token, 'second refresh token': second.refresh_token });
  await post(target, 'token', { ...renew, client_secret: `${secrets['client secret']}x` });
  await post(target, 'token', { ...redeem, code_verifier: granted.verifier });
  await post(target, 'revoke', { token: secrets['second access token'], ...own });
  for (const name of ['application token', 'access token', 'refresh token', 'second access token', 'code']) {
    const token = need(secrets[name], name);
    await target.caller(token).call('list', { collectionName: 'tags' });
    await target.caller('none', `?access_token=${token}`).call('list', { collectionName: 'tags' });
    await target.caller(`${token} and more`).call('list', { collectionName: 'tags' });
    await tell(`${target.origin}/v1/token?token=${token}`, { headers: { authorization: `Bearer ${token}` } });
    await tell(`${target.mcpUrl}/${token}`);
    await tell(target.mcpUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"a": ${token}`,
    });
  }
  const device = await askDevice(target.origin);
  await tell(device.verification_uri_complete);
  await post(target, 'token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: device.device_code,
    client_id: 'portico-cli',
  });
  Object.assign(secrets, { 'device code': device.device_code, 'user code': device.user_code });

  for (const [who, { cookies }] of Object.entries({ of: browser, 'of the other': guest }))
    for (const [name, { value }] of cookies) if (value.length > 20) secrets[`cookie ${name} ${who}`] = value;
  return secrets;
}

function need(found: string | null | undefined, what: string): string {
  if (!found) throw new Error(`a secret is not where it is shown to its owner: ${what}`);
  return found;
}

const foundIn = (text: string, secrets: Secrets): string[] =>
  Object.entries(secrets)
    .filter(([, value]) => text.includes(value))
    .map(([name]) => name);

/** Searches the storage for all secrets of a round. Each kind has its own protection. */
const kept = (what: string, id: string, protection: Attack['protection']): Attack => ({
  id: `web-held-${id}-in-the-storage`,
  finding: 'web held',
  title: `whoever reads the storage has ${what} (CWE-312)`,
  place: talkative,
  on,
  isSlow: true,
  async attack(target) {
    const secrets = await secretsOf(target);
    const found = foundIn(await dump(target), secrets);
    return verdict(found.length > 0, { found, secrets: Object.keys(secrets).length });
  },
  protection,
});

export const secretAttacks: readonly Attack[] = [
  {
    id: 'web-held-secrets-in-the-log',
    finding: 'web held',
    title: 'whoever reads the log has passwords, codes or tokens (CWE-532)',
    place: talkative,
    on,
    alone: true,
    async attack(target) {
      const secrets = await secretsOf(target);
      target.signal('SIGTERM');
      const { stdout, stderr } = await target.ended;
      const lines = stderr.split('\n').length;
      if (lines < 20) throw new Error(`the log says nothing: ${stderr.slice(0, 200)}`);
      const found = foundIn(stdout + stderr, secrets);
      return verdict(found.length > 0, { found, secrets: Object.keys(secrets).length, lines });
    },
    // The log lists request fields by name and masks no values.
    protection: [
      {
        file: 'src/oauth/server/provider-events.ts',
        text: '    address: addressOf(ctx.req),\n  });\n  const reportFailureAt',
        into: '    address: addressOf(ctx.req),\n    detail: JSON.stringify(ctx.oidc?.params ?? {}),\n  });\n  const reportFailureAt',
      },
    ],
  },
  {
    id: 'web-held-password-of-the-database',
    finding: 'web held',
    title: 'whoever reads what the process prints has the password of the database (CWE-532)',
    on: ['postgres'],
    place: {
      ...talkative,
      name: 'web whose database has a password',
      address(url) {
        const withPassword = new URL(url);
        withPassword.password = 'the-password-of-the-database';
        return withPassword.href;
      },
    },
    alone: true,
    async attack(target) {
      await (await target.person()).call('list', { collectionName: 'tags' });
      const { page } = await (await target.person({ level: 'admin' })).visit('/settings');
      target.signal('SIGTERM');
      const { stdout, stderr } = await target.ended;
      const printed = { stdout, stderr, page: page.html };
      const found = Object.entries(printed).filter(([, text]) => text.includes('the-password-of-the-database'));
      return verdict(
        found.length > 0,
        found.map(([where]) => where),
      );
    },
    protection: [
      {
        file: 'src/core/config/masking.ts',
        text: "const user = username || password ? '***@' : '';",
        into: "const user = username || password ? `${username}:${password}@` : '';",
      },
    ],
  },
  kept('application tokens', 'application-token', [
    { file: 'src/store/oauth/tokens.ts', text: 'token_hash: hashToken(secret),', into: 'token_hash: secret,' },
  ]),
  kept('one-time links', 'link', [
    {
      file: 'src/store/users/one-time-links.ts',
      text: 'detail: { expiresAt },',
      into: 'detail: { expiresAt, token },',
    },
  ]),
  kept('secrets of authenticator apps', 'app', [
    {
      file: 'src/store/users/second-factors.ts',
      text: 'sealed: encrypt(secret, key()), last_step',
      into: 'sealed: `${encrypt(secret, key())}.${secret}`, last_step',
    },
  ]),
  kept('secrets of remote servers', 'remote-server', [
    {
      file: 'src/store/remotes/remotes.ts',
      text: 'const sealed = bearer === undefined ? null : seal(bearer);',
      into: 'const sealed = bearer === undefined ? null : bearer;',
    },
  ]),
  kept('codes and tokens of clients', 'token', [
    {
      file: 'src/oauth/server/adapter.ts',
      text: 'const storedPayload: Record<string, unknown> = hashedModels.has(model) ? rest : payload;',
      into: 'const storedPayload: Record<string, unknown> = payload;',
    },
  ]),
];
