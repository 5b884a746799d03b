// Remote servers, webhooks, callbacks and approvals.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { systemClock } from '../../../src/core/clock.ts';
import { openRemote } from '../../workflow/remote/server.ts';
import { type Attack, verdict } from '../attack.ts';
import { feel, isHeldUp, listOf } from '../standstill.ts';
import { all, type Person, type Target } from '../target.ts';
import { on, openInside, tell, web } from './web.ts';

const api = '/v1/project/My%20project/environment/Production/workflows';

/** A workflow of this person's team, with its webhook enabled. */
async function hook(target: Target, person: Person, steps: readonly object[]) {
  const { renderingId } = (await target.store.permissions.caller(person.id))!;
  const { secret } = await target.store.tokens.create({ userId: person.id, name: 'hook', scopes: ['all'] });
  const name = `Flow of ${person.email}`;
  const definition = JSON.stringify({ name, collection: 'orders', steps });
  const wanted = { renderingId, name, collection: 'orders', concurrency: null, by: person.id, definition };
  const { id } = await target.store.workflows.publish(wanted);
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const change = (wish: object) =>
    tell(`${target.origin}${api}/${id}/trigger`, { method: 'PATCH', headers, body: JSON.stringify(wish) });
  const { json } = await change({ enabled: true });
  const call = (recordId: string, more: Record<string, string> = {}, url: string = json.url) =>
    tell(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ record_id: recordId }) });
  return { id, url: `${json?.url}`, change, call };
}

async function ended(target: Target, runId: string): Promise<void> {
  for (let at = 0; at < 100; at++) {
    const run = await target.store.runs.find(runId);
    if (run && !['queued', 'running'].includes(run.state)) return;
    await systemClock.sleep(50);
  }
}

const look = { id: 'look', type: 'guidance', text: 'Look at it.' };
const reads = { id: 'read', type: 'load-related-record', relation: 'customer' };
const onMainThread = `const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  const answer = async () =>
    new AjvJsonSchemaValidator().getValidator(check.schema as never)(check.values).errorMessage ?? null;
  const problem = await answer()
`;

