// Raw HTTP, and the data that is stored, logged and exported.
import knex from 'knex';
import { sendRaw } from '../../app/socket.ts';
import { ask as askDevice } from '../../oauth/terminal.ts';
import { type Attack, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { connectClient, on, tell, web } from './web.ts';

/** Every value of every table of the storage, as someone with a copy of it reads them. */
export async function dump({ storage }: Target): Promise<string> {
  const filename = storage.replace('sqlite:', '');
  const file = knex({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true });
  try {
    const tables = (await file('sqlite_master').where({ type: 'table' }).select('name')) as { name: string }[];
    return JSON.stringify(await Promise.all(tables.map(({ name }) => file(name))));
  } finally {
    await file.destroy();
  }
}

const places = [
  '/mcp',
  '/oauth/jwks',
  '/.well-known/oauth-authorization-server',
  '/v1/openapi.json',
  '/console/sign-in',
];

export const httpAttacks: readonly Attack[] = [
  {
    id: 'web-held-rebound-host',
    finding: 'web held',
    title: 'a page whose name was pointed at this machine reaches the server (CWE-350)',
    place: web,
    on,
    async attack({ mcpUrl }) {
      const statuses = [];
      for (const path of places) statuses.push((await sendRaw(mcpUrl, `GET ${path}`, { Host: 'evil.example' })).status);
      return verdict(
        statuses.some((status) => status !== 403),
        statuses,
      );
    },
    protection: [
      {
        file: 'src/http/host-check.ts',
        text: 'if (name === undefined || !hosts.has(name)) return false;',
        into: 'if (name === undefined) return false;',
      },
    ],
  },
  {
    id: 'web-held-foreign-origin',
    finding: 'web held',
    title: 'a page of another site calls the tools (MCP, security warning of the transport)',
    place: web,
    on,
    async attack(target) {
      const { token } = await target.person();
      const headers = {
        ...{ origin: 'https://evil.example', authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
      const { status, headers: told } = await tell(target.mcpUrl, { method: 'POST', headers, body });
      return verdict(status === 200, `${status} ${told.get('access-control-allow-origin')}`);
    },
    protection: [
      {
        file: 'src/mcp/endpoint.ts',
        text: '    if (refusal) throw refusal;\n',
        into: '',
      },
    ],
  },
  {
    id: 'web-19-two-hosts',
    finding: 'web 19',
    title: 'two Host headers are answered by the first (RFC 9112 section 3.2)',
    place: web,
    on,
    async attack({ mcpUrl, origin }) {
      const { host } = new URL(origin);
      const statuses = [];
      for (const path of places)
        statuses.push((await sendRaw(mcpUrl, `GET ${path}`, { Host: host, host: 'evil.example' })).status);
      return verdict(
        statuses.some((status) => status !== 400),
        statuses,
      );
    },
    protection: [
      {
        file: 'src/server/http-server.ts',
        text: '    if (hasDuplicateHost(req))\n      return',
        into: '    if (false) return',
      },
    ],
  },
  {
    id: 'web-held-body-too-large',
    finding: 'web held',
    title: 'a body that is larger than may be sent, and does not say so, is read (CWE-770)',
    place: web,
    on,
    async attack(target) {
      const { token } = await target.person();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: { x: 'x'.repeat(5_000_000) },
      });
      // A stream is sent without Content-Length.
      const init = { method: 'POST', headers, body: new Blob([body]).stream(), duplex: 'half' } as RequestInit;
      const status = await tell(target.mcpUrl, init).then(
        (told) => told.status,
        // The server closed the connection during the upload.
        () => 413,
      );
      const { status: depth } = await tell(target.mcpUrl, { method: 'POST', headers, body: `${'['.repeat(5000)}` });
      return verdict(status !== 413, { status, depth });
    },
    protection: [
      { file: 'src/mcp/endpoint.ts', text: '{ bytes: config.bodyLimitBytes,', into: '{ bytes: 50_000_000,' },
    ],
  },
  {
    id: 'web-19-kept-answers',
    finding: 'web 19',
    title: 'an answer with data may be kept by whoever passes it on (CWE-525)',
    place: web,
    on,
    async attack(target) {
      const { token } = await target.person();
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
      const told = await tell(target.mcpUrl, { method: 'POST', headers, body });
      const control = told.headers.get('cache-control');
      return verdict(told.status === 200 && control !== 'no-store', `${told.status} ${control}`);
    },
    protection: [{ file: 'src/mcp/endpoint.ts', text: "    res.setHeader('Cache-Control', 'no-store');\n", into: '' }],
  },
  {
    id: 'web-19-codes-in-the-storage',
    finding: 'web 19',
    title: 'whoever reads the storage types the code of a terminal (CWE-312)',
    place: web,
    on,
    async attack(target) {
      const { user_code } = await askDevice(target.origin);
      const kept = await dump(target);
      return verdict(kept.includes(user_code.replace('-', '')), { user_code, bytes: kept.length });
    },
    protection: [{ file: 'src/oauth/device/user-codes.ts', text: "encrypt(code, keys[0] ?? '')", into: 'code' }],
  },
  {
    id: 'web-held-tokens-in-the-storage',
    finding: 'web held',
    title: 'whoever reads the storage has tokens, passwords or secrets (CWE-312)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person();
      const { access, refresh, registered } = await connectClient(target, person, {
        token_endpoint_auth_method: 'client_secret_post',
      });
      const kept = await dump(target);
      const secrets = { access, refresh, password: person.password, token: person.token };
      const all = { ...secrets, client: `${registered.client.client_secret}` };
      const found = Object.entries(all).filter(([, value]) => kept.includes(value));
      return verdict(
        found.length > 0,
        found.map(([name]) => name),
      );
    },
    protection: [
      {
        file: 'src/oauth/server/adapter.ts',
        text: 'client_secret: hashToken(secret) }',
        into: 'client_secret: hashToken(secret), storedPayload: secret }',
      },
    ],
  },
  {
    id: 'web-held-formula-in-an-export',
    finding: 'web held',
    title: 'the name of a client is a formula in an exported log (CWE-1236)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person();
      const { access } = await connectClient(target, person, { client_name: '=HYPERLINK("https://evil.example")' });
      await target.caller(access).call('create', { collectionName: 'tags', attributes: { label: 'x' } });
      const visit = await person.visit('/activity');
      const { html } = await visit.open('/activity/export?format=csv');
      return verdict(
        /(?:^|,)"?=HYPERLINK/m.test(html),
        html
          .split('\n')
          .filter((line) => line.includes('HYPERLINK'))
          .join(' '),
      );
    },
    protection: [{ file: 'src/http/csv-cell.ts', text: 'quote(neutralizeFormula(text))', into: 'quote(text)' }],
  },
];