export const workflowAttacks: readonly Attack[] = [
  {
    id: 'web-1-pattern-of-a-remote-tool',
    finding: 'web 1',
    title: 'the schema of a remote tool stops the process by its pattern (CWE-1333)',
    place: web,
    on,
    alone: true,
    async attack(target) {
      const remote = await openRemote();
      try {
        remote.amount = z.string().regex(/^(.+)+!$/);
        const attacker = await target.person({ level: 'admin' });
        await target.store.remotes.add({ name: 'till', url: remote.url, signIn: 'none', addedBy: attacker.id });
        const amount = 'a plain text of some forty characters...';
        const step = { id: 'charge', type: 'mcp', server: 'till', tool: 'charge', arguments: { amount } };
        const { call } = await hook(target, attacker, [{ ...step, allowChanges: true }]);
        const honest = await target.person();
        const started: unknown[] = [];
        const felt = await feel(
          target,
          async () => {
            const { status, json } = await call('1');
            started.push(status);
            await ended(target, json.runId);
            started.push((await target.store.runs.find(json.runId))?.failure?.code);
          },
          { honest: listOf(honest, 'orders') },
        );
        return verdict(isHeldUp(felt), { felt, started });
      } finally {
        await remote.stop();
      }
    },
    protection: [
      {
        file: 'src/workflows/remote-mcp/client.ts',
        text: `const problem = await workers
    .use((ask) => ask<string | null>(check), systemClock, { timeoutMs: CHECK_MS })
`,
        into: onMainThread,
      },
    ],
  },
  {
    id: 'web-9-named-host-of-another',
    finding: 'web 9',
    title: 'a remote server makes the server fetch another port of a named host (CWE-918)',
    place: web,
    on,
    async attack(target) {
      const inside = await openInside();
      const metadata = `http://127.0.0.1:${inside.port}/_cluster/health`;
      const server = createServer((_req, res) =>
        res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end(),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const attacker = await target.person({ level: 'admin' });
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
        await target.store.remotes.add({ name: 'far', url, signIn: 'oauth', addedBy: attacker.id });
        const visit = await attacker.visit('/remotes');
        const { status } = await visit.press('connect');
        return verdict(inside.seen() > 0, { connections: inside.seen(), status });
      } finally {
        server.closeAllConnections();
        server.close();
        inside.close();
      }
    },
    protection: [
      {
        file: 'src/server/workflows/remotes.ts',
        text: ' && ownOrigins(server).includes(canonicalOrigin(url))',
        into: '',
      },
    ],
  },
  {
    id: 'web-10-signed-call-with-another-key',
    finding: 'web 10',
    title: 'a signed call that was copied starts a second run under another idempotency key (CWE-294)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person({ level: 'admin' });
      const { id, url, change } = await hook(target, person, [reads]);
      await change({ needsSignature: true });
      const secret = (await target.store.workflows.signingSecret(id, true))!;
      const { secret: token } = await target.store.tokens.create({ userId: person.id, name: 'x', scopes: ['all'] });
      const body = JSON.stringify({ record_id: '1' });
      const at = new Date(systemClock.now());
      const signed = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'webhook-id': 'msg_1',
        'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
        'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
      };
      const first = await tell(url, { method: 'POST', headers: signed, body });
      await ended(target, `${first.json?.runId}`);
      const again = await tell(url, { method: 'POST', headers: { ...signed, 'idempotency-key': 'another' }, body });
      const isSecond = again.status === 202 && again.json.runId !== first.json?.runId;
      return verdict(isSecond, [first.status, first.text, again.status, again.text]);
    },
    protection: [
      {
        file: 'src/api/workflows/webhook.ts',
        text: "  const key = isSigned ? headers['webhook-id'] : headerKey;\n  if (isSigned && headerKey !== undefined && headerKey !== key) {",
        into: "  const key = headerKey ?? headers['webhook-id'];\n  if (hasValidSignature && key === undefined) {",
      },
    ],
  },
  {
    id: 'web-held-forged-webhook-address',
    finding: 'web held',
    title: 'the address of a webhook is made for another workflow (CWE-347)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person({ level: 'admin' });
      const { url, call } = await hook(target, person, [look]);
      const forged = `${url.slice(0, -43)}${'A'.repeat(43)}`;
      const { status, text } = await call('2', {}, forged);
      return verdict(status === 202, `${status} ${text}`);
    },
    protection: [
      {
        file: 'src/workflows/triggers/trigger-address.ts',
        text: 'key === undefined || !timingSafeEqualText(signature, sign(unsigned, key))',
        into: 'key === undefined',
      },
    ],
  },
  {
    id: 'web-held-trigger-without-scope',
    finding: 'web held',
    title: 'a token that may only read starts a run (CWE-863)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person({ level: 'admin' });
      const { url, call } = await hook(target, person, [look]);
      const { secret } = await target.store.tokens.create({ userId: person.id, name: 'r', scopes: ['notes:read'] });
      const { status, text } = await call('3', { authorization: `Bearer ${secret}` }, url);
      return verdict(status === 202, `${status} ${text}`);
    },
    protection: [
      {
        file: 'src/api/workflows/webhook.ts',
        text: "if (!token.scopes.some((scope) => scope === 'workflows:trigger' || scope === 'all')) {",
        into: 'if (false) {',
      },
    ],
  },
  {
    id: 'web-18-private-callback',
    finding: 'web 18',
    title: 'the address that ends of runs are sent to is of the own network (CWE-918)',
    place: web,
    on,
    async attack(target) {
      const { change } = await hook(target, await target.person({ level: 'admin' }), [look]);
      const statuses = [];
      for (const host of ['10.0.0.5', '127.0.0.1', 'localhost', '[::ffff:10.0.0.5]', 'tickets.internal'])
        statuses.push((await change({ callbackUrl: `https://${host}/cb` })).status);
      return verdict(statuses.includes(200), statuses);
    },
    protection: [
      {
        file: 'src/workflows/triggers/trigger.ts',
        text: 'if (!isAllowedHost && !mayBePublic(hostname))',
        into: 'if (false)',
      },
    ],
  },
  {
    id: 'web-17-hidden-request',
    finding: 'web 17',
    title: 'thirty requests of one person hide one of another from who may decide (CWE-770)',
    place: web,
    on,
    async attack(target) {
      const permissions = { '*': all, customers: { ...all, approval: { edit: 'ask-person' } } } as const;
      const [victim, attacker] = [await target.person({ permissions }), await target.person({ permissions })];
      const ask = (person: Person, recordId: number, name: string) =>
        person.call('update', { collectionName: 'customers', recordId, attributes: { name } });
      await ask(victim, 3, 'of the victim');
      for (let n = 0; n < 30; n++) await ask(attacker, 1, `flood ${n}`);
      const visit = await (await target.person()).visit('/approvals');
      const pages = [visit.page.html];
      for (let at = 0; at < 5; at++) {
        const older = /<a href="[^"]*\/approvals(\?[^"]+)" rel="next">/.exec(pages.at(-1)!)?.[1];
        if (!older) break;
        pages.push((await visit.open(`/approvals${older.replaceAll('&amp;', '&')}`)).html);
      }
      return verdict(!pages.join('').includes('Change Cy of customers'), `${pages.length} pages`);
    },
    protection: [
      {
        file: 'src/store/approvals/approvals.ts',
        text: '  return turns.flat();',
        into: '  return rows.map(({ id }) => id);',
      },
      {
        file: 'src/console/pages/approvals/approvals.ts',
        text: '...(next !== undefined && { older:',
        into: '...(next === null && { older:',
      },
    ],
  },
];
